#include "shells/twins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/support.hpp"

namespace ngf::shells {
namespace {

/// The neighbours of u, without v.
std::set<NodeId> others(const Graph& graph, NodeId u, NodeId v) {
  const auto row = graph.neighbors(u);
  std::set<NodeId> result(row.begin(), row.end());
  result.erase(v);
  return result;
}

void expect_by_definition(const Graph& graph, const Twins& twins,
                          const std::vector<std::uint32_t>& groups) {
  const NodeId nodes = graph.nodes();
  ASSERT_EQ(twins.class_of.size(), nodes);
  for (NodeId u = 0; u < nodes; ++u) {
    for (NodeId v = 0; v < nodes; ++v) {
      const bool same = groups.empty() || groups[u] == groups[v];
      const bool alike = others(graph, u, v) == others(graph, v, u);
      EXPECT_EQ(twins.class_of[u] == twins.class_of[v], u == v || (same && alike)) << u << " " << v;
    }
  }
  std::vector<NodeId> seen;
  for (NodeId c = 0; c < twins.classes(); ++c) {
    const auto members = twins.of_class(c);
    EXPECT_TRUE(std::is_sorted(members.begin(), members.end()));
    EXPECT_EQ(twins.first(c), members.front());
    for (const NodeId u : members) EXPECT_EQ(twins.class_of[u], c);
    seen.insert(seen.end(), members.begin(), members.end());
    if (members.size() == 1) continue;
    const auto row = graph.neighbors(members[0]);
    const bool joined = std::binary_search(row.begin(), row.end(), members[1]);
    EXPECT_EQ(twins.apart[c], row.empty() ? all_hops : joined ? 1U : 2U);
  }
  std::sort(seen.begin(), seen.end());
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), NodeId{0});
  EXPECT_EQ(seen, all);
  const std::vector<NodeId> firsts = twins.firsts();
  EXPECT_TRUE(std::is_sorted(firsts.begin(), firsts.end()));
}

TEST(Twins, HaveTheSameNeighbors) {
  const Graph graph = test::graph_with_twins(90);
  const Twins twins = *find_twins(graph, {});
  EXPECT_LT(twins.classes(), 75);
  expect_by_definition(graph, twins, {});
  std::vector<std::uint32_t> groups(graph.nodes());
  for (NodeId u = 0; u < graph.nodes(); ++u) groups[u] = u / 3 % 2;
  const Twins within = *find_twins(graph, groups);
  EXPECT_GT(within.classes(), twins.classes());
  expect_by_definition(graph, within, groups);
  EXPECT_TRUE(within_groups(within, groups));
  EXPECT_FALSE(within_groups(twins, groups));
}

TEST(Twins, OfExtremeGraphs) {
  EXPECT_FALSE(find_twins(Graph(), {}));
  EXPECT_EQ(find_twins(build_graph(5, std::vector<Edge>{}), {})->classes(), 1);
  std::vector<Edge> complete;
  for (NodeId u = 0; u < 6; ++u) {
    for (NodeId v = 0; v < u; ++v) complete.push_back({u, v});
  }
  EXPECT_EQ(find_twins(build_graph(6, complete), {})->classes(), 1);
  EXPECT_FALSE(find_twins(build_graph(6, complete, {.directed = true}), {}));
  complete.push_back({3, 3});
  EXPECT_FALSE(find_twins(build_graph(6, complete, {.keep_self_loops = true}), {}));
}

}  // namespace
}  // namespace ngf::shells
