#include "ngf/graph.hpp"

#include <numeric>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "graph/build_rows.hpp"

namespace ngf {

namespace detail {

/// Makes graphs of rows that are known to keep the promises, without looking again.
struct GraphMaker {
  static Graph make(Rows rows, bool directed, std::uint64_t self_loops) {
    const auto kept = std::make_shared<const Rows>(std::move(rows));
    return {{kept->offsets, kept->targets, kept->weights, self_loops, directed}, kept};
  }

  static Graph make(Rows rows, bool directed) {
    std::uint64_t self_loops = 0;
    for (std::size_t u = 0; u + 1 < rows.offsets.size(); ++u) {
      const NodeId* const row = rows.targets.data();
      self_loops += std::binary_search(row + rows.offsets[u], row + rows.offsets[u + 1],
                                       static_cast<NodeId>(u))
                        ? 1
                        : 0;
    }
    return make(std::move(rows), directed, self_loops);
  }

  static Graph with_direction(Graph graph, bool directed) {
    graph.directed_ = directed;
    graph.edges_ = (graph.arcs() - graph.self_loops_) / (directed ? 1 : 2);
    return graph;
  }
};

}  // namespace detail

namespace {

using detail::build_rows;
using detail::GraphMaker;
using detail::Rows;

/// The weight of the arc u -> v, or null when there is none. `unit` stands in where the graph has
/// no weights.
const double* find_arc(const Graph& graph, NodeId u, NodeId v) {
  static constexpr double unit = 1;
  const auto row = graph.neighbors(u);
  const auto found = std::lower_bound(row.begin(), row.end(), v);
  if (found == row.end() || *found != v) return nullptr;
  return graph.weighted() ? &graph.weights_of(u)[static_cast<std::size_t>(found - row.begin())]
                          : &unit;
}

struct RowWriter {
  explicit RowWriter(bool weights) : weighted(weights) { rows.offsets.push_back(0); }

  void add(NodeId v, double weight) {
    rows.targets.push_back(v);
    if (weighted) rows.weights.push_back(weight);
  }
  void end_row() { rows.offsets.push_back(rows.targets.size()); }

  Rows rows;
  bool weighted;
};

bool precedes(const Edge& a, const Edge& b) {
  return a.from != b.from ? a.from < b.from : a.to < b.to;
}

/// Where the entries u-v and v-u of a matrix differ.
struct Asymmetry {
  std::optional<Edge> one_way;             ///< the first entry without its mirror image
  std::optional<WeightConflict> conflict;  ///< the first pair of two weights
  std::uint64_t conflicts = 0;             ///< pairs of two weights

  bool none() const { return !one_way && !conflict; }

  void add(const Asymmetry& other) {
    if (other.one_way && (!one_way || precedes(*other.one_way, *one_way))) one_way = other.one_way;
    if (other.conflict && (!conflict || precedes(other.conflict->edge, conflict->edge))) {
      conflict = other.conflict;
    }
    conflicts += other.conflicts;
  }
};

Asymmetry asymmetry_of(const Graph& graph, NodeId begin, NodeId end) {
  Asymmetry found;
  for (NodeId u = begin; u < end; ++u) {
    const auto row = graph.neighbors(u);
    const auto weights = graph.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const NodeId v = row[i];
      const double* const back = find_arc(graph, v, u);
      if (back == nullptr) {
        if (!found.one_way) found.one_way = Edge{u, v};
      } else if (graph.weighted() && u < v && *back != weights[i]) {
        const auto [smallest, largest] = std::minmax(*back, weights[i]);
        if (!found.conflict) found.conflict = {{u, v}, largest, smallest};
        ++found.conflicts;
      }
    }
  }
  return found;
}

Asymmetry asymmetry_of(const Graph& graph, int threads) {
  Asymmetry all;
  std::mutex mutex;
  parallel_ranges(graph.nodes(), threads, [&](std::size_t begin, std::size_t end) {
    const Asymmetry own = asymmetry_of(graph, static_cast<NodeId>(begin), static_cast<NodeId>(end));
    const std::lock_guard lock(mutex);
    all.add(own);
  });
  return all;
}

/// The undirected graph of a matrix's entries.
Graph from_matrix(NodeId nodes, std::vector<EdgeBlock> blocks, BuildOptions options,
                  BuildCounts& counts) {
  options.directed = true;
  Graph graph = build_graph(nodes, std::move(blocks), options, &counts);
  const Asymmetry asymmetry = asymmetry_of(graph, options.threads);
  counts.one_way = asymmetry.one_way;
  counts.conflicting_weights += asymmetry.conflicts;
  if (!counts.first_conflict) counts.first_conflict = asymmetry.conflict;
  if (asymmetry.none()) return GraphMaker::with_direction(std::move(graph), false);
  // The transpose, and rows that grow to at most twice as many arcs.
  check_budget(4 * graph.bytes(), options.memory, "making the matrix symmetric");
  return symmetrize(graph);
}

}  // namespace

