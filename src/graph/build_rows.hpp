#pragma once

#include "ngf/generate.hpp"

namespace ngf {

/// The weight of the arc at `index` in row u.
inline double weight_at(const Graph& graph, NodeId u, std::size_t index) {
  return graph.weighted() ? graph.weights_of(u)[index] : 1;
}

inline std::uint64_t count_edges(const std::vector<EdgeBlock>& blocks) {
  std::uint64_t total = 0;
  for (const EdgeBlock& block : blocks) total += block.edges.size();
  return total;
}

}  // namespace ngf

namespace ngf::detail {

/// Compressed sparse rows that are, or will be, those of a graph.
struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<NodeId> targets;
  std::vector<double> weights;  ///< empty, or one for each target
};

/// Sorts the arcs of the edges into rows, each arc once. `dropped` counts self-loops of the edges,
/// kept or not, and what was dropped as arcs: for an undirected graph that is twice the edges.
/// Throws Error for a node id of `nodes` or more, or when the rows would pass the memory budget.
Rows build_rows(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options,
                BuildCounts& dropped);

/// Writes the distinct ids of row[0..length) to `into`, which is apart from it, in increasing
/// order, and returns how many they are. The row itself is left in no order.
std::size_t sort_distinct(NodeId* row, std::size_t length, NodeId* into);

/// The number of nodes as a NodeId. Throws Error when there are too many, or when the graph with
/// about `edges` edges does not fit into memory.
NodeId checked_nodes(std::uint64_t nodes, double edges, const GenerateOptions& options);

}  // namespace ngf::detail
