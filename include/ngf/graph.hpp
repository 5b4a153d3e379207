#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ngf/node.hpp"
#include "ngf/progress.hpp"

namespace ngf {

namespace detail {
struct GraphMaker;
}

struct Edge {
  NodeId from;
  NodeId to;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// An immutable graph on the nodes 0..N-1 in compressed sparse row (CSR) format; copies share it.
///
/// Row u holds the nodes that u has an arc to, sorted, each once. An undirected graph holds each
/// edge in both rows. Weights are optional, one double per arc, in the order of the arcs; in an
/// undirected graph both arcs of an edge weigh the same.
class Graph {
 public:
  /// The empty graph.
  Graph() = default;

  /// Takes CSR arrays. Throws Error if they violate the invariants above.
  Graph(std::vector<std::uint64_t> offsets, std::vector<NodeId> targets,
        std::vector<double> weights, bool directed);

  /// Arrays that satisfy the invariants above and are kept alive by `owner`.
  struct Rows {
    std::span<const std::uint64_t> offsets;
    std::span<const NodeId> targets;
    std::span<const double> weights;
    std::uint64_t self_loops = 0;
    bool directed = false;
  };
  Graph(const Rows& rows, std::shared_ptr<const void> owner);

  NodeId nodes() const { return static_cast<NodeId>(offsets_.size() - 1); }
  /// Entries of the rows: an undirected edge counts twice, a self-loop once.
  std::uint64_t arcs() const { return targets_.size(); }
  /// Distinct pairs u != v; with `directed`, distinct arcs u -> v.
  std::uint64_t edges() const { return edges_; }
  std::uint64_t self_loops() const { return self_loops_; }
  bool directed() const { return directed_; }
  bool weighted() const { return !weights_.empty(); }

  std::uint64_t degree(NodeId u) const { return offsets_[u + std::size_t{1}] - offsets_[u]; }
  std::span<const NodeId> neighbors(NodeId u) const {
    return {targets_.data() + offsets_[u], static_cast<std::size_t>(degree(u))};
  }
  /// Weights of the arcs of u, in the order of `neighbors(u)`; empty for an unweighted graph.
  std::span<const double> weights_of(NodeId u) const {
    if (!weighted()) return {};
    return {weights_.data() + offsets_[u], static_cast<std::size_t>(degree(u))};
  }

  std::span<const std::uint64_t> offsets() const { return offsets_; }
  std::span<const NodeId> targets() const { return targets_; }
  std::span<const double> weights() const { return weights_; }

  /// Bytes of the three arrays.
  std::uint64_t bytes() const;

  friend bool operator==(const Graph& a, const Graph& b);

 private:
  friend struct detail::GraphMaker;

  static constexpr std::uint64_t no_rows = 0;

  std::span<const std::uint64_t> offsets_{&no_rows, 1};
  std::span<const NodeId> targets_;
  std::span<const double> weights_;
  std::shared_ptr<const void> owner_;  // of the three
  std::uint64_t edges_ = 0;
  std::uint64_t self_loops_ = 0;
  bool directed_ = false;
};

/// Edges of a file or a generator, in any order, with repetitions. A reader that
/// works in parallel fills several blocks; their order does not matter.
struct EdgeBlock {
  std::vector<Edge> edges;
  std::vector<double> weights;  ///< empty, or one for each edge
};

struct BuildOptions {
  bool directed = false;
  bool keep_self_loops = false;
  /// The edges are entries of a matrix, where u-v and v-u are both expected: only the same entry
  /// again is a duplicate. Otherwise, in an undirected graph, any second listing of a pair is one.
  bool entries_of_matrix = false;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes that the graph may take; 0: what the machine has free
  Progress* progress = nullptr;
};

/// An edge that is listed with two weights.
struct WeightConflict {
  Edge edge;
  double kept;   ///< the largest
  double other;  ///< another one
};

/// Number of entries that were dropped when the graph was built.
struct BuildCounts {
  std::uint64_t self_loops = 0;  ///< entries u-u, dropped or kept
  std::uint64_t duplicates = 0;  ///< entries u-v beyond the first
  /// Entries whose weight differs from the one kept: repeated entries and, in an undirected graph,
  /// entries v-u. The largest weight is kept: the result must not depend on the order of a file.
  std::uint64_t conflicting_weights = 0;
  std::optional<WeightConflict> first_conflict;  ///< of these, the one with the smallest nodes
  /// With `entries_of_matrix`, the first entry u-v of an undirected graph without an entry v-u.
  std::optional<Edge> one_way;
};

/// Builds the graph in parallel. `blocks` is consumed, so that edges and graph need not both be in
/// memory for longer than necessary. Throws Error for a node id of `nodes` or more, or if the graph
/// would exceed the memory budget.
Graph build_graph(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options = {},
                  BuildCounts* counts = nullptr);

/// The same for one list of edges.
Graph build_graph(NodeId nodes, std::span<const Edge> edges, const BuildOptions& options = {});

/// The graph with every arc reversed. An undirected graph is its own transpose.
Graph transpose(const Graph& graph);

/// The undirected graph with an edge u-v if either arc exists; the larger weight is kept.
Graph symmetrize(const Graph& graph);

/// The same arcs seen as a directed graph.
Graph as_directed(Graph graph);

/// The graph on `kept` (strictly increasing), renumbered 0..kept.size()-1 in that order.
Graph induced_subgraph(const Graph& graph, std::span<const NodeId> kept);

/// The graph with node order[i] as number i.
Graph renumber(const Graph& graph, std::span<const NodeId> order);

struct DegreeStatistics {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  double mean = 0;
  double median = 0;
  std::uint64_t isolated = 0;  ///< nodes without a neighbour (for arcs: neither in nor out)
};

/// Degrees without self-loops; of out-arcs when the graph is directed.
DegreeStatistics degree_statistics(const Graph& graph);

}  // namespace ngf
