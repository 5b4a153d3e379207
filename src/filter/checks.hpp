#pragma once

#include "detail/fail.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// Throws Error unless the signals have a row for each node.
template <typename Real>
void check_signals(const SignalsOf<Real>& x, NodeId nodes) {
  if (x.rows() != static_cast<Eigen::Index>(nodes)) {
    detail::fail("signals of {} rows on a graph of {} nodes", x.rows(), nodes);
  }
}

/// Throws Error unless there are taps, and each node has its own.
inline void check_taps(const Taps& taps, NodeId nodes) {
  if (taps.count() == 0) detail::fail("a filter needs at least one tap");
  if (taps.node_variant() && taps.group_of().size() != nodes) {
    detail::fail("taps for {} nodes on a graph of {}", taps.group_of().size(), nodes);
  }
}

}  // namespace ngf::filter
