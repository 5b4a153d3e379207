#include "ngf/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "graph/build_rows.hpp"
#include "ngf/components.hpp"
#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using test::error_of;
using test::random_edges;

// The plain twin of build_graph: sets of pairs.
Graph graph_from_sets(NodeId nodes, const std::vector<Edge>& edges, bool directed) {
  std::vector<std::set<NodeId>> rows(nodes);
  for (const auto [from, to] : edges) {
    if (from == to) continue;
    rows[from].insert(to);
    if (!directed) rows[to].insert(from);
  }
  std::vector<std::uint64_t> offsets{0};
  std::vector<NodeId> targets;
  for (const auto& row : rows) {
    targets.insert(targets.end(), row.begin(), row.end());
    offsets.push_back(targets.size());
  }
  return {offsets, targets, {}, directed};
}

TEST(Graph, BuildEqualsSetsOfPairs) {
  for (const NodeId nodes : {1U, 2U, 7U, 64U, 1025U}) {
    for (const bool directed : {false, true}) {
      const auto edges = random_edges(nodes, std::size_t{nodes} * 3, nodes);
      for (const int threads : {1, 2, 3}) {
        EXPECT_EQ(build_graph(nodes, edges, {.directed = directed, .threads = threads}),
                  graph_from_sets(nodes, edges, directed));
      }
    }
  }
}

