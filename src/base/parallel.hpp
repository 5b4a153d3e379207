#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

/// Loops on several threads.
///
/// A process-wide pool keeps helper threads. The thread that calls a loop works on it at once; a
/// helper joins when it is awake, and takes pieces that nobody has taken. The caller returns when
/// all pieces are done: it waits for helpers in the middle of a piece, never for one that has not
/// joined. So a helper that the operating system does not schedule, because other programs use the
/// processors, holds nobody up.
namespace ngf::detail {

/// The number of processors that this process may run on.
int processor_count();

/// The number of threads that a request of `threads` means: 0 asks for all processors.
inline int thread_count(int threads) { return threads > 0 ? threads : processor_count(); }

/// Starts the helpers for `threads` threads, which takes them a moment: while a file is read, they
/// find a processor, and the first loop after it has them at once.
void start_helpers(int threads);

/// Calls body(context, thread) on the calling thread, with thread = 0, and on up to `threads` - 1
/// helpers at the same time, each with another one of 1..threads-1. A body has to do all work that
/// is left, since helpers may never come. It must not throw. Inside of another loop, the caller
/// works alone.
void run_with_helpers(std::size_t threads, void (*body)(void* context, std::size_t thread),
                      void* context);

/// On a cache line of its own, since threads count at the same time.
struct alignas(64) Counter {
  std::atomic<std::size_t> value;
};

/// Calls body(i) for i in 0..count-1, on `threads` threads, in no order; or body(i, thread), for
/// bodies that take it, with the number of the thread, 0..threads-1, that makes the call. When
/// bodies throw, the exception of the smallest i that threw is thrown here, so that the first error
/// in a file is the one reported; work not yet begun is dropped.
template <typename Body>
void parallel_for(std::size_t count, int threads, const Body& body) {
  const auto wanted = static_cast<std::size_t>(thread_count(threads));
  const std::size_t workers = std::clamp<std::size_t>(count, 1, wanted);
  const auto call = [&](std::size_t i, std::size_t thread) {
    if constexpr (std::is_invocable_v<Body, std::size_t, std::size_t>) {
      body(i, thread);
    } else {
      body(i);
    }
  };
  if (workers == 1) {
    for (std::size_t i = 0; i < count; ++i) call(i, 0);
    return;
  }
  std::atomic<std::size_t> failed_at{std::numeric_limits<std::size_t>::max()};
  std::exception_ptr failure;
  std::mutex mutex;
  // Each thread begins with a share of its own, the same every time, so that what it wrote is still
  // in its caches; then it helps the others.
  std::vector<Counter> next(workers);
  for (std::size_t s = 0; s < workers; ++s) next[s].value = s * count / workers;
  auto work = [&](std::size_t thread) {
    for (std::size_t shares = 0; shares < workers; ++shares) {
      const std::size_t s = (thread + shares) % workers;
      for (;;) {
        const std::size_t i = next[s].value.fetch_add(1);
        if (i >= (s + 1) * count / workers || i > failed_at.load()) break;
        try {
          call(i, thread);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (i < failed_at.load()) {
            failed_at = i;
            failure = std::current_exception();
          }
        }
      }
    }
  };
  run_with_helpers(
      workers,
      [](void* context, std::size_t thread) { (*static_cast<decltype(work)*>(context))(thread); },
      &work);
  if (failure) std::rethrow_exception(failure);
}

/// Calls body(begin, end) on consecutive ranges that together are 0..count-1: for loops whose
/// single step is too small for `parallel_for`.
template <typename Body>
void parallel_ranges(std::size_t count, int threads, const Body& body) {
  // Many more ranges than threads, since rows of a graph differ in cost; each so long that the
  // overhead per range does not matter.
  constexpr std::size_t smallest = 256;
  const std::size_t wanted = static_cast<std::size_t>(thread_count(threads)) * 64;
  const std::size_t step = std::max(smallest, (count + wanted - 1) / wanted);
  parallel_for((count + step - 1) / step, threads,
               [&](std::size_t i) { body(i * step, std::min(count, (i + 1) * step)); });
}

}  // namespace ngf::detail

namespace ngf {

using detail::parallel_for;
using detail::parallel_ranges;
using detail::thread_count;

}  // namespace ngf
