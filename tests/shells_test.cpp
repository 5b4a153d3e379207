#include "ngf/shells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/target.hpp"
#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "shells/reference.hpp"
#include "shells/walkable.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using shells::plain_search;
using shells::unreachable;
using test::error_of;
using test::random_edges;

/// By hop and row: the sorted columns, from the specification.
using Lists = std::vector<std::vector<std::vector<NodeId>>>;

Lists expected_lists(const Graph& graph, std::uint32_t hops, int min_paths) {
  Lists lists;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto found = plain_search(graph, u);
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      const std::uint32_t k = found.hops[v];
      if (k == unreachable || k > hops) continue;
      if (k >= 2 && found.paths[v] < static_cast<std::uint64_t>(min_paths)) continue;
      if (lists.size() <= k) {
        lists.resize(k + std::size_t{1}, std::vector<std::vector<NodeId>>(graph.nodes()));
      }
      lists[k][u].push_back(v);
    }
  }
  return lists;
}

void expect_equal(const Shells& shells, const Lists& expected) {
  // One hop more than there are: that shell must be empty.
  for (std::uint32_t k = 0; k <= expected.size(); ++k) {
    for (NodeId u = 0; u < shells.nodes(); ++u) {
      const auto columns = k < expected.size() ? expected[k][u] : std::vector<NodeId>();
      ASSERT_EQ(shells.columns(u, k), columns) << "row " << u << ", hop " << k;
    }
  }
}

std::vector<std::uint64_t> sizes_of(const Lists& lists) {
  std::vector<std::uint64_t> sizes;
  for (const auto& rows : lists) {
    sizes.push_back(std::accumulate(rows.begin(), rows.end(), std::uint64_t{0},
                                    [](auto sum, const auto& row) { return sum + row.size(); }));
  }
  while (!sizes.empty() && sizes.back() == 0) sizes.pop_back();
  return sizes;
}

/// Every way to find the shells gives those of the specification.
void expect_exact(const Graph& graph, std::uint32_t hops, int min_paths = 1, int threads = 2) {
  const Lists expected = expected_lists(graph, hops, min_paths);
  ShellOptions options{.hops = hops, .min_paths = min_paths, .threads = threads};
  EXPECT_EQ(shell_sizes(graph, options), sizes_of(expected));
  for (const auto& [storage, engine] :
       {std::pair(Storage::dense, Engine::bits), std::pair(Storage::sparse, Engine::bits),
        std::pair(Storage::sparse, Engine::queue),
        std::pair(Storage::automatic, Engine::automatic)}) {
    options.storage = storage;
    options.engine = engine;
    const Shells shells = build_shells(graph, options);
    SCOPED_TRACE(testing::Message()
                 << graph.nodes() << " nodes, hops " << hops << ", " << storage_name(storage)
                 << ", " << engine_name(engine) << ", min_paths " << min_paths);
    expect_equal(shells, expected);
    EXPECT_EQ(shells.pairs(), sizes_of(expected));
  }
}

Graph random_graph(NodeId nodes, double degree, std::uint64_t seed, bool directed = false) {
  const auto edges = static_cast<std::size_t>(degree * nodes / (directed ? 1 : 2));
  return build_graph(nodes, random_edges(nodes, edges, seed), {.directed = directed});
}

TEST(Shells, ExactAtEverySizeAroundAWordAndABatch) {
  for (const NodeId nodes : {1U, 2U, 3U, 7U, 8U, 9U, 63U, 64U, 65U, 127U, 128U, 129U}) {
    for (const bool directed : {false, true}) {
      const Graph graph = random_graph(nodes, 2.5, nodes, directed);
      for (const std::uint32_t hops : {0U, 1U, 2U, 4U, all_hops}) expect_exact(graph, hops);
    }
  }
  for (const NodeId nodes : {511U, 512U, 513U, 1025U}) {
    expect_exact(random_graph(nodes, 3, nodes), all_hops);
  }
}

TEST(Shells, ExactOnRandomGraphsByTheHundred) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const NodeId nodes = 5 + static_cast<NodeId>(seed * 7 % 90);
    const double degree = 0.5 + static_cast<double>(seed % 7);
    const Graph graph = random_graph(nodes, degree, seed, seed % 3 == 0);
    const std::uint32_t hops = seed % 4 == 0 ? all_hops : static_cast<std::uint32_t>(seed % 6);
    expect_exact(graph, hops, 1 + static_cast<int>(seed % 3), 1 + static_cast<int>(seed % 3));
  }
}

