#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <vector>

namespace ngf::detail {

/// The number of threads that a request of `threads` means: 0 asks for all processors.
inline int thread_count(int threads) { return threads > 0 ? threads : omp_get_num_procs(); }

/// On a line of its own, since threads count at the same time.
struct alignas(64) Counter {
  std::atomic<std::size_t> value;
};

/// Calls body(i) for i in 0..count-1, on `threads` threads, in no order. When bodies throw, the
/// exception of the smallest i that threw is thrown here, so that the first error in a file is the
/// one reported; work not yet begun is dropped.
template <typename Body>
void parallel_for(std::size_t count, int threads, const Body& body) {
  std::atomic<std::size_t> failed_at{std::numeric_limits<std::size_t>::max()};
  std::exception_ptr failure;
  std::mutex mutex;
  // No thread without work: waking one costs more than most small jobs.
  const auto wanted = static_cast<std::size_t>(thread_count(threads));
  const std::size_t team = std::clamp<std::size_t>(count, 1, wanted);
  // Each thread begins with a share of its own, the same every time, so that what it wrote is still
  // in its caches; then it helps the others.
  std::vector<Counter> next(team);
  for (std::size_t s = 0; s < team; ++s) next[s].value = s * count / team;
  const int members = static_cast<int>(team);
#pragma omp parallel num_threads(members) default(shared) if (members > 1)
  for (std::size_t shares = 0; shares < team; ++shares) {
    const std::size_t s = (static_cast<std::size_t>(omp_get_thread_num()) + shares) % team;
    for (;;) {
      const std::size_t i = next[s].value.fetch_add(1);
      if (i >= (s + 1) * count / team || i > failed_at.load()) break;
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_at.load()) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls body(begin, end) on consecutive ranges that together are 0..count-1: for loops whose
/// single step is too small for `parallel_for`.
template <typename Body>
void parallel_ranges(std::size_t count, int threads, const Body& body) {
  // Many more ranges than threads, since rows of a graph differ in cost; not so many that their
  // overhead shows.
  constexpr std::size_t smallest = 256;
  const std::size_t wanted = static_cast<std::size_t>(thread_count(threads)) * 64;
  const std::size_t step = std::max(smallest, (count + wanted - 1) / wanted);
  parallel_for((count + step - 1) / step, threads,
               [&](std::size_t i) { body(i * step, std::min(count, (i + 1) * step)); });
}

}  // namespace ngf::detail
