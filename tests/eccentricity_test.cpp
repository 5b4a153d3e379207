#include "ngf/eccentricity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "ngf/components.hpp"
#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using test::random_edges;

// The plain twin: all pairs by Floyd and Warshall.
Extent extent_of_all_pairs(const Graph& graph) {
  constexpr std::uint32_t far = 1'000'000;
  const NodeId nodes = graph.nodes();
  std::vector<std::vector<std::uint32_t>> d(nodes, std::vector<std::uint32_t>(nodes, far));
  for (NodeId u = 0; u < nodes; ++u) {
    d[u][u] = 0;
    for (const NodeId v : graph.neighbors(u)) d[u][v] = std::min(d[u][v], 1U);
  }
  for (NodeId via = 0; via < nodes; ++via) {
    for (NodeId u = 0; u < nodes; ++u) {
      for (NodeId v = 0; v < nodes; ++v) d[u][v] = std::min(d[u][v], d[u][via] + d[via][v]);
    }
  }
  Extent extent{.radius = far, .diameter = 0, .bfs = 0};
  for (const auto& row : d) {
    const std::uint32_t e = *std::max_element(row.begin(), row.end());
    extent.radius = std::min(extent.radius, e);
    extent.diameter = std::max(extent.diameter, e);
  }
  return extent;
}

void expect_exact(const Graph& graph) {
  const Extent found = measure_extent(graph);
  const Extent expected = extent_of_all_pairs(graph);
  EXPECT_EQ(found.radius, expected.radius);
  EXPECT_EQ(found.diameter, expected.diameter);
}

TEST(Eccentricity, EqualsAllPairsOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const NodeId nodes = 5 + static_cast<NodeId>(seed % 60);
    const std::size_t edges = nodes + seed % 3 * nodes / 2;
    const Graph graph = build_graph(nodes, random_edges(nodes, edges, seed));
    expect_exact(induced_subgraph(graph, connected_components(graph).largest()));
    const Graph arcs = build_graph(nodes, random_edges(nodes, 2 * edges, seed), {.directed = true});
    expect_exact(induced_subgraph(arcs, strong_components(arcs).largest()));
  }
}

TEST(Eccentricity, ShapesWithKnownAnswers) {
  const auto extent_of = [](NodeId nodes, const std::vector<Edge>& edges, bool directed = false) {
    const Extent extent = measure_extent(build_graph(nodes, edges, {.directed = directed}));
    return std::pair(extent.radius, extent.diameter);
  };
  std::vector<Edge> path;
  for (NodeId u = 0; u + 1 < 1338; ++u) path.push_back({u, u + 1});
  EXPECT_EQ(extent_of(1338, path), std::pair(669U, 1337U));
  std::vector<Edge> ring = path;
  ring.push_back({1337, 0});
  EXPECT_EQ(extent_of(1338, ring), std::pair(669U, 669U));
  EXPECT_EQ(extent_of(1338, ring, true), std::pair(1337U, 1337U));
  EXPECT_EQ(extent_of(1, {}), std::pair(0U, 0U));
  EXPECT_EQ(extent_of(2, {{0, 1}}), std::pair(1U, 1U));
  EXPECT_EQ(measure_extent(Graph()).bfs, 0U);
}

TEST(Eccentricity, RefusesAGraphInPieces) {
  EXPECT_THROW(measure_extent(build_graph(3, std::vector<Edge>{{0, 1}})), Error);
  EXPECT_THROW(measure_extent(build_graph(2, std::vector<Edge>{{0, 1}}, {.directed = true})),
               Error);
}

}  // namespace
}  // namespace ngf
