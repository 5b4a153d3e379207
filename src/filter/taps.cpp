
#include "base/fail.hpp"
#include "ngf/filter.hpp"

namespace ngf {

Taps::Taps(std::size_t count, std::vector<double> values, std::vector<std::uint32_t> group)
    : count_(count), values_(std::move(values)), group_(std::move(group)) {
  if (count == 0 || values_.empty() || values_.size() % count != 0) {
    fail("{} numbers are no taps of {} hops for each group", values_.size(), count);
  }
  const std::size_t groups = values_.size() / count;
  for (std::size_t u = 0; u < group_.size(); ++u) {
    if (group_[u] >= groups) fail("node {} is in group {}, but there are {}", u, group_[u], groups);
  }
}

std::string_view shift_name(Shift shift) {
  constexpr std::array<std::string_view, 5> names{"adjacency", "adjacency-lmax", "laplacian",
                                                  "normalized-laplacian", "gcn"};
  return names[static_cast<std::size_t>(shift)];
}

std::string_view normalization_name(Normalization normalization) {
  constexpr std::array<std::string_view, 4> names{"none", "lmax", "symmetric", "row"};
  return names[static_cast<std::size_t>(normalization)];
}

std::string_view merging_name(Merging merging) {
  constexpr std::array<std::string_view, 3> names{"auto", "never", "always"};
  return names[static_cast<std::size_t>(merging)];
}

}  // namespace ngf