TEST(Graph, BuildOfManyBucketsEqualsSetsOfPairs) {
  constexpr NodeId nodes = 70'000;
  auto edges = random_edges(nodes, 400'000, 5);
  // A hub, whose row no small case of sorting takes.
  for (NodeId v = 0; v < 3000; ++v) edges.push_back({nodes / 2, v % 2900});
  for (const bool directed : {false, true}) {
    const Graph expected = graph_from_sets(nodes, edges, directed);
    for (const int threads : {1, 2, 3}) {
      std::vector<EdgeBlock> blocks(7);
      for (std::size_t i = 0; i < edges.size(); ++i) blocks[i % 7].edges.push_back(edges[i]);
      BuildCounts counts;
      const BuildOptions options{.directed = directed, .threads = threads};
      const Graph graph = build_graph(nodes, std::move(blocks), options, &counts);
      EXPECT_EQ(graph, expected);
      EXPECT_EQ(graph.edges() + counts.self_loops + counts.duplicates, edges.size());
    }
  }
}

TEST(Graph, SortsRowsOfEveryLength) {
  Random random(3);
  for (std::size_t length = 0; length <= 100; ++length) {
    for (const NodeId range : {3U, 50U, 1'000'000U, ~NodeId{0}}) {
      std::vector<NodeId> row(length);
      for (NodeId& id : row) id = static_cast<NodeId>(random.below(range));
      const std::set<NodeId> expected(row.begin(), row.end());
      std::vector<NodeId> sorted(length);
      sorted.resize(detail::sort_distinct(row.data(), length, sorted.data()));
      EXPECT_EQ(sorted, std::vector<NodeId>(expected.begin(), expected.end()));
    }
  }
}

TEST(Graph, BlocksMayBeCutAnywhere) {
  const auto edges = random_edges(50, 400, 1);
  std::vector<EdgeBlock> blocks;
  for (std::size_t i = 0; i < edges.size(); i += 7) {
    const auto end = std::min(edges.size(), i + 7);
    blocks.push_back({{edges.begin() + static_cast<std::ptrdiff_t>(i),
                       edges.begin() + static_cast<std::ptrdiff_t>(end)},
                      {}});
  }
  EXPECT_EQ(build_graph(50, std::move(blocks)), build_graph(50, edges));
}

TEST(Graph, CountsWhatItDrops) {
  //   0 --- 1     the pair 0-1 three times, 2-2 twice
  //         |
  //         2
  const std::vector<Edge> edges{{0, 1}, {1, 0}, {0, 1}, {1, 2}, {2, 2}, {2, 2}};
  const auto counts_with = [&](const BuildOptions& options) {
    BuildCounts counts;
    const Graph graph = build_graph(3, {{edges, {}}}, options, &counts);
    EXPECT_EQ(graph.self_loops(), options.keep_self_loops ? 1U : 0U);
    EXPECT_EQ(counts.self_loops, 2U);
    EXPECT_EQ(graph.edges(), options.directed ? 3U : 2U);
    return counts.duplicates;
  };
  for (const bool keep : {false, true}) {
    EXPECT_EQ(counts_with({.keep_self_loops = keep}), 2U);
    EXPECT_EQ(counts_with({.directed = true, .keep_self_loops = keep}), 1U);
    EXPECT_EQ(counts_with({.keep_self_loops = keep, .entries_of_matrix = true}), 1U);
  }
}

TEST(Graph, OfSeveralWeightsTheLargestIsKept) {
  const std::vector<Edge> edges{{0, 1}, {1, 0}, {1, 2}, {1, 2}};
  const std::vector<double> weights{1.5, 2.5, -1, -1};
  BuildCounts counts;
  const Graph graph = build_graph(3, {{edges, weights}}, {}, &counts);
  EXPECT_EQ(graph.weights_of(0)[0], 2.5);
  EXPECT_EQ(graph.weights_of(1)[0], 2.5);
  EXPECT_EQ(graph.weights_of(2)[0], -1);
  EXPECT_EQ(counts.duplicates, 2U);
  EXPECT_EQ(counts.conflicting_weights, 1U);
  ASSERT_TRUE(counts.first_conflict);
  EXPECT_EQ(counts.first_conflict->edge, (Edge{0, 1}));
  EXPECT_EQ(counts.first_conflict->kept, 2.5);
  EXPECT_EQ(counts.first_conflict->other, 1.5);
}

TEST(Graph, AnAsymmetricMatrixIsReported) {
  // Many rows, so that several threads look at them: 0-1, 1-2, ... both ways but for two places.
  constexpr NodeId nodes = 5000;
  EdgeBlock block;
  for (NodeId u = 0; u + 1 < nodes; ++u) {
    block.edges.push_back({u, u + 1});
    block.weights.push_back(u);
    if (u == 3000 || u == 4000) continue;
    block.edges.push_back({u + 1, u});
    block.weights.push_back(u == 2000 || u == 2500 ? -1.0 : u);
  }
  for (const int threads : {1, 2}) {
    BuildCounts counts;
    const Graph graph =
        build_graph(nodes, {block}, {.entries_of_matrix = true, .threads = threads}, &counts);
    EXPECT_EQ(graph.edges(), nodes - 1U);
    EXPECT_EQ(counts.duplicates, 0U);
    EXPECT_EQ(counts.one_way, (Edge{3000, 3001}));
    EXPECT_EQ(counts.conflicting_weights, 2U);
    ASSERT_TRUE(counts.first_conflict);
    EXPECT_EQ(counts.first_conflict->edge, (Edge{2000, 2001}));
    EXPECT_EQ(counts.first_conflict->kept, 2000);
    EXPECT_EQ(counts.first_conflict->other, -1);
  }
}

TEST(Graph, AMatrixReadAsUndirectedJoinsBothTriangles) {
  const auto edges = random_edges(40, 200, 3);
  std::vector<double> weights(edges.size());
  std::iota(weights.begin(), weights.end(), 1);
  const Graph as_pairs = build_graph(40, {{edges, weights}});
  const Graph as_matrix = build_graph(40, {{edges, weights}}, {.entries_of_matrix = true});
  EXPECT_EQ(as_matrix, as_pairs);
}

TEST(Graph, TransposeTurnsEveryArcAndTwiceIsNothing) {
  const auto edges = random_edges(60, 300, 4);
  std::vector<Edge> turned = edges;
  for (auto& [from, to] : turned) std::swap(from, to);
  const BuildOptions directed{.directed = true};
  const Graph graph = build_graph(60, edges, directed);
  EXPECT_EQ(transpose(graph), build_graph(60, turned, directed));
  EXPECT_EQ(transpose(transpose(graph)), graph);
  EXPECT_EQ(symmetrize(graph), build_graph(60, edges));
  EXPECT_EQ(symmetrize(as_directed(build_graph(60, edges))), build_graph(60, edges));
}

TEST(Graph, RelabellingTheEdgesRelabelsTheGraph) {
  const NodeId nodes = 97;
  const auto edges = random_edges(nodes, 300, 5);
  std::vector<NodeId> new_id(nodes);
  for (NodeId u = 0; u < nodes; ++u) new_id[u] = (u * 31 + 7) % nodes;  // 31 is prime to 97
  std::vector<Edge> moved = edges;
  for (auto& [from, to] : moved) {
    from = new_id[from];
    to = new_id[to];
  }
  const Graph before = build_graph(nodes, edges);
  const Graph after = build_graph(nodes, moved);
  for (NodeId u = 0; u < nodes; ++u) {
    std::vector<NodeId> expected;
    for (const NodeId v : before.neighbors(u)) expected.push_back(new_id[v]);
    std::sort(expected.begin(), expected.end());
    const auto row = after.neighbors(new_id[u]);
    EXPECT_EQ(std::vector(row.begin(), row.end()), expected);
  }
}

TEST(Graph, InducedSubgraphKeepsJustTheEdgesInside) {
  const auto edges = random_edges(30, 120, 6);
  const Graph graph = build_graph(30, edges);
  const std::vector<NodeId> kept{1, 2, 5, 8, 13, 21, 29};
  std::vector<Edge> inside;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const auto row = graph.neighbors(kept[i]);
      if (std::find(row.begin(), row.end(), kept[j]) == row.end()) continue;
      inside.push_back({static_cast<NodeId>(i), static_cast<NodeId>(j)});
    }
  }
  EXPECT_EQ(induced_subgraph(graph, kept), build_graph(7, inside));
  EXPECT_NE(error_of<Error>([&] { induced_subgraph(graph, std::vector<NodeId>{3, 3}); }), "");
}