Graph::Graph(std::vector<std::uint64_t> offsets, std::vector<NodeId> targets,
             std::vector<double> weights, bool directed) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != targets.size()) {
    fail("row offsets must run from 0 to the number of arcs, {}", targets.size());
  }
  if (!weights.empty() && weights.size() != targets.size()) {
    fail("{} weights for {} arcs", weights.size(), targets.size());
  }
  const std::size_t nodes = offsets.size() - 1;
  if (nodes > std::numeric_limits<NodeId>::max()) fail("{} nodes are more than 2^32 - 1", nodes);
  for (std::size_t u = 0; u < nodes; ++u) {
    if (offsets[u + 1] < offsets[u] || offsets[u + 1] > targets.size()) {
      fail("row offsets fall after row {}", u);
    }
    for (std::uint64_t i = offsets[u]; i < offsets[u + 1]; ++i) {
      if (targets[i] >= nodes) fail("row {} names node {} of {}", u, targets[i], nodes);
      if (i > offsets[u] && targets[i - 1] >= targets[i]) fail("row {} is not sorted", u);
    }
  }
  Graph made = GraphMaker::make({std::move(offsets), std::move(targets), std::move(weights)}, true);
  if (!directed) {
    if (!asymmetry_of(made, 1).none())
      fail("an undirected graph needs each edge in both of its rows");
    made = GraphMaker::with_direction(std::move(made), false);
  }
  *this = std::move(made);
}

Graph::Graph(const Rows& rows, std::shared_ptr<const void> owner)
    : offsets_(rows.offsets),
      targets_(rows.targets),
      weights_(rows.weights),
      owner_(std::move(owner)),
      edges_((rows.targets.size() - rows.self_loops) / (rows.directed ? 1 : 2)),
      self_loops_(rows.self_loops),
      directed_(rows.directed) {}

bool operator==(const Graph& a, const Graph& b) {
  return a.directed_ == b.directed_ && std::ranges::equal(a.offsets_, b.offsets_) &&
         std::ranges::equal(a.targets_, b.targets_) && std::ranges::equal(a.weights_, b.weights_);
}

std::uint64_t Graph::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + targets_.size() * sizeof(NodeId) +
         weights_.size() * sizeof(double);
}

Graph build_graph(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options,
                  BuildCounts* counts) {
  if (options.entries_of_matrix && !options.directed) {
    BuildCounts unused;
    return from_matrix(nodes, std::move(blocks), options, counts != nullptr ? *counts : unused);
  }
  BuildCounts dropped;
  Rows rows = build_rows(nodes, std::move(blocks), options, dropped);
  Graph graph = options.keep_self_loops ? GraphMaker::make(std::move(rows), options.directed)
                                        : GraphMaker::make(std::move(rows), options.directed, 0);
  if (counts != nullptr) {
    // Repeated self-loops are entries u-u, not second listings of an edge.
    const std::uint64_t repeated_loops =
        options.keep_self_loops ? dropped.self_loops - graph.self_loops() : 0;
    const std::uint64_t listings = options.directed ? 1 : 2;
    counts->self_loops = dropped.self_loops;
    counts->duplicates = (dropped.duplicates - repeated_loops) / listings;
    counts->conflicting_weights = dropped.conflicting_weights / listings;
    counts->first_conflict = dropped.first_conflict;
  }
  return graph;
}

Graph build_graph(NodeId nodes, std::span<const Edge> edges, const BuildOptions& options) {
  std::vector<EdgeBlock> blocks(1);
  blocks.front().edges.assign(edges.begin(), edges.end());
  return build_graph(nodes, std::move(blocks), options);
}

Graph transpose(const Graph& graph) {
  if (!graph.directed()) return graph;
  const NodeId nodes = graph.nodes();
  std::vector<std::uint64_t> offsets(std::size_t{nodes} + 1, 0);
  for (const NodeId v : graph.targets()) ++offsets[v + std::size_t{1}];
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<NodeId> targets(graph.arcs());
  std::vector<double> weights(graph.weights().size());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  // Rows are visited in order, so what falls into a new row falls in order.
  for (NodeId u = 0; u < nodes; ++u) {
    const auto row = graph.neighbors(u);
    const auto row_weights = graph.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::uint64_t place = next[row[i]]++;
      targets[place] = u;
      if (graph.weighted()) weights[place] = row_weights[i];
    }
  }
  return GraphMaker::make({std::move(offsets), std::move(targets), std::move(weights)}, true);
}

