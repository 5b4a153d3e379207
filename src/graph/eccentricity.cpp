// Radius and diameter by bounds instead of by all pairs (Takes and Kosters, "Computing the
// eccentricity distribution of large graphs", Algorithms 2013; with the first steps of SumSweep,
// Borassi et al., "Fast diameter and radius BFS-based computation", 2015).
//
// Write e(w) for the eccentricity of w. A search from v tells, for every w at once,
//
//   max( d(w,v), e(v) - d(v,w) )  <=  e(w)  <=  d(w,v) + e(v).
//
// The diameter is known when no upper bound passes the largest e found, the radius when no lower
// bound is below the smallest e found. A node on the rim (large upper bound) is probed in turn with
// one in the middle (small lower bound): the first raise the diameter, the second lower the bounds
// of all. On a road network of 10^5 nodes this takes a handful of searches.

#include "ngf/eccentricity.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/fail.hpp"
#include "graph/costs.hpp"

namespace ngf {

namespace {

constexpr std::uint32_t unreached = std::numeric_limits<std::uint32_t>::max();

/// One breadth-first search after another on the same graph.
class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), hops_(graph.nodes()) {
    queue_.reserve(graph.nodes());
  }

  /// Finds the hops from `source` to every node, and returns the largest.
  std::uint32_t run(NodeId source) {
    std::fill(hops_.begin(), hops_.end(), unreached);
    queue_.assign(1, source);
    hops_[source] = 0;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::uint32_t next = hops_[queue_[i]] + 1;
      for (const NodeId v : graph_.neighbors(queue_[i])) {
        if (hops_[v] != unreached) continue;
        hops_[v] = next;
        queue_.push_back(v);
      }
    }
    if (queue_.size() < hops_.size()) {
      fail("radius and diameter need a connected graph: node {} reaches {} of {} nodes", source,
           queue_.size(), hops_.size());
    }
    return hops_[queue_.back()];
  }

  const std::vector<std::uint32_t>& hops() const { return hops_; }

 private:
  const Graph& graph_;
  std::vector<std::uint32_t> hops_;
  std::vector<NodeId> queue_;
};

/// What is known of every node's eccentricity.
class Bounds {
 public:
  explicit Bounds(const Graph& graph)
      : back_graph_(transpose(graph)),
        from_(graph),
        to_(back_graph_),
        directed_(graph.directed()),
        lower_(graph.nodes(), 0),
        upper_(graph.nodes(), unreached),
        distance_sum_(graph.nodes(), 0),
        probed_(graph.nodes(), false) {}

  void probe(NodeId v) {
    const std::uint32_t e = from_.run(v);
    // d(w,v) for all w: the search along reversed arcs, which is the same if undirected.
    const std::uint32_t longest_to = directed_ ? to_.run(v) : e;
    const auto& to = directed_ ? to_.hops() : from_.hops();
    const auto& from = from_.hops();
    extent_.bfs += directed_ ? 2 : 1;
    extent_.diameter = std::max({extent_.diameter, e, longest_to});
    extent_.radius = std::min(extent_.radius, e);
    probed_[v] = true;
    for (std::size_t w = 0; w < lower_.size(); ++w) {
      lower_[w] = std::max({lower_[w], to[w], e - from[w]});
      upper_[w] = std::min(upper_[w], to[w] + e);
      distance_sum_[w] += to[w];
    }
    lower_[v] = upper_[v] = e;
  }

  bool open(std::size_t w) const {
    return upper_[w] > extent_.diameter || lower_[w] < extent_.radius;
  }
  std::uint64_t count_open() const {
    std::uint64_t count = 0;
    for (std::size_t w = 0; w < lower_.size(); ++w) count += open(w) ? 1 : 0;
    return count;
  }

  /// The node not yet probed that lies farthest from those that are.
  NodeId farthest() const {
    return best([&](std::size_t w) { return !probed_[w]; },
                [&](std::size_t w) { return distance_sum_[w]; });
  }
  NodeId on_the_rim() const {
    return best([&](std::size_t w) { return open(w); },
                [&](std::size_t w) { return std::pair(upper_[w], distance_sum_[w]); });
  }
  NodeId in_the_middle() const {
    // Complements, since the smallest numbers are the best.
    return best([&](std::size_t w) { return open(w); },
                [&](std::size_t w) { return std::pair(~lower_[w], ~distance_sum_[w]); });
  }

  const Extent& extent() const { return extent_; }

 private:
  /// The first node with the largest value among the eligible ones, of which there is at least one.
  template <typename Eligible, typename Value>
  NodeId best(const Eligible& eligible, const Value& value) const {
    std::size_t found = lower_.size();
    for (std::size_t w = 0; w < lower_.size(); ++w) {
      if (eligible(w) && (found == lower_.size() || value(w) > value(found))) found = w;
    }
    return static_cast<NodeId>(found);
  }

  Graph back_graph_;
  Search from_;
  Search to_;
  bool directed_;
  std::vector<std::uint32_t> lower_;
  std::vector<std::uint32_t> upper_;
  std::vector<std::uint64_t> distance_sum_;
  std::vector<bool> probed_;
  Extent extent_{.radius = unreached, .diameter = 0, .bfs = 0};
};

}  // namespace

Extent measure_extent(const Graph& graph, Progress* progress) {
  if (graph.nodes() == 0) return {};
  Bounds bounds(graph);
  NodeId hub = 0;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    if (graph.degree(u) > graph.degree(hub)) hub = u;
  }
  bounds.probe(hub);
  for (int step = 1; step <= graph::costs::first_probes && bounds.count_open() > 0; ++step) {
    bounds.probe(bounds.farthest());
  }
  bool rim = true;
  for (std::uint64_t open = bounds.count_open(); open > 0; open = bounds.count_open()) {
    throw_if_stopped(progress);
    if (progress != nullptr) progress->report(graph.nodes() - open, graph.nodes());
    bounds.probe(rim ? bounds.on_the_rim() : bounds.in_the_middle());
    rim = !rim;
  }
  return bounds.extent();
}

}  // namespace ngf
