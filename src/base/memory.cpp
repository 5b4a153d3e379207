#include "base/memory.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <mutex>

#include "base/fail.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ngf::detail {

namespace {

std::atomic<bool> accounting{false};
std::atomic<std::uint64_t> reserved{0};

/// The number that a one-line file of /sys holds; the largest of all when it holds none ("max").
std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::uint64_t kilobytes = 0;
  std::string unit;
  while (file >> key >> kilobytes >> unit) {
    if (key == "MemAvailable:") return kilobytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

std::uint64_t free_in_control_group() {
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == std::numeric_limits<std::uint64_t>::max()) return limit;
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  return used < limit ? limit - used : 0;
}

/// Asks for a budget of `enough` bytes.
[[noreturn]] void refuse(const std::string& problem, std::uint64_t enough) {
  throw MemoryExceeded(problem, enough, {"give {}", {{"memory", enough}}});
}

}  // namespace

std::uint64_t available_memory() {
  // To ask takes longer than to work on a small graph, so the answer is kept for a moment.
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds moment{100};
  static std::mutex mutex;
  static Clock::time_point asked;
  static std::uint64_t answer = 0;
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (answer == 0 || now - asked > moment) {
    answer = std::min(free_in_machine(), free_in_control_group());
    asked = now;
  }
  return answer;
}

void account_for_process() {
  accounting = true;
#ifdef __GLIBC__
  // What is freed goes back to the system at once, and does not stay as free parts of the heap.
  constexpr int large = 1 << 18;
  ::mallopt(M_MMAP_THRESHOLD, large);
  ::mallopt(M_TRIM_THRESHOLD, large);
#endif
}

MemoryReserve::MemoryReserve(std::uint64_t bytes) : bytes_(bytes) { reserved += bytes; }

MemoryReserve::~MemoryReserve() { reserved -= bytes_; }

std::uint64_t held_memory() {
#ifdef __GLIBC__
  if (accounting) {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd + reserved;
  }
#endif
  return 0;
}

std::uint64_t memory_left(std::uint64_t budget) {
  const std::uint64_t all = budget > 0 ? budget : available_memory();
  const std::uint64_t held = budget > 0 ? held_memory() : reserved.load();
  return held < all ? all - held : 0;
}

std::uint64_t share_of_left(std::uint64_t budget, std::uint64_t parts) {
  return budget > 0 ? std::max<std::uint64_t>(memory_left(budget) / parts, 1) : 0;
}

std::uint64_t sufficient_budget(std::uint64_t needed) {
  // The process holds small things too, which nobody asks for; and what follows may need more.
  return accounting ? held_memory() + needed + needed / 2 : needed;
}

void check_budget(std::uint64_t needed, std::uint64_t budget, std::string_view what) {
  const std::uint64_t left = memory_left(budget);
  if (needed <= left) return;
  if (budget == 0) {
    throw MemoryExceeded(fmt::format("{} needs {} of memory, but only {} is free", what,
                                     human_bytes(needed), human_bytes(left)),
                         needed);
  }
  const std::uint64_t enough = sufficient_budget(needed);
  refuse(fmt::format("{} needs {} of memory, but {} of the budget of {} is left", what,
                     human_bytes(needed), human_bytes(left), human_bytes(budget)),
         enough);
}

void check_growth(std::uint64_t done, std::uint64_t total, std::uint64_t budget,
                  std::string_view what) {
  const std::uint64_t held = held_memory();
  if (budget == 0 || held <= budget) return;
  // What is read becomes a graph, and both are held for a while.
  constexpr double until_a_graph = 3;
  const double share = static_cast<double>(done) / static_cast<double>(std::max(total, done));
  const auto enough = static_cast<std::uint64_t>(until_a_graph * static_cast<double>(held) / share);
  refuse(fmt::format("{}: the first {:.0f} % take {} of memory, and the budget is {}", what,
                     100 * share, human_bytes(held), human_bytes(budget)),
         enough);
}

void fail_in_half(std::uint64_t budget, std::uint64_t held, std::uint64_t needed) {
  const std::uint64_t more = needed - std::min(needed, held);
  const std::uint64_t enough = held + 2 * more;
  refuse(fmt::format("the filter needs {} of memory, and may take half of what is left of {}",
                     human_bytes(more), human_bytes(budget)),
         enough);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.3g} {}", value, units[unit]);
}

}  // namespace ngf::detail
