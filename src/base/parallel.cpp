#include "base/parallel.hpp"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>

namespace ngf::detail {

namespace {

/// How often a helper without work looks for more before it sleeps, some 20 to 40 ns each. Few, so
/// that a core is soon free for other programs; enough for the steps between two loops of training.
constexpr int idle_looks = 4000;
/// How often a caller looks whether helpers have finished before it sleeps. It sleeps soon, since
/// its core is then free for a helper that another program has displaced.
constexpr int finish_looks = 500;
/// Loops that helpers can serve at the same time, each called by another thread of the program. A
/// caller beyond them works alone.
constexpr std::size_t most_loops = 8;
constexpr std::size_t most_threads = 256;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

struct Loop {
  std::size_t threads;
  void (*body)(void* context, std::size_t thread);
  void* context;
  std::uint64_t ticket;  // differs from that of every other loop
};

/// Where a caller shows its loop to the helpers.
///
/// A helper first announces itself, then reads the loop; the caller first sets the loop to null,
/// then waits until no helper is announced. So the caller waits for every helper that has read the
/// loop.
struct alignas(64) Slot {
  std::atomic<bool> taken{false};
  std::atomic<const Loop*> loop{nullptr};
  std::atomic<std::uint32_t> announced{0};
};

/// Whether a helper sleeps: 1 or 0, which is what it waits for.
struct alignas(64) Sleep {
  std::atomic<std::uint32_t> value{0};
};

thread_local bool inside_loop = false;

void work_on(const Loop& loop, std::size_t thread) {
  inside_loop = true;
  loop.body(loop.context, thread);
  inside_loop = false;
}

/// The helper threads of this process, numbered from 1.
class Pool {
 public:
  void run(std::size_t threads, void (*body)(void*, std::size_t), void* context) {
    Slot* const slot = take_slot();
    if (slot == nullptr) return work_on({threads, body, context, 0}, 0);
    const std::size_t helpers = start(threads - 1);
    const Loop loop{threads, body, context, ++tickets_};
    slot->loop = &loop;
    ++shown_;
    for (std::size_t number = 1; number <= helpers; ++number) wake(number);
    work_on(loop, 0);
    slot->loop = nullptr;
    for (int look = 0; slot->announced > 0 && look < finish_looks; ++look) pause();
    for (std::uint32_t left = slot->announced; left > 0; left = slot->announced) {
      slot->announced.wait(left);
    }
    slot->taken = false;
  }

  /// Returns how many of the wanted helpers there are: all, but for a machine out of threads.
  std::size_t start(std::size_t wanted) {
    if (helpers_ >= wanted) return wanted;
    const std::lock_guard lock(starting_);
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; helpers_ < wanted; ++helpers_) {
        std::thread([this, number = helpers_ + 1] { help(number); }).detach();
      }
    } catch (const std::system_error&) {
      // The others do its work.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::min<std::size_t>(helpers_, wanted);
  }

 private:
  Slot* take_slot() {
    for (Slot& slot : slots_) {
      if (!slot.taken.exchange(true)) return &slot;
    }
    return nullptr;
  }

  void wake(std::size_t number) {
    std::atomic<std::uint32_t>& sleeps = sleeps_[number].value;
    if (sleeps.load() == 1 && sleeps.exchange(0) == 1) sleeps.notify_one();
  }

  /// The life of a helper.
  [[noreturn]] void help(std::size_t number) {
    std::array<std::uint64_t, most_loops> joined{};
    // The first request of a thread sets its share of the heap up, while others would wait for it.
    ::operator delete(::operator new(1));
    for (;;) {
      const std::uint32_t seen = shown_;
      for (std::size_t s = 0; s < most_loops; ++s) join(slots_[s], number, joined[s]);
      wait_for_more(number, seen);
    }
  }

  /// Works on the loop in a slot if it has room for this helper and is not the last one joined.
  static void join(Slot& slot, std::size_t number, std::uint64_t& joined) {
    if (slot.loop.load() == nullptr) return;
    ++slot.announced;
    const Loop* const loop = slot.loop;
    if (loop != nullptr && number < loop->threads && loop->ticket != joined) {
      joined = loop->ticket;
      work_on(*loop, number);
    }
    if (--slot.announced == 0) slot.announced.notify_all();
  }

  /// Returns when a loop has been shown since `seen` was read.
  void wait_for_more(std::size_t number, std::uint32_t seen) {
    for (int look = 0; look < idle_looks; ++look) {
      if (shown_ != seen) return;
      pause();
    }
    std::atomic<std::uint32_t>& sleeps = sleeps_[number].value;
    sleeps = 1;
    // A caller that shows a loop from here on sees that this helper sleeps.
    if (shown_ == seen) sleeps.wait(1);
    sleeps = 0;
  }

  std::array<Slot, most_loops> slots_;
  std::array<Sleep, most_threads> sleeps_;
  alignas(64) std::atomic<std::uint32_t> shown_{0};  // counts the loops shown
  std::atomic<std::uint64_t> tickets_{0};
  std::atomic<std::size_t> helpers_{0};
  std::mutex starting_;
};

/// Made at the first loop, and never destroyed: helpers live as long as the process.
std::atomic<Pool*> pool{nullptr};

/// A forked child has none of its parent's helpers: it forgets the pool and makes its own.
[[maybe_unused]] const int forgotten_by_children =
    pthread_atfork(nullptr, nullptr, [] { pool = nullptr; });

Pool& the_pool() {
  if (Pool* const made = pool) return *made;
  auto own = std::make_unique<Pool>();
  Pool* others = nullptr;
  if (pool.compare_exchange_strong(others, own.get())) return *own.release();
  return *others;
}

}  // namespace

int processor_count() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void start_helpers(int threads) {
  const auto wanted = static_cast<std::size_t>(thread_count(threads));
  if (wanted > 1) the_pool().start(std::min(wanted, most_threads) - 1);
}

void run_with_helpers(std::size_t threads, void (*body)(void* context, std::size_t thread),
                      void* context) {
  if (threads <= 1 || inside_loop) return body(context, 0);
  the_pool().run(std::min(threads, most_threads), body, context);
}

}  // namespace ngf::detail
