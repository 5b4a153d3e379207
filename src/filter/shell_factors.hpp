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

/// Multiplies the factors of H without taps by the taps; or those of the transpose of H.
template <typename Real>
void multiply_by_taps(const Taps& taps, NodeId nodes, bool transposed,
                      ShellFactors<Real>& factors) {
  for (std::size_t k = 0; k < taps.count(); ++k) {
    if (!taps.node_variant()) {
      factors.scale[k] *= static_cast<Real>(taps(0, k));
      continue;
    }
    // The taps are on the side of the output of H.
    auto& side = transposed ? factors.right[k] : factors.left[k];
    side.resize(nodes, Real{1});
    for (NodeId u = 0; u < nodes; ++u) side[u] *= static_cast<Real>(taps(u, k));
  }
}

/// Sums of dots, of which each row has one per hop, laid out as Taps::values(). node_of(row) is a
/// node with the taps of the row. In the order of the rows, on any number of threads.
template <typename NodeOf>
std::vector<double> sum_by_group(const Taps& taps, const Matrix& dots, const NodeOf& node_of) {
  const std::size_t count = taps.count();
  std::vector<double> by_taps(taps.values().size(), 0);
  for (Eigen::Index row = 0; row < dots.rows(); ++row) {
    double* const of_group = by_taps.data() + taps.group(node_of(static_cast<NodeId>(row))) * count;
    const double* const of_row = dots.row(row).data();
    for (std::size_t k = 0; k < count; ++k) of_group[k] += of_row[k];
  }
  return by_taps;
}

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