TEST(Graph, DegreeStatistics) {
  // A star of four, and a node alone.
  const Graph star = build_graph(5, std::vector<Edge>{{0, 1}, {0, 2}, {0, 3}});
  const DegreeStatistics of_star = degree_statistics(star);
  EXPECT_EQ(of_star.max, 3U);
  EXPECT_EQ(of_star.min, 0U);
  EXPECT_EQ(of_star.isolated, 1U);
  EXPECT_DOUBLE_EQ(of_star.mean, 1.2);
  EXPECT_DOUBLE_EQ(of_star.median, 1);
  EXPECT_EQ(degree_statistics(Graph()).max, 0U);
  // A node that arcs only come to is not isolated.
  const Graph arc = build_graph(2, std::vector<Edge>{{0, 1}}, {.directed = true});
  EXPECT_EQ(degree_statistics(arc).isolated, 0U);
}

TEST(Graph, RefusesWhatIsNoGraph) {
  using Offsets = std::vector<std::uint64_t>;
  using Targets = std::vector<NodeId>;
  const auto refuses = [](Offsets offsets, Targets targets, std::vector<double> weights,
                          bool directed) {
    return !error_of<Error>([&] { Graph(offsets, targets, weights, directed); }).empty();
  };
  EXPECT_TRUE(refuses({}, {}, {}, true));
  EXPECT_TRUE(refuses({0, 1}, {1}, {}, true));             // past the last node
  EXPECT_TRUE(refuses({0, 2, 2}, {1, 1}, {}, true));       // twice
  EXPECT_TRUE(refuses({0, 2, 1, 2}, {1, 2}, {}, true));    // falling offsets
  EXPECT_TRUE(refuses({0, 1, 1}, {1}, {}, false));         // one row only
  EXPECT_TRUE(refuses({0, 1, 2}, {1, 0}, {1, 2}, false));  // two weights of one edge
  EXPECT_TRUE(refuses({0, 1, 2}, {1, 0}, {1}, false));     // a weight too few
  EXPECT_FALSE(refuses({0, 1, 2}, {1, 0}, {2, 2}, false));
  EXPECT_NE(error_of<Error>([] { build_graph(2, std::vector<Edge>{{0, 2}}); }), "");
}

TEST(Graph, ChecksTheBudgetBeforeItTakesMemory) {
  const std::string error = error_of<Error>(
      [] { build_graph(4'000'000'000U, std::vector<Edge>{}, {.memory = 1'000'000'000}); });
  EXPECT_NE(error.find("32 GB"), std::string::npos) << error;
}

TEST(Graph, StopsWhenAsked) {
  struct Stop : Progress {
    bool stop_requested() const override { return true; }
  } stop;
  EXPECT_THROW(build_graph(3, std::vector<Edge>{{0, 1}}, {.progress = &stop}), Interrupted);
}

}  // namespace
}  // namespace ngf
