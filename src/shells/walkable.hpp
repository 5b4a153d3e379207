#pragma once

#include "ngf/graph.hpp"

namespace ngf::shells {

/// A graph made ready for the bit-parallel walk.
///
/// Of an undirected graph, three kinds of nodes need not walk:
///
///   - trees that hang on the rest by one node, their root r: for x in such a tree and any y that
///   is
///     not behind x, d(x, y) = d(r, y) + depth(x). Half of a citation network goes this way;
///   - all but one of several twins, which have the same neighbours and so the same distances;
///   - islands, which are components that are small trees.
///
/// Where that does not tell a distance (within a branch of a tree, among twins, on an island), it
/// is patched in. What stays is renumbered so that neighbours lie close to each other in memory, if
/// they can.
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
  std::vector<NodeId> root;             ///< where it is, or hangs, in the walk; nobody on islands
  std::vector<std::uint8_t> depth;      ///< hops to its root
  std::vector<NodeId> parent;           ///< the next node on the way there; itself at depth 0
  std::vector<std::uint8_t> twin_hops;  ///< to its twins; 0 where it has none
  std::uint32_t deepest = 0;
  /// The nodes that x has to be patched with are those of the same branch, itself among them: the
  /// last node before the root on the way there names it, one of the twins, or the island's root.
  std::vector<NodeId> branch;
  std::vector<std::uint64_t> branch_offsets;  ///< row b of `branch_members`: those of branch b
  std::vector<NodeId> branch_members;         ///< who needs no patch is not among them

  /// Whether neighbours lie anywhere: no numbering that was tried puts them close together.
  bool scattered = false;

  /// No pair in one component is farther apart; and at least one pair is at least this far.
  std::uint32_t diameter_at_most = 0;
  std::uint32_t diameter_at_least = 0;

  NodeId size() const { return static_cast<NodeId>(component.size()); }
  const std::vector<std::uint64_t>& push_row_offsets() const {
    return push_offsets.empty() ? pull_offsets : push_offsets;
  }
  const std::vector<NodeId>& push_rows() const { return push_offsets.empty() ? pull : push; }
  std::span<const NodeId> members_of(NodeId v) const {
    return {members.data() + member_offsets[v], members.data() + member_offsets[v + 1UL]};
  }
  std::span<const NodeId> islanders() const { return members_of(size()); }
  std::span<const NodeId> branch_of(NodeId x) const {
    const NodeId b = branch[x];
    return {branch_members.data() + branch_offsets[b],
            branch_members.data() + branch_offsets[b + 1UL]};
  }
};

struct Reduction {
  bool trees = false;  ///< and islands
  bool twins = false;  ///< merged, which keeps distances, but not the number of paths
};

Walkable make_walkable(const Graph& graph, const Reduction& reduction);

/// Sources in groups of at most `width` that lie close together, so that they reach any node within
/// few levels of each other. Where there are islands, the last group is empty, and theirs.
std::vector<std::vector<NodeId>> group_sources(const Walkable& graph, std::size_t width);

/// Hops from x to y, which are in the same branch.
std::uint32_t hops_in_branch(const Walkable& graph, NodeId x, NodeId y);

}  // namespace ngf::shells
