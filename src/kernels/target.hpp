#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Which instruction set the kernels run on. Each kernel is compiled once for every set that the
/// compiler knows; the best one that the processor has is chosen when the program runs.
namespace ngf::kernels {

/// Those that this processor has, best first: "avx3_dl", "avx3", "avx2", ..., "scalar".
std::vector<std::string> available_targets();

/// The one in use.
std::string current_target();

/// Uses the one named, from now on and on all threads. Throws Error, listing the available ones,
/// when there is none of that name. Not to be called while kernels run.
void use_target(std::string_view name);

}  // namespace ngf::kernels
