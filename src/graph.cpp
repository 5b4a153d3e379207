// From edges in any order to compressed sparse rows, in parallel:
//
//   count the arcs of each row  ->  running sums  ->  drop each arc into its row
//     ->  sort the rows  ->  drop what is there twice
//
// Which thread drops an arc first depends on chance; sorting removes that, so the graph does not.

#include "ngf/graph.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "detail/aligned.hpp"
#include "detail/edge_blocks.hpp"
#include "detail/fail.hpp"
#include "detail/memory.hpp"
#include "detail/parallel.hpp"

namespace ngf {

namespace detail {

/// Makes graphs of rows that are known to keep the promises, without looking again.
struct GraphMaker {
  static Graph make(std::vector<std::uint64_t> offsets, std::vector<NodeId> targets,
                    std::vector<double> weights, bool directed) {
    Graph graph;
    graph.offsets_ = std::move(offsets);
    graph.targets_ = std::move(targets);
    graph.weights_ = std::move(weights);
    graph.directed_ = directed;
    for (NodeId u = 0; u < graph.nodes(); ++u) {
      const auto row = graph.neighbors(u);
      if (std::binary_search(row.begin(), row.end(), u)) ++graph.self_loops_;
    }
    graph.edges_ = (graph.arcs() - graph.self_loops_) / (directed ? 1 : 2);
    return graph;
  }

  static Graph with_direction(Graph graph, bool directed) {
    return make(std::move(graph.offsets_), std::move(graph.targets_), std::move(graph.weights_),
                directed);
  }
};

}  // namespace detail

namespace {

using detail::count_edges;
using detail::fail;
using detail::GraphMaker;
using detail::parallel_for;
using detail::parallel_ranges;

struct WeightedArc {
  NodeId target;
  double weight;
};

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

bool is_symmetric(const Graph& graph, int threads) {
  std::atomic<bool> symmetric{true};
  parallel_ranges(graph.nodes(), threads, [&](std::size_t begin, std::size_t end) {
    for (auto u = static_cast<NodeId>(begin); u < end && symmetric; ++u) {
      const auto row = graph.neighbors(u);
      const auto weights = graph.weights_of(u);
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double* const back = find_arc(graph, row[i], u);
        if (back == nullptr || (graph.weighted() && *back != weights[i])) symmetric = false;
      }
    }
  });
  return symmetric;
}

/// Rows under construction. `offsets[u]` is where row u begins once all arcs are in.
struct Rows {
  std::vector<std::uint64_t> offsets;
  std::vector<NodeId> targets;
  std::vector<double> weights;
};

/// Calls visit(from, to, weight) for each arc that the edges stand for.
template <typename Visit>
void for_each_arc(const EdgeBlock& block, const BuildOptions& options, const Visit& visit) {
  for (std::size_t i = 0; i < block.edges.size(); ++i) {
    const auto [from, to] = block.edges[i];
    if (from == to && !options.keep_self_loops) continue;
    const double weight = block.weights.empty() ? 1 : block.weights[i];
    visit(from, to, weight);
    if (!options.directed && from != to) visit(to, from, weight);
  }
}

std::uint64_t count_self_loops(NodeId nodes, const std::vector<EdgeBlock>& blocks, int threads) {
  std::atomic<std::uint64_t> total{0};
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    std::uint64_t loops = 0;
    for (const auto [from, to] : blocks[b].edges) {
      if (from >= nodes || to >= nodes) {
        fail("edge {}-{} names a node past the last one, {}", from, to,
             static_cast<std::int64_t>(nodes) - 1);
      }
      loops += from == to ? 1 : 0;
    }
    total += loops;
  });
  return total;
}

/// A vector of `size` zeros on huge pages: it is filled in no order.
template <typename T>
std::vector<T> zeros(std::size_t size) {
  std::vector<T> result;
  result.reserve(size);
  detail::prefer_huge_pages(result.data(), size * sizeof(T));
  result.resize(size);
  return result;
}

