#pragma once

#include <cstdint>
#include <vector>

#include "ngf/graph.hpp"

namespace ngf::shells {

/// A graph made ready for the bit-parallel walk.
///
/// Of an undirected graph, trees that hang on the rest by one node are cut off: for x in such a
/// tree, whose root r stays, and any y that is not behind x, d(x, y) = d(r, y) + depth(x). Half of
/// the nodes of a citation network go this way. What stays is renumbered so that neighbours lie
/// close to each other in memory.
struct Walkable {
  // The nodes that stay, by their numbers in the walk. Rows are padded, as the kernels want them,
  // with the number behind the last: nobody.
  std::vector<std::uint64_t> pull_offsets;  ///< who has an arc to v
  std::vector<NodeId> pull;
  std::vector<std::uint64_t> push_offsets;  ///< whom v has an arc to; empty when the same
  std::vector<NodeId> push;
  std::vector<NodeId> component;  ///< of v; a directed graph counts as one
  NodeId components = 0;
  std::vector<std::uint64_t> member_offsets;  ///< row v of `members`: the nodes whose root is v
  std::vector<NodeId> members;

  // All nodes, by their numbers in the graph.
  std::vector<NodeId> root;         ///< where it is, or hangs, in the walk
  std::vector<std::uint8_t> depth;  ///< hops to its root
  std::vector<NodeId> parent;       ///< the next node on the way there; itself at depth 0
  std::uint32_t deepest = 0;
  std::vector<NodeId>
      branch;  ///< the last node before the root on the way there; itself at depth 0
  std::vector<std::uint64_t> branch_offsets;  ///< row b of `branch_members`: those of branch b
  std::vector<NodeId> branch_members;         ///< cut nodes alone

  /// No pair in one component is farther apart; and at least one pair is at least this far.
  std::uint32_t diameter_at_most = 0;
  std::uint32_t diameter_at_least = 0;

  NodeId size() const { return static_cast<NodeId>(component.size()); }
  const std::vector<std::uint64_t>& push_row_offsets() const {
    return push_offsets.empty() ? pull_offsets : push_offsets;
  }
  const std::vector<NodeId>& push_rows() const { return push_offsets.empty() ? pull : push; }
};

/// `cut_trees` may be false where the walk wants every node.
Walkable make_walkable(const Graph& graph, bool cut_trees);

/// Sources in groups of at most `width` that lie close together, so that they reach any node within
/// few levels of each other.
std::vector<std::vector<NodeId>> group_sources(const Walkable& graph, std::size_t width);

/// Hops from x to y, which hang in the same branch of a tree.
std::uint32_t hops_in_branch(const Walkable& graph, NodeId x, NodeId y);

}  // namespace ngf::shells
