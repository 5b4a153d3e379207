#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "detail/aligned.hpp"
#include "ngf/graph.hpp"

namespace ngf::shells {

/// One thread's searches, one source after another, up to a few hops: its time follows what it
/// finds.
class QueueWalk {
 public:
  QueueWalk(const Graph& graph, std::uint32_t hops, int min_paths)
      : graph_(graph),
        hops_(hops),
        min_paths_(min_paths),
        queue_(graph.nodes()),
        mark_(graph.nodes(), 0) {
    if (min_paths > 1) paths_.resize(graph.nodes());
  }

  /// Searches from `source`. Afterwards `found()` lists what was found, hop by hop.
  void walk(NodeId source);

  /// The nodes at `hop`, in no order; those on too few paths included.
  std::span<const NodeId> found(std::uint32_t hop) const {
    if (hop + std::size_t{1} >= begin_.size()) return {};
    return {queue_.data() + begin_[hop], begin_[hop + std::size_t{1}] - begin_[hop]};
  }
  std::uint32_t levels() const { return static_cast<std::uint32_t>(begin_.size()) - 2; }
  std::uint64_t arcs_seen() const { return arcs_seen_; }
  bool counts(NodeId v, std::uint32_t hop) const {
    return min_paths_ == 1 || hop < 2 || paths_[v] >= min_paths_;
  }

  /// Appends the nodes at `hop` that count, increasing.
  template <typename Column>
  void append_sorted(std::uint32_t hop, std::vector<Column>& columns);

 private:
  template <bool counting>
  void walk_on(NodeId source);
  template <typename Column>
  void sort_columns(std::span<Column> columns);

  const Graph& graph_;
  std::uint32_t hops_;
  int min_paths_;
  detail::AlignedVector<NodeId> queue_;
  std::vector<std::size_t> begin_;   // where each hop begins in the queue, and its end
  std::vector<std::uint32_t> mark_;  // the stamp of the search, or its level, that reached a node
  std::vector<std::uint8_t> paths_;  // shortest paths, saturating at 3
  std::vector<std::uint64_t> bits_;  // scratch for sorting
  std::uint32_t stamp_ = 0;
  std::uint64_t arcs_seen_ = 0;
};

}  // namespace ngf::shells
