#include "ngf/components.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/support.hpp"

namespace ngf {
namespace {

using test::random_edges;

// The plain twin: union-find without any of its tricks.
std::vector<NodeId> smallest_node_of_each_component(NodeId nodes, const std::vector<Edge>& edges) {
  std::vector<NodeId> root(nodes);
  std::iota(root.begin(), root.end(), 0U);
  const auto find = [&](NodeId u) {
    while (root[u] != u) u = root[u];
    return u;
  };
  for (const auto [from, to] : edges) {
    const NodeId a = find(from);
    const NodeId b = find(to);
    root[std::max(a, b)] = std::min(a, b);
  }
  for (NodeId u = 0; u < nodes; ++u) root[u] = find(u);
  return root;
}

TEST(Components, EqualUnionFind) {
  for (const NodeId nodes : {1U, 2U, 10U, 500U}) {
    for (const bool directed : {false, true}) {
      const auto edges = random_edges(nodes, nodes / 2, nodes);
      const Components found =
          connected_components(build_graph(nodes, edges, {.directed = directed}));
      const auto expected = smallest_node_of_each_component(nodes, edges);
      NodeId components = 0;
      for (NodeId u = 0; u < nodes; ++u) {
        EXPECT_EQ(found.label[u], found.label[expected[u]]);
        if (expected[u] == u) {
          EXPECT_EQ(found.label[u], components) << "numbered by the smallest node";
          ++components;
        }
      }
      EXPECT_EQ(found.size.size(), components);
      EXPECT_EQ(std::accumulate(found.size.begin(), found.size.end(), 0U), nodes);
    }
  }
}

TEST(Components, LargestAndFirstOfEquals) {
  //  0-1   2-3-4   5-6-7
  const Graph graph = build_graph(8, std::vector<Edge>{{0, 1}, {2, 3}, {3, 4}, {5, 6}, {6, 7}});
  EXPECT_EQ(connected_components(graph).largest(), (std::vector<NodeId>{2, 3, 4}));
  EXPECT_TRUE(connected_components(Graph()).largest().empty());
}

// u and v are in one strong component when each is reached from the other.
std::vector<bool> reached_from(const Graph& graph, NodeId source) {
  std::vector<bool> reached(graph.nodes(), false);
  std::vector<NodeId> stack{source};
  reached[source] = true;
  while (!stack.empty()) {
    const NodeId u = stack.back();
    stack.pop_back();
    for (const NodeId v : graph.neighbors(u)) {
      if (reached[v]) continue;
      reached[v] = true;
      stack.push_back(v);
    }
  }
  return reached;
}

TEST(Components, StrongOnesAreMutualReach) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const NodeId nodes = 60;
    const Graph graph = build_graph(nodes, random_edges(nodes, 90, seed), {.directed = true});
    const Components strong = strong_components(graph);
    std::vector<std::vector<bool>> reach;
    for (NodeId u = 0; u < nodes; ++u) reach.push_back(reached_from(graph, u));
    for (NodeId u = 0; u < nodes; ++u) {
      for (NodeId v = 0; v < nodes; ++v) {
        EXPECT_EQ(strong.label[u] == strong.label[v], reach[u][v] && reach[v][u]);
      }
    }
  }
}

TEST(Components, ALongPathNeedsNoDeepStack) {
  const NodeId nodes = 1'000'000;
  std::vector<Edge> path;
  for (NodeId u = 0; u + 1 < nodes; ++u) path.push_back({u, u + 1});
  EXPECT_EQ(strong_components(build_graph(nodes, path, {.directed = true})).size.size(), nodes);
  EXPECT_EQ(strong_components(build_graph(nodes, path)).size.size(), 1U);
}

}  // namespace
}  // namespace ngf
