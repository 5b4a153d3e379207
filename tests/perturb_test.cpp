#include "ngf/perturb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ngf/generate.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using Pair = std::pair<NodeId, NodeId>;

/// Edges as pairs: u < v where undirected; self-loops left out.
std::set<Pair> pairs_of(const Graph& graph) {
  std::set<Pair> pairs;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (graph.directed() ? u != v : u < v) pairs.emplace(u, v);
    }
  }
  return pairs;
}

struct Difference {
  std::vector<Pair> created;
  std::vector<Pair> destroyed;
};

Difference difference(const Graph& before, const Graph& after) {
  const auto a = pairs_of(before);
  const auto b = pairs_of(after);
  Difference result;
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(result.created));
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result.destroyed));
  return result;
}

Graph complete(NodeId nodes) { return erdos_renyi(nodes, 1, 0); }

TEST(Perturb, ChangesExactlyThePercentages) {
  const Graph undirected = erdos_renyi(300, 0.05, 3);
  for (const Graph& graph : {undirected, as_directed(undirected)}) {
    const auto M = static_cast<double>(graph.edges());
    for (const auto& [create, destroy] :
         {std::pair{5.0, 5.0}, {10.0, 0.0}, {0.0, 33.3}, {250.0, 100.0}}) {
      const Perturbed result = perturb(graph, {.create = create, .destroy = destroy, .seed = 9});
      const Difference seen = difference(graph, result.graph);
      EXPECT_EQ(result.created, static_cast<std::uint64_t>(std::round(create * M / 100)));
      EXPECT_EQ(result.destroyed, static_cast<std::uint64_t>(std::round(destroy * M / 100)));
      EXPECT_EQ(seen.created.size(), result.created);
      EXPECT_EQ(seen.destroyed.size(), result.destroyed);
      EXPECT_EQ(result.graph.self_loops(), 0U);
      EXPECT_EQ(result.graph.directed(), graph.directed());
    }
  }
}

TEST(Perturb, LeavesTheGraphAloneWhenNothingIsAsked) {
  const Graph graph = barabasi_albert(200, 3, 1);
  EXPECT_EQ(perturb(graph, {}).graph, graph);
  EXPECT_EQ(perturb(graph, {.as_probability = true}).graph, graph);
}

TEST(Perturb, DependsOnTheSeedAloneAndNotOnThreads) {
  const Graph graph = erdos_renyi(5000, 0.002, 1);
  for (const bool as_probability : {false, true}) {
    PerturbOptions options{.create = as_probability ? 1e-4 : 5.0,
                           .destroy = as_probability ? 0.05 : 5.0,
                           .as_probability = as_probability,
                           .seed = 7,
                           .threads = 1};
    const Graph one = perturb(graph, options).graph;
    options.threads = 5;
    EXPECT_EQ(perturb(graph, options).graph, one);
    options.seed = 8;
    EXPECT_NE(perturb(graph, options).graph, one);
  }
}

/// How often each pair changes when every pair should equally often.
void expect_even(const std::map<Pair, double>& seen, std::size_t pairs, double draws) {
  EXPECT_EQ(seen.size(), pairs);
  const double expected = draws / static_cast<double>(pairs);
  double chi_square = 0;
  for (const auto& [pair, count] : seen) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  const auto freedom = static_cast<double>(pairs - 1);
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom));
}

// On 12 nodes every edge and every free pair is drawn often enough to count.
TEST(Perturb, DrawsEdgesAndFreePairsEvenly) {
  const Graph ring = watts_strogatz(12, 4, 0, 0);
  for (const Graph& graph : {ring, as_directed(ring)}) {
    for (const bool as_probability : {false, true}) {
      std::map<Pair, double> created;
      std::map<Pair, double> destroyed;
      double created_draws = 0;
      double destroyed_draws = 0;
      for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const Perturbed result = perturb(graph, {.create = as_probability ? 0.1 : 12.5,
                                                 .destroy = as_probability ? 0.1 : 12.5,
                                                 .as_probability = as_probability,
                                                 .seed = seed,
                                                 .threads = 1});
        const Difference seen = difference(graph, result.graph);
        for (const Pair& pair : seen.created) ++created[pair];
        for (const Pair& pair : seen.destroyed) ++destroyed[pair];
        created_draws += static_cast<double>(result.created);
        destroyed_draws += static_cast<double>(result.destroyed);
      }
      const std::size_t all = graph.directed() ? 12 * 11 : 12 * 11 / 2;
      expect_even(created, all - graph.edges(), created_draws);
      expect_even(destroyed, graph.edges(), destroyed_draws);
      const double share = as_probability ? 0.1 : 0.125;
      EXPECT_NEAR(destroyed_draws / 3000 / static_cast<double>(graph.edges()), share, 0.01);
      const auto base = static_cast<double>(as_probability ? all - graph.edges() : graph.edges());
      EXPECT_NEAR(created_draws / 3000 / base, share, 0.01);
    }
  }
}