TEST(Shells, ExactWhereNeighboursLieAnywhere) {
  // Large and random enough for sources to take their first hops alone, with trees and islands.
  constexpr NodeId nodes = 14'000;
  for (const bool directed : {false, true}) {
    const Graph graph = random_graph(nodes, directed ? 4 : 8, 5, directed);
    ASSERT_TRUE(shells::make_walkable(graph, {.trees = true, .twins = true}).scattered);
    for (const std::uint32_t hops : {2U, 3U, all_hops}) {
      const ShellOptions options{
          .hops = hops, .storage = Storage::dense, .engine = Engine::bits, .threads = 2};
      HopMatrix<std::uint8_t> matrix(nodes);
      write_hops(graph, options, matrix);
      for (NodeId u = 0; u < nodes; u += 97) {
        const auto expected = plain_search(graph, u).hops;
        for (NodeId v = 0; v < nodes; ++v) {
          const std::uint32_t k =
              expected[v] == unreachable || expected[v] > hops ? 255 : expected[v];
          ASSERT_EQ(matrix.row(u)[v], k) << u << " to " << v << ", " << hops << " hops";
        }
      }
    }
  }
}

TEST(Shells, ExactOnShapesThatAreMostlyTrees) {
  const auto path = [](NodeId nodes) {
    std::vector<Edge> edges;
    for (NodeId u = 0; u + 1 < nodes; ++u) edges.push_back({u, u + 1});
    return build_graph(nodes, edges);
  };
  // Longer than a byte counts, so that hops need two.
  expect_exact(path(300), all_hops);
  expect_exact(path(300), 3);
  expect_exact(path(254), all_hops);
  expect_exact(path(256), all_hops);
  std::vector<Edge> star;
  for (NodeId u = 1; u < 700; ++u) star.push_back({0, u});
  expect_exact(build_graph(700, star), all_hops);
  // A random tree, and a ring with trees on it.
  std::vector<Edge> tree;
  Random random(3);
  for (NodeId u = 1; u < 400; ++u) tree.push_back({u, static_cast<NodeId>(random.below(u))});
  for (const int min_paths : {1, 2, 3}) {
    expect_exact(build_graph(400, tree), all_hops, min_paths);
    expect_exact(build_graph(400, tree), 3, min_paths);
  }
  for (NodeId u = 0; u < 20; ++u) tree.push_back({u, (u + 1) % 20});
  for (const int min_paths : {1, 2, 3}) {
    expect_exact(build_graph(400, tree), all_hops, min_paths);
    expect_exact(build_graph(400, tree), 2, min_paths);
  }
}

/// Complete graphs and complete bipartite ones (all twins, next to each other or two hops apart),
/// small trees and single nodes (islands), and a ring of twins with trees on some of them.
TEST(Shells, ExactOnTwinsAndIslands) {
  std::vector<Edge> edges;
  NodeId nodes = 0;
  const auto complete = [&](NodeId size) {
    for (NodeId u = 0; u < size; ++u) {
      for (NodeId v = 0; v < u; ++v) edges.push_back({nodes + u, nodes + v});
    }
    nodes += size;
  };
  const auto bipartite = [&](NodeId left, NodeId right) {
    for (NodeId u = 0; u < left; ++u) {
      for (NodeId v = 0; v < right; ++v) edges.push_back({nodes + u, nodes + left + v});
    }
    nodes += left + right;
  };
  const auto expect_exact_so_far = [&] {
    const Graph graph = build_graph(nodes, edges);
    for (const std::uint32_t hops : {1U, 3U, all_hops}) {
      for (const int min_paths : {1, 2}) expect_exact(graph, hops, min_paths);
    }
  };
  // Nothing but islands: single nodes, a pair, a path, a star.
  nodes = 5;
  expect_exact_so_far();
  bipartite(1, 1);
  for (NodeId u = 0; u < 9; ++u) edges.push_back({nodes + u, nodes + u + 1});
  nodes += 10;
  bipartite(1, 30);
  expect_exact_so_far();
  // More twins than one branch takes.
  complete(80);
  bipartite(3, 90);
  expect_exact_so_far();
  // A ring where every second place is taken by three twins, and trees grow on one of some.
  const NodeId ring = nodes;
  constexpr NodeId places = 12;
  nodes += 2 * places;
  for (NodeId i = 0; i < places; ++i) {
    const NodeId hub = ring + i;
    const NodeId next_hub = ring + (i + 1) % places;
    for (int twin = 0; twin < 3; ++twin, ++nodes) {
      edges.push_back({hub, nodes});
      edges.push_back({nodes, next_hub});
      if (i % 3 == 0 && twin == 1) edges.push_back({nodes, ring + places + i});
    }
  }
  expect_exact_so_far();
}

