#pragma once

#include "base/fail.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// Throws Error unless the signals have a row for each node.
template <typename Real>
void check_signals(const SignalsView<Real>& x, NodeId nodes) {
  if (x.rows() != static_cast<Eigen::Index>(nodes)) {
    fail("signals of {} rows on a graph of {} nodes", x.rows(), nodes);
  }
}

/// The same, and that there is room for these rows of the result.
template <typename Real>
void check_signals(const SignalsView<Real>& x, const SignalsSlice<Real>& y, NodeId nodes,
                   const RowRange& rows) {
  check_signals<Real>(x, nodes);
  if (y.rows() != static_cast<Eigen::Index>(rows.count()) || y.cols() != x.cols()) {
    fail("signals of {} columns on {} nodes become {} x {}; the room for them is {} x {}", x.cols(),
         nodes, rows.count(), x.cols(), y.rows(), y.cols());
  }
}

/// Throws Error unless signals and results have these rows alone.
template <typename Real>
void check_own_signals(const SignalsView<Real>& x, const SignalsSlice<Real>& y,
                       const RowRange& rows) {
  check_signals<Real>(x, y, rows.count(), rows);
}

/// Throws Error unless taps can take X to Y.
inline void check_pairs(const Matrix& x, const Matrix& y, NodeId rows) {
  check_signals<double>(x, rows);
  check_signals<double>(y, rows);
  if (x.cols() != y.cols()) {
    fail("signals of {} columns cannot become signals of {}", x.cols(), y.cols());
  }
}

/// Throws Error unless the gradient by the output has the shape of the signals, and there is room
/// for these rows of the gradient by the input. Signals may have these rows alone.
template <typename Real>
void check_gradients(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                     const SignalsSlice<Real>& by_input, NodeId nodes, const RowRange& rows) {
  if (x.rows() != static_cast<Eigen::Index>(rows.count())) check_signals<Real>(x, nodes);
  check_signals<Real>(by_output, by_input, nodes, rows);
  if (x.cols() != by_output.cols()) {
    fail("gradients of {} columns for signals of {}", by_output.cols(), x.cols());
  }
}

/// Throws Error unless there are taps, and each node has its own.
inline void check_taps(const Taps& taps, NodeId nodes) {
  if (taps.count() == 0) fail("a filter needs at least one tap");
  if (taps.node_variant() && taps.group_of().size() != nodes) {
    fail("taps for {} nodes on a graph of {}", taps.group_of().size(), nodes);
  }
}

}  // namespace ngf::filter

/// The functions of a filter for float or double.
#define NGF_INSTANTIATE_FILTER(Filter, Real)                                                       \
  template SignalsOf<Real> Filter::apply(const SignalsOf<Real>&, Progress*) const;                 \
  template SignalsOf<Real> Filter::apply_transpose(const SignalsOf<Real>&, Progress*) const;       \
  template void Filter::apply_to(const SignalsView<Real>&, SignalsSlice<Real>, Progress*) const;   \
  template void Filter::apply_transpose_to(const SignalsView<Real>&, SignalsSlice<Real>,           \
                                           Progress*) const;                                       \
  template FilterGradients<Real> Filter::gradients(const SignalsOf<Real>&, const SignalsOf<Real>&, \
                                                   Progress*) const;                               \
  template std::vector<double> Filter::gradients_to(                                               \
      const SignalsView<Real>&, const SignalsView<Real>&, SignalsSlice<Real>, Progress*) const;

/// What every filter makes of its functions that write to existing columns, and all of them for
/// float and double.
#define NGF_DEFINE_FILTER(Filter)                                                               \
  template <typename Real>                                                                      \
  SignalsOf<Real> Filter::apply(const SignalsOf<Real>& x, Progress* progress) const {           \
    SignalsOf<Real> y(rows().count(), x.cols());                                                \
    apply_to<Real>(x, y, progress);                                                             \
    return y;                                                                                   \
  }                                                                                             \
  template <typename Real>                                                                      \
  SignalsOf<Real> Filter::apply_transpose(const SignalsOf<Real>& x, Progress* progress) const { \
    SignalsOf<Real> y(rows().count(), x.cols());                                                \
    apply_transpose_to<Real>(x, y, progress);                                                   \
    return y;                                                                                   \
  }                                                                                             \
  template <typename Real>                                                                      \
  FilterGradients<Real> Filter::gradients(                                                      \
      const SignalsOf<Real>& x, const SignalsOf<Real>& by_output, Progress* progress) const {   \
    FilterGradients<Real> result;                                                               \
    result.input.resize(rows().count(), x.cols());                                              \
    result.taps = gradients_to<Real>(x, by_output, result.input, progress);                     \
    return result;                                                                              \
  }                                                                                             \
  NGF_INSTANTIATE_FILTER(Filter, float)                                                         \
  NGF_INSTANTIATE_FILTER(Filter, double)
