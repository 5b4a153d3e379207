#pragma once

#include "base/aligned.hpp"
#include "ngf/graph.hpp"

namespace ngf::shells {

/// One thread's searches, one source after another, up to a few hops: its time follows what it
/// finds.
class QueueWalk {
 public:
  QueueWalk(const Graph& graph, std::uint32_t hops, int min_paths);

  /// Searches from `source`. pairs[hop] grows by the nodes found there, those on too few paths
  /// included. Returns the number of arcs that it looked at.
  std::uint64_t count(NodeId source, std::vector<double>& pairs);

  /// Searches from `source` and writes, hop by hop from 1 on, the nodes that count, increasing, to
  /// columns[begin] and so on, which grows where it has to; ends[hop - 1] becomes where they end,
  /// counted from `begin`. Returns where the row ends.
  template <typename Column>
  std::size_t write_row(NodeId source, std::size_t begin, AlignedVector<Column>& columns,
                        std::uint32_t* ends);

 private:
  /// What a search does at an arc.
  enum class Arcs {
    branch,     ///< it asks whether the node is new: in a lattice, the branch is easy to predict
    no_branch,  ///< it does the same in either case
    count,      ///< it counts paths
  };

  /// Calls on_level(hop, nodes) for each hop from 1 on that has any nodes.
  template <Arcs arcs, typename OnLevel>
  void search(NodeId source, const OnLevel& on_level);
  template <typename OnLevel>
  void search_as_suits(NodeId source, const OnLevel& on_level);
  /// Moves the nodes that are on enough paths to the front, and returns them.
  std::span<NodeId> on_enough_paths(std::span<NodeId> nodes) const;
  template <typename Column>
  void sort_into(std::uint32_t hop, std::span<NodeId> nodes, Column* to);
  template <typename Column>
  void sort_by_bits(std::span<const NodeId> nodes, Column* to);

  const Graph& graph_;
  std::uint32_t hops_;
  int min_paths_;
  Arcs arcs_;
  AlignedVector<NodeId> queue_;
  std::vector<std::uint32_t> mark_;  // the stamp of the search, or its level, that reached a node
  std::vector<std::uint8_t> paths_;  // shortest paths, saturating at 3
  std::vector<std::uint64_t> bits_;  // scratch for sorting
  std::uint32_t stamp_ = 0;
};

}  // namespace ngf::shells