TEST(Shells, ExactInPiecesAndWithSelfLoops) {
  // Many components, some of one node; loops change nothing.
  const Graph pieces = random_graph(900, 0.9, 11);
  expect_exact(pieces, all_hops);
  expect_exact(pieces, 2);
  std::vector<Edge> edges = random_edges(60, 90, 12);
  for (NodeId u = 0; u < 60; u += 3) edges.push_back({u, u});
  expect_exact(build_graph(60, edges, {.keep_self_loops = true}), all_hops);
  expect_exact(build_graph(60, edges, {.directed = true, .keep_self_loops = true}), all_hops);
}

TEST(Shells, TheSameOnEveryInstructionSet) {
  const Graph graph = random_graph(700, 3, 21);
  const Graph long_way = grid(3, 200);
  const std::string before = kernels::current_target();
  for (const std::string& target : kernels::available_targets()) {
    kernels::use_target(target);
    SCOPED_TRACE(target);
    for (const int min_paths : {1, 2, 3}) expect_exact(graph, all_hops, min_paths);
    expect_exact(graph, 3);
    expect_exact(long_way, all_hops);
    expect_exact(long_way, 20, 2);
  }
  kernels::use_target(before);
  EXPECT_NE(error_of<Error>([] { kernels::use_target("abacus"); }).find("scalar"),
            std::string::npos);
}

TEST(Shells, TheSameOnAnyNumberOfThreads) {
  const Graph graph = random_graph(1500, 4, 31);
  const Shells one = build_shells(graph, {.storage = Storage::dense, .threads = 1});
  for (const int threads : {2, 3, 7}) {
    const Shells many = build_shells(graph, {.storage = Storage::dense, .threads = threads});
    for (NodeId u = 0; u < graph.nodes(); ++u) {
      const auto a = std::get<HopMatrix<std::uint8_t>>(one.held()).row(u);
      const auto b = std::get<HopMatrix<std::uint8_t>>(many.held()).row(u);
      ASSERT_TRUE(std::equal(a.begin(), a.end(), b.begin()));
    }
  }
}

TEST(Shells, OfAConnectedGraphHoldEachPairOnce) {
  const Graph graph = citation_network(800, 1).graph;
  const auto sizes = shell_sizes(graph, {});
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), 800U * 800U);
  const Shells shells = build_shells(graph, {.storage = Storage::sparse});
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    std::vector<NodeId> all;
    for (std::uint32_t k = 0; k <= shells.hops(); ++k) {
      const auto columns = shells.columns(u, k);
      EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end()));
      all.insert(all.end(), columns.begin(), columns.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<NodeId> nodes(graph.nodes());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    ASSERT_EQ(all, nodes);
  }
}

TEST(Shells, RelabellingTheNodesRelabelsTheShells) {
  const NodeId nodes = 401;
  const auto edges = random_edges(nodes, 700, 41);
  const auto new_id = [&](NodeId u) { return (u * 29 + 5) % nodes; };
  std::vector<Edge> moved = edges;
  for (auto& [from, to] : moved) {
    from = new_id(from);
    to = new_id(to);
  }
  const Shells before = build_shells(build_graph(nodes, edges), {.storage = Storage::dense});
  const Shells after = build_shells(build_graph(nodes, moved), {.storage = Storage::dense});
  const auto& a = std::get<HopMatrix<std::uint8_t>>(before.held());
  const auto& b = std::get<HopMatrix<std::uint8_t>>(after.held());
  for (NodeId u = 0; u < nodes; ++u) {
    for (NodeId v = 0; v < nodes; ++v) {
      ASSERT_EQ(a(u, v), b(new_id(u), new_id(v)));
      ASSERT_EQ(a(u, v), a(v, u));
    }
  }
}

