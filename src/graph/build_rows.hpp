#pragma once

#include <cstdint>
#include <vector>

#include "ngf/graph.hpp"

namespace ngf::detail {

/// Compressed sparse rows that are, or will be, those of a graph.
struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<NodeId> targets;
  std::vector<double> weights;  ///< empty, or one for each target
};

/// Edges in all blocks.
inline std::uint64_t count_edges(const std::vector<EdgeBlock>& blocks) {
  std::uint64_t total = 0;
  for (const EdgeBlock& block : blocks) total += block.edges.size();
  return total;
}

/// Sorts the arcs of the edges into rows, each arc once. `dropped` counts self-loops of the edges,
/// kept or not, and what was dropped as arcs: for an undirected graph that is twice the edges.
/// Throws Error for a node id of `nodes` or more, or when the rows would pass the memory budget.
Rows build_rows(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options,
                BuildCounts& dropped);

/// Writes the distinct ids of row[0..length) to `into`, which is apart from it, in increasing
/// order, and returns how many they are. The row itself is left in no order.
std::size_t sort_distinct(NodeId* row, std::size_t length, NodeId* into);

}  // namespace ngf::detail