Graph symmetrize(const Graph& graph) {
  if (!graph.directed()) return graph;
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  const Graph back = transpose(graph);
  const NodeId nodes = graph.nodes();
  RowWriter writer(graph.weighted());
  writer.rows.offsets.reserve(std::size_t{nodes} + 1);
  for (NodeId u = 0; u < nodes; ++u) {
    const auto a = graph.neighbors(u);
    const auto b = back.neighbors(u);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
      const bool take_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
      const bool take_b = i == a.size() || (j < b.size() && b[j] <= a[i]);
      const double of_a = take_a ? weight_at(graph, u, i) : lowest;
      const double of_b = take_b ? weight_at(back, u, j) : lowest;
      writer.add(take_a ? a[i] : b[j], std::max(of_a, of_b));
      i += take_a ? 1 : 0;
      j += take_b ? 1 : 0;
    }
    writer.end_row();
  }
  writer.rows.targets.shrink_to_fit();
  writer.rows.weights.shrink_to_fit();
  return GraphMaker::make(std::move(writer.rows), false);
}

Graph as_directed(Graph graph) { return GraphMaker::with_direction(std::move(graph), true); }

Graph induced_subgraph(const Graph& graph, std::span<const NodeId> kept) {
  constexpr NodeId absent = std::numeric_limits<NodeId>::max();
  std::vector<NodeId> new_id(graph.nodes(), absent);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] >= graph.nodes() || (i > 0 && kept[i - 1] >= kept[i])) {
      fail("the nodes to keep must be increasing and below {}", graph.nodes());
    }
    new_id[kept[i]] = static_cast<NodeId>(i);
  }
  RowWriter writer(graph.weighted());
  for (const NodeId u : kept) {
    const auto row = graph.neighbors(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (new_id[row[i]] != absent) writer.add(new_id[row[i]], weight_at(graph, u, i));
    }
    writer.end_row();
  }
  return GraphMaker::make(std::move(writer.rows), graph.directed());
}

Graph renumber(const Graph& graph, std::span<const NodeId> order) {
  const NodeId nodes = graph.nodes();
  if (order.size() != nodes) fail("{} numbers for {} nodes", order.size(), nodes);
  std::vector<NodeId> number(nodes, nodes);
  for (NodeId i = 0; i < nodes; ++i) {
    if (order[i] >= nodes || number[order[i]] != nodes) {
      fail("the nodes' new order names node {} twice, or no node", order[i]);
    }
    number[order[i]] = i;
  }
  RowWriter writer(graph.weighted());
  writer.rows.offsets.reserve(nodes + std::size_t{1});
  writer.rows.targets.reserve(graph.arcs());
  writer.rows.weights.reserve(graph.weights().size());
  std::vector<std::pair<NodeId, double>> row;
  for (const NodeId u : order) {
    row.clear();
    for (std::size_t i = 0; i < graph.degree(u); ++i) {
      row.emplace_back(number[graph.neighbors(u)[i]], weight_at(graph, u, i));
    }
    std::sort(row.begin(), row.end());
    for (const auto& [v, weight] : row) writer.add(v, weight);
    writer.end_row();
  }
  return GraphMaker::make(std::move(writer.rows), graph.directed());
}

DegreeStatistics degree_statistics(const Graph& graph) {
  const NodeId nodes = graph.nodes();
  DegreeStatistics result;
  if (nodes == 0) return result;
  std::vector<std::uint64_t> degrees(nodes);
  std::vector<bool> touched(nodes, false);
  for (NodeId u = 0; u < nodes; ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (v == u) continue;
      ++degrees[u];
      touched[u] = touched[v] = true;
    }
  }
  result.isolated = static_cast<std::uint64_t>(std::count(touched.begin(), touched.end(), false));
  const auto sum = std::accumulate(degrees.begin(), degrees.end(), std::uint64_t{0});
  result.mean = static_cast<double>(sum) / static_cast<double>(nodes);
  std::sort(degrees.begin(), degrees.end());
  result.min = degrees.front();
  result.max = degrees.back();
  result.median = static_cast<double>(degrees[(nodes - 1) / 2] + degrees[nodes / 2]) / 2.0;
  return result;
}

}  // namespace ngf
