#pragma once

#include <algorithm>

#include "ngf/error.hpp"

namespace ngf::detail {

/// Bytes that can be taken without harm: what the machine, or the control group that the process
/// lives in, has free.
std::uint64_t available_memory();

/// From here on, a budget covers all heap memory that the process holds, not only what a call takes
/// in addition. The command line calls this when it is given a budget.
void account_for_process();

/// Keeps a part of every budget for work that comes later, until it is destroyed.
class MemoryReserve {
 public:
  explicit MemoryReserve(std::uint64_t bytes);
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();

 private:
  std::uint64_t bytes_;
};

/// Bytes of the heap in use, and those reserved; 0 unless `account_for_process` was called.
std::uint64_t held_memory();

/// The part of `budget` that is not held yet. A budget of 0 stands for what the machine has free.
std::uint64_t memory_left(std::uint64_t budget);

/// The part of `budget` that is not held yet, divided by `parts`, at least 1; 0 for a budget of 0.
std::uint64_t share_of_left(std::uint64_t budget, std::uint64_t parts);

/// The budget under which `needed` more bytes can be taken.
std::uint64_t sufficient_budget(std::uint64_t needed);

/// Throws MemoryExceeded, naming `what`, when `needed` more bytes do not fit into `budget`.
void check_budget(std::uint64_t needed, std::uint64_t budget, std::string_view what);

/// The same for work whose size is not known in advance, after `done` of `total` of it: throws when
/// what is held exceeds the budget.
void check_growth(std::uint64_t done, std::uint64_t total, std::uint64_t budget,
                  std::string_view what);

[[noreturn]] void fail_in_half(std::uint64_t budget, std::uint64_t held, std::uint64_t needed);

/// Returns make(a budget that leaves half of what is not held yet). Where that is not enough, the
/// error asks for a budget that is.
template <typename Make>
auto make_in_half(std::uint64_t budget, const Make& make) {
  if (budget == 0) return make(budget);
  const std::uint64_t held = held_memory();
  try {
    return make(held + std::max<std::uint64_t>(memory_left(budget) / 2, 1));
  } catch (const MemoryExceeded& exceeded) {
    fail_in_half(budget, held, exceeded.needed());
  }
}

/// "1.5 GB": for people.
std::string human_bytes(std::uint64_t bytes);

}  // namespace ngf::detail

namespace ngf {

using detail::check_budget;
using detail::check_growth;
using detail::make_in_half;
using detail::memory_left;
using detail::share_of_left;

}  // namespace ngf
