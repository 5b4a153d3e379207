#pragma once

#include "base/fail.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// Throws Error unless the signals have a row for each node.
template <typename Real>
void check_signals(const SignalsView<Real>& x, NodeId nodes) {
  if (x.rows() != static_cast<Eigen::Index>(nodes)) {
    detail::fail("signals of {} rows on a graph of {} nodes", x.rows(), nodes);
  }
}

/// The same, and that there is room for the result.
template <typename Real>
void check_signals(const SignalsView<Real>& x, const SignalsSlice<Real>& y, NodeId nodes) {
  check_signals<Real>(x, nodes);
  if (y.rows() != x.rows() || y.cols() != x.cols()) {
    detail::fail("signals are {} x {}, what becomes of them {} x {}", x.rows(), x.cols(), y.rows(),
                 y.cols());
  }
}

/// Throws Error unless the gradient by the output has the shape of the signals.
template <typename Real>
void check_gradients(const SignalsView<Real>& x, const SignalsView<Real>& by_output, NodeId nodes) {
  check_signals<Real>(x, nodes);
  check_signals<Real>(by_output, nodes);
  if (x.cols() != by_output.cols()) {
    detail::fail("gradients of {} columns for signals of {}", by_output.cols(), x.cols());
  }
}

/// The same, and that there is room for the gradient by the input.
template <typename Real>
void check_gradients(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                     const SignalsSlice<Real>& by_input, NodeId nodes) {
  check_gradients<Real>(x, by_output, nodes);
  check_signals<Real>(x, by_input, nodes);
}

/// Throws Error unless there are taps, and each node has its own.
inline void check_taps(const Taps& taps, NodeId nodes) {
  if (taps.count() == 0) detail::fail("a filter needs at least one tap");
  if (taps.node_variant() && taps.group_of().size() != nodes) {
    detail::fail("taps for {} nodes on a graph of {}", taps.group_of().size(), nodes);
  }
}

}  // namespace ngf::filter
