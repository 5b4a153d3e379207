#include "detail/memory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>

#include "detail/fail.hpp"

namespace ngf::detail {

namespace {

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

void check_budget(std::uint64_t needed, std::uint64_t budget, std::string_view what) {
  const std::uint64_t limit = budget > 0 ? budget : available_memory();
  if (needed <= limit) return;
  throw MemoryExceeded(fmt::format("{} needs {} of memory, but {}", what, human_bytes(needed),
                                   budget > 0 ? fmt::format("the budget is {}; give --memory {}",
                                                            human_bytes(budget), needed)
                                              : fmt::format("only {} is free", human_bytes(limit))),
                       needed);
}

void fail_in_half(std::uint64_t budget, std::uint64_t needed) {
  throw MemoryExceeded(
      fmt::format("the filter needs {} of memory, and may take half of {}; give --memory {}",
                  human_bytes(needed), human_bytes(budget), 2 * needed),
      2 * needed);
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
