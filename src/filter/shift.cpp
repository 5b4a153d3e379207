// The matrix S of a polynomial filter, with its values.

#include <cmath>

#include "filter/checks.hpp"
#include "filter/scales.hpp"
#include "filter/shift_products.hpp"
#include "graph/build_rows.hpp"

namespace ngf {

namespace {

/// The entries of a shift, from the weights of the graph.
class ShiftEntries {
 public:
  ShiftEntries(const Graph& graph, Shift shift) : shift_(shift), degree_(graph.nodes(), 0) {
    for (NodeId u = 0; u < graph.nodes(); ++u) {
      for (std::size_t i = 0; i < graph.degree(u); ++i) degree_[u] += weight_at(graph, u, i);
    }
  }

  /// Whether every node has an entry on the diagonal.
  bool has_diagonal() const {
    return shift_ != Shift::adjacency && shift_ != Shift::adjacency_lmax;
  }
  /// At (u, v), where the edge weighs `a`.
  double operator()(NodeId u, NodeId v, double a) const {
    const bool own = u == v;
    if (shift_ == Shift::laplacian) return (own ? degree_[u] : 0) - a;
    if (shift_ == Shift::normalized_laplacian) {
      return (own && degree_[u] > 0 ? 1 : 0) - a * inverse_root(u, 0) * inverse_root(v, 0);
    }
    return shift_ == Shift::gcn ? (a + (own ? 1 : 0)) * inverse_root(u, 1) * inverse_root(v, 1) : a;
  }

 private:
  double inverse_root(NodeId u, double loop) const {
    const double d = degree_[u] + loop;
    return d > 0 ? 1 / std::sqrt(d) : 0.0;
  }

  Shift shift_;
  std::vector<double> degree_;
};

/// Calls add(v, value) for the entries of row u, increasing, and the diagonal among them.
template <typename Add>
void for_each_entry(const Graph& graph, const ShiftEntries& entries, NodeId u, const Add& add) {
  const auto row = graph.neighbors(u);
  bool own_seen = !entries.has_diagonal();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!own_seen && row[i] >= u) {
      own_seen = true;
      if (row[i] > u) add(u, entries(u, u, 0));
    }
    add(row[i], entries(u, row[i], weight_at(graph, u, i)));
  }
  if (!own_seen) add(u, entries(u, u, 0));
}

}  // namespace

std::uint64_t ShiftOperator::bytes() const {
  std::uint64_t bytes = 0;
  for (const Rows* const rows : {&forward_, &back_}) {
    bytes += rows->offsets.size() * sizeof(std::uint64_t) +
             rows->columns.size() * (sizeof(NodeId) + sizeof(double) + sizeof(float));
  }
  return bytes;
}

ShiftOperator::ShiftOperator(const Graph& graph, Shift shift, int threads, const RowRange& rows,
                             Progress* progress)
    : nodes_(graph.nodes()),
      range_{0, graph.nodes()},
      threads_(threads),
      symmetric_(!graph.directed()) {
  const ShiftEntries entries(graph, shift);
  if (graph.directed() && entries.has_diagonal()) {
    fail(
        "a directed graph has no shift '{}'; take adjacency or adjacency-lmax, or drop "
        "directions",
        shift_name(shift));
  }
  forward_.offsets.assign(1, 0);
  for (NodeId u = 0; u < nodes_; ++u) {
    for_each_entry(graph, entries, u, [&](NodeId v, double value) {
      forward_.columns.push_back(v);
      forward_.values.push_back(value);
    });
    forward_.offsets.push_back(forward_.columns.size());
  }
  if (graph.directed()) {
    const Graph back = transpose(graph);
    back_.offsets.assign(back.offsets().begin(), back.offsets().end());
    back_.columns.assign(back.targets().begin(), back.targets().end());
    back_.values.assign(back.weights().begin(), back.weights().end());
    back_.values.resize(back_.columns.size(), 1);
  }
  // Weights below 0 may make the smallest eigenvalue the largest in size.
  if (shift == Shift::adjacency_lmax) {
    const bool negative = std::ranges::any_of(graph.weights(), [](double w) { return w < 0; });
    divide_by_largest(negative, progress);
  }
  range_ = rows.within(nodes_);
  for (Rows* const own : {&forward_, &back_}) {
    if (range_.count() < nodes_) keep(range_, *own);
    own->singles.assign(own->values.begin(), own->values.end());
  }
}

/// Other rows are dropped.
void ShiftOperator::keep(const RowRange& range, Rows& rows) {
  if (rows.offsets.empty()) return;
  const std::uint64_t begin = rows.offsets[range.begin];
  const std::uint64_t end = rows.offsets[range.end];
  Rows kept;
  for (NodeId u = range.begin; u <= range.end; ++u) kept.offsets.push_back(rows.offsets[u] - begin);
  const auto of_rows = [&](const auto& all) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  kept.columns = of_rows(rows.columns);
  kept.values = of_rows(rows.values);
  rows = std::move(kept);
}

void ShiftOperator::divide_by_largest(bool negative, Progress* progress) {
  const LargestValue largest =
      filter::largest_of(nodes(), symmetric_ && !negative, [&](bool transposed, const Matrix& x) {
        Matrix y = Matrix::Zero(nodes(), x.cols());
        add_to<double>(transposed, x, y, progress);
        return y;
      });
  if (largest.value == 0) return;
  for (double& value : forward_.values) value /= largest.value;
  for (double& value : back_.values) value /= largest.value;
}

template <typename Real>
ValuedRows<Real> ShiftOperator::values(bool transposed) const {
  const Rows& own = transposed && !symmetric_ ? back_ : forward_;
  if constexpr (std::is_same_v<Real, float>) {
    return {own.offsets, own.columns, own.singles};
  } else {
    return {own.offsets, own.columns, own.values};
  }
}

template <typename Real>
void ShiftOperator::add_to(bool transposed, const SignalsView<Real>& x, SignalsSlice<Real> y,
                           Progress* progress) const {
  filter::sum_all_rows<Real>(
      values<Real>(transposed), Real{1}, x, y, [](std::size_t) { return Real{1}; }, y, threads_,
      progress);
}

template <typename Real>
SignalsOf<Real> ShiftOperator::apply(const SignalsOf<Real>& x) const {
  filter::check_signals<Real>(x, nodes());
  SignalsOf<Real> y = SignalsOf<Real>::Zero(range_.count(), x.cols());
  add_to<Real>(false, x, y);
  return y;
}

template <typename Real>
SignalsOf<Real> ShiftOperator::apply_transpose(const SignalsOf<Real>& x) const {
  filter::check_signals<Real>(x, nodes());
  SignalsOf<Real> y = SignalsOf<Real>::Zero(range_.count(), x.cols());
  add_to<Real>(true, x, y);
  return y;
}

#define NGF_INSTANTIATE(Real)                                                             \
  template ValuedRows<Real> ShiftOperator::values(bool) const;                            \
  template void ShiftOperator::add_to(bool, const SignalsView<Real>&, SignalsSlice<Real>, \
                                      Progress*) const;                                   \
  template SignalsOf<Real> ShiftOperator::apply(const SignalsOf<Real>&) const;            \
  template SignalsOf<Real> ShiftOperator::apply_transpose(const SignalsOf<Real>&) const;
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf
