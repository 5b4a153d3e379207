#pragma once

#include <algorithm>

#include "ngf/filter.hpp"

namespace ngf::filter {

/// What shell k, 0..hops, is multiplied by: it stands for
/// scale[k] diag(left[k]) A_k diag(right[k]). An empty vector stands for ones.
template <typename Real>
struct ShellFactors {
  std::vector<Real> scale;  ///< where it is 0, the shell does not count at all
  std::vector<std::vector<Real>> left;
  std::vector<std::vector<Real>> right;

  explicit ShellFactors(std::size_t count) : scale(count, Real{1}), left(count), right(count) {}

  /// The same for shell k alone: the others do not count.
  ShellFactors only(std::size_t k) const {
    ShellFactors result = *this;
    std::fill(result.scale.begin(), result.scale.end(), Real{0});
    result.scale[k] = scale[k];
    return result;
  }

  /// Whether any shell has factors of rows, or of columns.
  bool by_row() const { return any(left); }
  bool by_column() const { return any(right); }

  /// The factor of row u of shell k.
  Real of_row(std::size_t k, NodeId u) const {
    return left[k].empty() ? scale[k] : scale[k] * left[k][u];
  }

 private:
  static bool any(const std::vector<std::vector<Real>>& sides) {
    return std::any_of(sides.begin(), sides.end(), [](const auto& side) { return !side.empty(); });
  }
};

/// Pointers to the factors of each hop; null where they are all 1.
template <typename Real>
std::vector<const Real*> pointers(const std::vector<std::vector<Real>>& factors) {
  std::vector<const Real*> result;
  result.reserve(factors.size());
  for (const auto& of_hop : factors) result.push_back(of_hop.empty() ? nullptr : of_hop.data());
  return result;
}

template <typename Real>
const Real* row(const SignalsView<Real>& x, std::size_t u) {
  return x.data() + u * static_cast<std::size_t>(x.outerStride());
}

}  // namespace ngf::filter
