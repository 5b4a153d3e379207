#pragma once

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "filter/shell_factors.hpp"
#include "shells/twins.hpp"

/// Signals of classes of twins, from those of nodes and back. Matrices of results may have some
/// rows alone; nodes and classes keep their numbers.
namespace ngf::filter {

/// Rows of signals, one behind the other or apart, the first of them that of node or class `begin`.
template <typename Real>
struct NumberedRows {
  Real* first;
  std::size_t stride;
  std::size_t columns;
  NodeId begin;

  template <typename Signals>
  explicit NumberedRows(Signals& of, NodeId begin_at = 0)
      : first(of.data()),
        stride(static_cast<std::size_t>(of.outerStride())),
        columns(static_cast<std::size_t>(of.cols())),
        begin(begin_at) {}

  Real* operator[](std::size_t u) const { return first + (u - begin) * stride; }
};

/// One or more rows of signals, side by side, for each node or class.
template <typename Real>
class SignalRows {
 public:
  SignalRows(std::size_t rows, Eigen::Index columns, Eigen::Index side_by_side = 1)
      : rows_(static_cast<Eigen::Index>(rows)),
        columns_(columns),
        stride_(columns * side_by_side),
        values_(static_cast<std::size_t>(rows_ * stride_)) {}

  SignalsSlice<Real> signals(Eigen::Index place = 0) {
    using Slice = Eigen::Map<SignalsOf<Real>, 0, Eigen::OuterStride<>>;
    return Slice(values_.data() + place * columns_, rows_, columns_, Eigen::OuterStride<>(stride_));
  }
  Real* data() { return values_.data(); }

 private:
  Eigen::Index rows_;
  Eigen::Index columns_;
  Eigen::Index stride_;
  BriefVector<Real> values_;
};

/// Calls body(class) for each class, in parallel.
template <typename Body>
void for_each_class(const RowRange& classes, int threads, const Body& body) {
  parallel_ranges(classes.count(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) body(classes.begin + static_cast<NodeId>(c));
  });
}

/// Row c of the sums: the signals of class c, added up.
template <typename Real>
void add_up(const Twins& twins, NodeId c, const NumberedRows<const Real>& x,
            const NumberedRows<Real>& sums) {
  Real* const to = sums[c];
  std::copy_n(x[twins.first(c)], x.columns, to);
  for (const NodeId u : twins.of_class(c).subspan(1)) {
    const Real* const from = x[u];
    for (std::size_t f = 0; f < x.columns; ++f) to[f] += from[f];
  }
}

/// The factors of the classes, without shell 0: only a node by itself is at hop 0 of it.
template <typename Real>
ShellFactors<Real> of_classes(const Twins& twins, const ShellFactors<Real>& factors) {
  ShellFactors<Real> result = factors;
  for (auto* const sides : {&result.left, &result.right}) {
    for (std::vector<Real>& side : *sides) {
      if (side.empty()) continue;
      for (NodeId c = 0; c < twins.classes(); ++c) side[c] = side[twins.first(c)];
      side.resize(twins.classes());
    }
  }
  result.scale[0] = 0;
  return result;
}

/// The factor of a pair of node u and itself or a twin, `hops` apart.
template <typename Real>
Real factor_at(const ShellFactors<Real>& factors, std::uint32_t hops, NodeId u) {
  if (hops >= factors.scale.size()) return 0;
  const Real of_row = factors.of_row(hops, u);
  return factors.right[hops].empty() ? of_row : of_row * factors.right[hops][u];
}

/// The products of the nodes of class c from that of the class: what a node has from itself and its
/// twins is added.
template <typename Real>
void spread(const Twins& twins, NodeId c, const ShellFactors<Real>& factors,
            const NumberedRows<const Real>& x, const NumberedRows<const Real>& sums,
            const NumberedRows<Real>& products, const NumberedRows<Real>& y) {
  const Real own = factor_at(factors, 0, twins.first(c));
  const bool alone = twins.of_class(c).size() == 1;
  const Real of_twins = alone ? Real{0} : factor_at(factors, twins.apart[c], twins.first(c));
  for (const NodeId u : twins.of_class(c)) {
    const Real *const x_u = x[u], *const sum = sums[c], *const product = products[c];
    Real* const y_u = y[u];
    if (of_twins == Real{0}) {
      for (std::size_t f = 0; f < x.columns; ++f) y_u[f] = product[f] + own * x_u[f];
    } else {
      for (std::size_t f = 0; f < x.columns; ++f) {
        y_u[f] = product[f] + own * x_u[f] + of_twins * (sum[f] - x_u[f]);
      }
    }
  }
}

template <typename Real>
double dot(const Real* a, const Real* b, std::size_t count) {
  using Column = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const auto length = static_cast<Eigen::Index>(count);
  return static_cast<double>(Column(a, length).dot(Column(b, length)));
}

/// Adds to the dots of class c, where shell 0 does not count, what nodes have from themselves and
/// their twins.
template <typename Real>
void add_own(const Twins& twins, NodeId c, const ShellFactors<Real>& factors,
             const NumberedRows<const Real>& x, const NumberedRows<const Real>& g,
             const NumberedRows<const Real>& sums, const NumberedRows<const Real>& sums_of_g,
             double* dots) {
  double own = 0;
  for (const NodeId u : twins.of_class(c)) own += dot(g[u], x[u], x.columns);
  dots[0] = own * static_cast<double>(factor_at(factors, 0, twins.first(c)));
  const std::uint32_t apart = twins.apart[c];
  // A node without twins has nothing from them.
  if (apart >= factors.scale.size() || twins.of_class(c).size() == 1) return;
  const double all = dot(sums_of_g[c], sums[c], x.columns);
  dots[apart] += (all - own) * static_cast<double>(factor_at(factors, apart, twins.first(c)));
}

}  // namespace ngf::filter
