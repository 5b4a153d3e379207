#include "kernels/target.hpp"

// All sets that some kernel has; the others take the next best of theirs.
#define HWY_WANT_AVX3_DL
#include <hwy/targets.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "base/fail.hpp"

namespace ngf::kernels {

namespace {

std::string name_of(std::int64_t target) {
  if (target == HWY_EMU128 || target == HWY_SCALAR) return "scalar";
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Lower bits stand for better sets.
std::vector<std::pair<std::string, std::int64_t>> named_targets() {
  std::vector<std::pair<std::string, std::int64_t>> result;
  for (std::int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    result.emplace_back(name_of(target), target);
  }
  return result;
}

std::string forced;

}  // namespace

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (const auto& [name, target] : named_targets()) names.push_back(name);
  return names;
}

std::string current_target() { return forced.empty() ? available_targets().front() : forced; }

void use_target(std::string_view name) {
  for (const auto& [known, target] : named_targets()) {
    if (known != name) continue;
    // And all that come after it, for kernels that are not compiled for it.
    hwy::GetChosenTarget().Update(hwy::SupportedTargets() & ~(target - 1));
    forced = known;
    return;
  }
  detail::fail("no instruction set '{}' here; there are: {}", name,
               fmt::join(available_targets(), ", "));
}

}  // namespace ngf::kernels