TEST(Shells, TheEmptyGraph) {
  EXPECT_TRUE(shell_sizes(Graph()).empty());
  EXPECT_TRUE(build_shells(Graph()).pairs().empty());
}

TEST(Shells, PlansBeforeTheyTakeMemory) {
  const Graph graph = random_graph(3000, 4, 51);
  const ShellPlan plan = plan_shells(graph, {.hops = 3});
  EXPECT_FALSE(plan.estimate.exact);
  const auto exact = shell_sizes(graph, {.hops = 3});
  ASSERT_EQ(plan.estimate.pairs.size(), exact.size());
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_NEAR(plan.estimate.pairs[k], static_cast<double>(exact[k]),
                0.2 * static_cast<double>(exact[k]));
  }
  EXPECT_TRUE(estimate_shells(random_graph(400, 4, 52), {.hops = 3}).exact);
  // Where the storage is given, nothing depends on sizes.
  EXPECT_TRUE(plan_shells(graph, {.storage = Storage::dense}).estimate.pairs.empty());

  const std::string error = error_of<Error>(
      [&] { build_shells(graph, {.storage = Storage::dense, .memory = 13'000'000}); });
  EXPECT_NE(error.find("memory="), std::string::npos) << error;
  EXPECT_NE(error.find("storage=stream"), std::string::npos) << error;
  EXPECT_EQ(build_shells(graph, {.memory = 13'000'000}).storage(), Storage::stream);
  // Streaming is no way out for a caller that reads what is stored.
  EXPECT_NE(error_of<Error>([&] {
              build_shells(graph, {.hops = 2, .storage = Storage::stream, .must_store = true});
            }).find("leave storage=stream out"),
            std::string::npos);
  for (const Storage storage : {Storage::automatic, Storage::dense}) {
    const std::string stored = error_of<MemoryExceeded>([&] {
      build_shells(graph, {.storage = storage, .must_store = true, .memory = 13'000'000});
    });
    EXPECT_NE(stored.find("memory="), std::string::npos) << stored;
    EXPECT_EQ(stored.find("storage="), std::string::npos) << stored;
  }
  EXPECT_NE(error_of<Error>([&] { build_shells(graph, {.min_paths = 4}); }), "");
}

TEST(Shells, CountingPairsKeepsToTheBudget) {
  const Graph graph = random_graph(3000, 4, 51);
  const auto needed = [&](const ShellOptions& options) -> std::uint64_t {
    ShellOptions poor = options;
    poor.memory = 1;
    try {
      shell_sizes(graph, poor);
    } catch (const MemoryExceeded& error) {
      EXPECT_NE(std::string(error.what()).find("memory="), std::string::npos) << error.what();
      return error.needed();
    }
    return 0;
  };
  const std::uint64_t one = needed({.threads = 1});
  EXPECT_GT(one, graph.bytes());
  EXPECT_EQ(shell_sizes(graph, {.threads = 1, .memory = one}), shell_sizes(graph));
  EXPECT_THROW(shell_sizes(graph, {.threads = 1, .memory = one - 1}), MemoryExceeded);
  // Threads and counts of paths take memory of their own; hops do not.
  EXPECT_GT(needed({.threads = 2}), one);
  EXPECT_GT(needed({.min_paths = 2, .threads = 1}), one);
  EXPECT_EQ(needed({.hops = 2, .threads = 1}), one);
  EXPECT_THROW(part_of_shell_sizes(graph, {.threads = 1, .memory = one - 1}, 1, 2), MemoryExceeded);
  // Without a budget, the free memory of the machine is the limit; this asks for 15 TB.
  const Graph large = random_graph(100'000, 4, 52);
  EXPECT_THROW(shell_sizes(large, {.hops = 1, .threads = 1'000'000}), MemoryExceeded);
}

TEST(Shells, StopWhenAsked) {
  struct Stop : Progress {
    bool stop_requested() const override { return true; }
  } stop;
  const Graph graph = random_graph(100, 3, 61);
  EXPECT_THROW(shell_sizes(graph, {}, &stop), Interrupted);
  const ShellOptions options{.storage = Storage::dense};
  EXPECT_THROW(build_shells(graph, options, &stop), Interrupted);
}

}  // namespace
}  // namespace ngf