Rows scatter(NodeId nodes, const std::vector<EdgeBlock>& blocks, bool weighted,
             const BuildOptions& options) {
  Rows rows;
  auto& offsets = rows.offsets;
  offsets = zeros<std::uint64_t>(std::size_t{nodes} + 1);
  parallel_for(blocks.size(), options.threads, [&](std::size_t b) {
    throw_if_stopped(options.progress);
    for_each_arc(blocks[b], options, [&](NodeId from, NodeId /*to*/, double /*weight*/) {
      std::atomic_ref(offsets[from]).fetch_add(1, std::memory_order_relaxed);
    });
  });
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  rows.targets = zeros<NodeId>(offsets.back());
  if (weighted) rows.weights = zeros<double>(offsets.back());
  // Each row now ends at offsets[u], and is filled from its end towards its beginning. Arcs fall
  // into rows in no order, so rows are filled a range at a time that the caches hold: to look at
  // all edges once for each range costs less than to wait for memory at each arc.
  constexpr std::uint64_t arcs_in_caches = std::uint64_t{1} << 21;
  const std::size_t ranges =
      static_cast<std::size_t>(std::clamp<std::uint64_t>(offsets.back() / arcs_in_caches, 1, 64));
  const std::size_t step = (std::size_t{nodes} + ranges - 1) / ranges;
  parallel_for(ranges, options.threads, [&](std::size_t range) {
    const std::size_t begin = range * step;
    for (const EdgeBlock& block : blocks) {
      throw_if_stopped(options.progress);
      for_each_arc(block, options, [&](NodeId from, NodeId to, double weight) {
        // Also false for rows before `begin`, which wrap around.
        if (from - begin >= step) return;
        const std::uint64_t place = --offsets[from];
        rows.targets[place] = to;
        if (weighted) rows.weights[place] = weight;
      });
    }
  });
  return rows;
}

/// Sorts row u and moves what is there once to its front. Returns how many that are.
std::uint64_t sort_row(Rows& rows, NodeId u, std::vector<WeightedArc>& scratch,
                       BuildCounts& dropped) {
  const std::uint64_t begin = rows.offsets[u];
  const std::uint64_t end = rows.offsets[u + std::size_t{1}];
  NodeId* const row = rows.targets.data() + begin;
  const std::uint64_t length = end - begin;
  if (rows.weights.empty()) {
    std::sort(row, row + length);
    const auto kept = static_cast<std::uint64_t>(std::unique(row, row + length) - row);
    dropped.duplicates += length - kept;
    return kept;
  }
  double* const weights = rows.weights.data() + begin;
  scratch.clear();
  for (std::uint64_t i = 0; i < length; ++i) scratch.push_back({row[i], weights[i]});
  std::sort(scratch.begin(), scratch.end(), [](const WeightedArc& a, const WeightedArc& b) {
    return a.target != b.target ? a.target < b.target : a.weight > b.weight;
  });
  std::uint64_t kept = 0;
  for (const WeightedArc& arc : scratch) {
    if (kept > 0 && row[kept - 1] == arc.target) {
      ++dropped.duplicates;
      const bool differs = arc.weight != weights[kept - 1] && arc.target != u;
      dropped.conflicting_weights += differs ? 1 : 0;
    } else {
      row[kept] = arc.target;
      weights[kept] = arc.weight;
      ++kept;
    }
  }
  return kept;
}

/// Closes the gaps that `kept[u] < length of row u` leaves.
void compact(Rows& rows, const std::vector<std::uint32_t>& kept) {
  std::uint64_t to = 0;
  for (std::size_t u = 0; u < kept.size(); ++u) {
    const std::uint64_t from = rows.offsets[u];
    std::copy_n(rows.targets.begin() + static_cast<std::ptrdiff_t>(from), kept[u],
                rows.targets.begin() + static_cast<std::ptrdiff_t>(to));
    if (!rows.weights.empty()) {
      std::copy_n(rows.weights.begin() + static_cast<std::ptrdiff_t>(from), kept[u],
                  rows.weights.begin() + static_cast<std::ptrdiff_t>(to));
    }
    rows.offsets[u] = to;
    to += kept[u];
  }
  rows.offsets.back() = to;
  rows.targets.resize(to);
  rows.targets.shrink_to_fit();
  if (!rows.weights.empty()) {
    rows.weights.resize(to);
    rows.weights.shrink_to_fit();
  }
}

BuildCounts sort_rows(Rows& rows, const BuildOptions& options) {
  const std::size_t nodes = rows.offsets.size() - 1;
  std::vector<std::uint32_t> kept(nodes);
  std::atomic<std::uint64_t> duplicates{0};
  std::atomic<std::uint64_t> conflicts{0};
  parallel_ranges(nodes, options.threads, [&](std::size_t begin, std::size_t end) {
    throw_if_stopped(options.progress);
    std::vector<WeightedArc> scratch;
    BuildCounts dropped;
    for (std::size_t u = begin; u < end; ++u) {
      kept[u] =
          static_cast<std::uint32_t>(sort_row(rows, static_cast<NodeId>(u), scratch, dropped));
    }
    duplicates += dropped.duplicates;
    conflicts += dropped.conflicting_weights;
  });
  if (duplicates > 0) compact(rows, kept);
  return {.self_loops = 0, .duplicates = duplicates, .conflicting_weights = conflicts};
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
  Graph made = GraphMaker::make(std::move(offsets), std::move(targets), std::move(weights), true);
  if (!directed) {
    if (!is_symmetric(made, 1)) fail("an undirected graph needs each edge in both of its rows");
    made = GraphMaker::with_direction(std::move(made), false);
  }
  *this = std::move(made);
}

