#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "filter/paired_lists.hpp"
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

/// Pointers to the factors that there are, by hop; null stands for ones.
template <typename Real>
std::vector<const Real*> pointers(const std::vector<std::vector<Real>>& factors) {
  std::vector<const Real*> result;
  result.reserve(factors.size());
  for (const auto& of_hop : factors) result.push_back(of_hop.empty() ? nullptr : of_hop.data());
  return result;
}

/// How shells that are lists are gone through, so that what is read of the signals is still in the
/// caches.
struct ListLayout {
  /// Where rows have few columns: all nodes, in an order in which rows that follow each other have
  /// columns in common. Otherwise nothing.
  std::vector<NodeId> order;
  /// Other rows, two by two, where there is memory for them and hops are few.
  std::variant<std::monostate, PairedLists<std::uint16_t>, PairedLists<std::uint32_t>> pairs;

  explicit ListLayout(const Shells& shells, int threads);
};

/// Shells that are held, or a graph to find them in again and again.
struct ShellSource {
  const Shells& held;
  const Shells& turned;  ///< of the transposed graph; the same when undirected
  const ListLayout& layout;
  const Graph& graph;  ///< used where nothing is held
  const ShellOptions& options;
};

/// Row u of signals.
template <typename Real>
const Real* row(const SignalsView<Real>& x, std::size_t u) {
  return x.data() + u * static_cast<std::size_t>(x.outerStride());
}

/// Y = sum over k of the shells, with their factors, times X. X has all rows, Y those that there
/// are of the shells; factors are of all nodes.
template <typename Real>
void multiply_to(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, SignalsSlice<Real> y);

/// For each node u and shell k with its factors, <g_u, (shell X)_u>: row u, column k. G and what is
/// returned have the rows that there are of the shells. `product`, where given, also gets the
/// product of the shells with the factors `of_product`, which differ from the others at most in
/// `scale` and `left`.
template <typename Real>
Matrix correlate(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, const SignalsView<Real>& g,
                 const ShellFactors<Real>* of_product, SignalsSlice<Real>* product, bool totals);

}  // namespace ngf::filter
