#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ngf/error.hpp"

namespace ngf::detail {

/// Bytes that can be taken without harm: what the machine, or the control group that the process
/// lives in, has free.
std::uint64_t available_memory();

/// Throws Error, naming `what`, when `needed` bytes pass `budget` (0: what the machine has free).
void check_budget(std::uint64_t needed, std::uint64_t budget, std::string_view what);

[[noreturn]] void fail_in_half(std::uint64_t budget, std::uint64_t needed);

/// What make(half of the budget) returns. Where half is not enough, the error asks for twice as
/// much.
template <typename Make>
auto make_in_half(std::uint64_t budget, const Make& make) {
  try {
    return make(budget / 2);
  } catch (const MemoryExceeded& exceeded) {
    if (budget == 0) throw;
    fail_in_half(budget, exceeded.needed());
  }
}

/// "1.5 GB": for people.
std::string human_bytes(std::uint64_t bytes);

}  // namespace ngf::detail