std::uint64_t Graph::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + targets_.size() * sizeof(NodeId) +
         weights_.size() * sizeof(double);
}

Graph build_graph(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options,
                  BuildCounts* counts) {
  if (options.entries_of_matrix && !options.directed) {
    BuildOptions as_arcs = options;
    as_arcs.directed = true;
    Graph graph = build_graph(nodes, std::move(blocks), as_arcs, counts);
    return is_symmetric(graph, options.threads)
               ? GraphMaker::with_direction(std::move(graph), false)
               : symmetrize(graph);
  }
  const std::uint64_t entries = count_edges(blocks);
  const bool weighted =
      std::any_of(blocks.begin(), blocks.end(), [](const auto& b) { return !b.weights.empty(); });
  const std::uint64_t arcs = entries * (options.directed ? 1 : 2);
  detail::check_budget((std::uint64_t{nodes} + 1) * sizeof(std::uint64_t) +
                           arcs * (sizeof(NodeId) + (weighted ? sizeof(double) : 0)),
                       options.memory,
                       fmt::format("a graph of {} nodes and {} edges", nodes, entries));
  const std::uint64_t self_loops = count_self_loops(nodes, blocks, options.threads);
  Rows rows = scatter(nodes, blocks, weighted, options);
  blocks.clear();
  blocks.shrink_to_fit();
  BuildCounts dropped = sort_rows(rows, options);
  Graph graph = GraphMaker::make(std::move(rows.offsets), std::move(rows.targets),
                                 std::move(rows.weights), options.directed);
  if (counts != nullptr) {
    // Repeated self-loops are entries u-u, not second listings of an edge.
    const std::uint64_t repeated_loops =
        options.keep_self_loops ? self_loops - graph.self_loops() : 0;
    const std::uint64_t listings = options.directed ? 1 : 2;
    counts->self_loops = self_loops;
    counts->duplicates = (dropped.duplicates - repeated_loops) / listings;
    counts->conflicting_weights = dropped.conflicting_weights / listings;
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
  return GraphMaker::make(std::move(offsets), std::move(targets), std::move(weights), true);
}

Graph symmetrize(const Graph& graph) {
  if (!graph.directed()) return graph;
  const Graph back = transpose(graph);
  const NodeId nodes = graph.nodes();
  Rows rows;
  rows.offsets.reserve(std::size_t{nodes} + 1);
  rows.offsets.push_back(0);
  for (NodeId u = 0; u < nodes; ++u) {
    const auto a = graph.neighbors(u);
    const auto b = back.neighbors(u);
    const auto a_weights = graph.weights_of(u);
    const auto b_weights = back.weights_of(u);
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() || j < b.size()) {
      const bool take_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
      const bool take_b = i == a.size() || (j < b.size() && b[j] <= a[i]);
      rows.targets.push_back(take_a ? a[i] : b[j]);
      if (graph.weighted()) {
        rows.weights.push_back(take_a && take_b ? std::max(a_weights[i], b_weights[j])
                               : take_a         ? a_weights[i]
                                                : b_weights[j]);
      }
      i += take_a ? 1 : 0;
      j += take_b ? 1 : 0;
    }
    rows.offsets.push_back(rows.targets.size());
  }
  rows.targets.shrink_to_fit();
  rows.weights.shrink_to_fit();
  return GraphMaker::make(std::move(rows.offsets), std::move(rows.targets), std::move(rows.weights),
                          false);
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
  Rows rows;
  rows.offsets.push_back(0);
  for (const NodeId u : kept) {
    const auto row = graph.neighbors(u);
    const auto weights = graph.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (new_id[row[i]] == absent) continue;
      rows.targets.push_back(new_id[row[i]]);
      if (graph.weighted()) rows.weights.push_back(weights[i]);
    }
    rows.offsets.push_back(rows.targets.size());
  }
  return GraphMaker::make(std::move(rows.offsets), std::move(rows.targets), std::move(rows.weights),
                          graph.directed());
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