TEST(Perturb, FillsAndEmptiesTheGraph) {
  const Graph ring = watts_strogatz(9, 2, 0, 0);  // 9 edges of 36
  const Perturbed filled = perturb(ring, {.create = 300});
  EXPECT_EQ(filled.graph, complete(9));
  EXPECT_EQ(perturb(ring, {.create = 1, .as_probability = true}).graph, complete(9));
  EXPECT_EQ(perturb(ring, {.destroy = 100}).graph.edges(), 0U);
  const Perturbed inverted = perturb(ring, {.create = 1, .destroy = 1, .as_probability = true});
  EXPECT_EQ(inverted.graph.edges(), 27U);
  EXPECT_EQ(inverted.destroyed, 9U);
  // 26 of 27 free pairs: more than half, so the ones left out are drawn instead.
  EXPECT_EQ(perturb(ring, {.create = 100 * 26 / 9.0}).graph.edges(), 35U);
}

TEST(Perturb, WorksOnTheSmallestGraphs) {
  for (const NodeId nodes : {0U, 1U, 2U}) {
    const Graph none = build_graph(nodes, std::vector<Edge>{});
    EXPECT_EQ(perturb(none, {.create = 50, .destroy = 50}).graph, none);
    EXPECT_EQ(perturb(none, {.create = 1, .as_probability = true}).graph, complete(nodes));
    EXPECT_EQ(perturb(complete(nodes), {.destroy = 100}).graph, none);
  }
  EXPECT_EQ(perturb(as_directed(build_graph(2, std::vector<Edge>{})),
                    {.create = 1, .as_probability = true})
                .created,
            2U);
}

TEST(Perturb, KeepsSelfLoopsAndTheirWeights) {
  for (const bool directed : {false, true}) {
    std::vector<EdgeBlock> blocks(1);
    blocks[0].edges = {{0, 0}, {0, 1}, {2, 2}, {3, 1}};
    blocks[0].weights = {7, 2, 9, 2};
    const Graph graph = build_graph(4, blocks, {.directed = directed, .keep_self_loops = true});
    const Graph result = perturb(graph, {.create = 1, .destroy = 1, .as_probability = true}).graph;
    EXPECT_EQ(result.self_loops(), 2U);
    EXPECT_EQ(result.edges(), directed ? 10U : 4U);
    for (NodeId u = 0; u < 4; ++u) {
      for (std::size_t i = 0; i < result.degree(u); ++i) {
        const NodeId v = result.neighbors(u)[i];
        EXPECT_EQ(result.weights_of(u)[i], u != v ? 2 : u == 0 ? 7 : 9) << u << "-" << v;
      }
    }
  }
}

TEST(Perturb, CreatedEdgesTakeWeightsOfOldOnes) {
  std::vector<EdgeBlock> blocks(1);
  for (NodeId u = 0; u + 1 < 50; ++u) {
    blocks[0].edges.push_back({u, u + 1});
    blocks[0].weights.push_back(u < 25 ? 1.5 : -4);
  }
  const Graph path = build_graph(50, blocks);
  const Graph result = perturb(path, {.create = 2000}).graph;
  ASSERT_TRUE(result.weighted());
  std::map<double, int> counts;
  for (NodeId u = 0; u < 50; ++u) {
    for (std::size_t i = 0; i < result.degree(u); ++i) {
      const NodeId v = result.neighbors(u)[i];
      const double weight = result.weights_of(u)[i];
      ++counts[weight];
      if (v == u + 1) {
        EXPECT_EQ(weight, u < 25 ? 1.5 : -4);
      }
    }
  }
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_NEAR(counts[1.5], counts[-4.0], 200);  // 2058 arcs, half of each weight
}

TEST(Perturb, RefusesNumbersOutOfRange) {
  const Graph graph = watts_strogatz(9, 2, 0, 0);
  const auto error = [&](PerturbOptions options) {
    return test::error_of<Error>([&] { perturb(graph, options); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(error({.create = -1}), "");
  EXPECT_NE(error({.create = nan}), "");
  EXPECT_NE(error({.create = std::numeric_limits<double>::infinity()}), "");
  EXPECT_NE(error({.destroy = -1}), "");
  EXPECT_NE(error({.destroy = nan}), "");
  EXPECT_NE(error({.destroy = 100.5}).find("100.5"), std::string::npos);
  EXPECT_NE(error({.create = 1.5, .as_probability = true}), "");
  EXPECT_NE(error({.destroy = 5, .as_probability = true}), "");
  EXPECT_NE(error({.create = 312}).find("28 edges, but only 27"), std::string::npos);
  EXPECT_NE(error({.create = 1e300}), "");
  EXPECT_NE(error({.create = 100, .memory = 100}).find("memory"), std::string::npos);
}

}  // namespace
}  // namespace ngf
