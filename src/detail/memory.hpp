#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ngf::detail {

/// Bytes that can be taken without harm: what the machine, or the control group that the process
/// lives in, has free.
std::uint64_t available_memory();

/// Throws Error, naming `what`, when `needed` bytes pass `budget` (0: what the machine has free).
void check_budget(std::uint64_t needed, std::uint64_t budget, std::string_view what);

/// "1.5 GB": for people.
std::string human_bytes(std::uint64_t bytes);

}  // namespace ngf::detail
