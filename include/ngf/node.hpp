#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ngf {

/// The number of a node: 0..N-1.
using NodeId = std::uint32_t;

/// The rows begin..end-1 of a graph's matrices; by default all.
struct RowRange {
  NodeId begin = 0;
  NodeId end = std::numeric_limits<NodeId>::max();

  NodeId count() const { return end - begin; }
  bool contains(NodeId u) const { return begin <= u && u < end; }
  /// Those that a graph with this number of nodes has.
  RowRange within(NodeId nodes) const {
    const NodeId last = std::min(end, nodes);
    return {std::min(begin, last), last};
  }
};

}  // namespace ngf
