// Every graph of the data folder, against the plain search from each of its nodes. Slow.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "detail/parallel.hpp"
#include "ngf/components.hpp"
#include "ngf/eccentricity.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"
#include "ngf/shells.hpp"
#include "shells/reference.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using shells::plain_search;
using shells::unreachable;

struct Named {
  std::string name;
  Graph graph;
};

/// What the data folder holds that is a graph.
std::vector<Named> all_graphs(const std::filesystem::path& folder, bool directed) {
  std::vector<Named> graphs;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().string();
    if (!entry.is_regular_file() || name.ends_with(".md")) continue;
    // One of the eight files stands for its data set.
    if (name.find("planetoid") != std::string::npos && !name.ends_with(".graph")) continue;
    try {
      graphs.push_back({name, io::read_graph(entry.path(), {.directed = directed}).dataset.graph});
    } catch (const Error&) {
      // Signals and tables of stations; the reader's own tests say which.
    }
  }
  return graphs;
}

TEST(Exhaustive, RadiusAndDiameterOfEveryGraph) {
  NGF_NEED_DATA(folder);
  const auto graphs = all_graphs(folder, false);
  ASSERT_GE(graphs.size(), 60U);
  for (const auto& [name, graph] : graphs) {
    SCOPED_TRACE(name);
    const Graph largest = induced_subgraph(graph, connected_components(graph).largest());
    std::vector<std::uint32_t> eccentricity(largest.nodes());
    detail::parallel_for(largest.nodes(), 0, [&](std::size_t u) {
      const auto found = plain_search(largest, static_cast<NodeId>(u));
      eccentricity[u] = *std::max_element(found.hops.begin(), found.hops.end());
    });
    const Extent extent = measure_extent(largest);
    EXPECT_EQ(extent.radius, *std::min_element(eccentricity.begin(), eccentricity.end()));
    EXPECT_EQ(extent.diameter, *std::max_element(eccentricity.begin(), eccentricity.end()));
    EXPECT_LE(extent.bfs, 2000U);
  }
}

constexpr NodeId small = 25'000;

/// Rows of `shells` that differ from the plain search. Of a large graph every eighth row is looked
/// at.
std::uint64_t wrong_rows(const Graph& graph, const Shells& shells, int min_paths) {
  std::atomic<std::uint64_t> wrong{0};
  const NodeId step = graph.nodes() <= small ? 1 : 8;
  detail::parallel_for(graph.nodes() / step, 0, [&](std::size_t row) {
    const auto u = static_cast<NodeId>(row) * step;
    const auto found = plain_search(graph, u);
    std::vector<std::uint32_t> hops(graph.nodes(), unreachable);
    const std::uint32_t last = std::min(shells.hops(), graph.nodes());
    const auto take = [&](const auto& matrix) {
      for (NodeId v = 0; v < graph.nodes(); ++v) {
        if (matrix(u, v) != matrix.farther) hops[v] = matrix(u, v);
      }
    };
    if (const auto* bytes = std::get_if<HopMatrix<std::uint8_t>>(&shells.held())) {
      take(*bytes);
    } else if (const auto* words = std::get_if<HopMatrix<std::uint16_t>>(&shells.held())) {
      take(*words);
    } else {
      for (std::uint32_t k = 0; k <= last; ++k) {
        for (const NodeId v : shells.columns(u, k)) hops[v] = k;
      }
    }
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      const std::uint32_t k = found.hops[v];
      const bool counts = k != unreachable && k <= shells.hops() &&
                          (k < 2 || found.paths[v] >= static_cast<std::uint64_t>(min_paths));
      if (hops[v] != (counts ? k : unreachable)) {
        ++wrong;
        return;
      }
    }
  });
  return wrong;
}

void expect_exact(const std::string& name, const Graph& graph) {
  SCOPED_TRACE(name);
  if (graph.nodes() <= small) {
    for (const int min_paths : {1, 2, 3}) {
      const ShellOptions options{.storage = Storage::dense, .min_paths = min_paths};
      EXPECT_EQ(wrong_rows(graph, build_shells(graph, options), min_paths), 0U);
    }
  }
  for (const Engine engine : {Engine::bits, Engine::queue}) {
    const ShellOptions options{.hops = 3, .storage = Storage::sparse, .engine = engine};
    EXPECT_EQ(wrong_rows(graph, build_shells(graph, options), 1), 0U) << engine_name(engine);
  }
}

TEST(Exhaustive, ShellsOfEveryGraph) {
  NGF_NEED_DATA(folder);
  for (const bool directed : {false, true}) {
    for (const auto& [name, graph] : all_graphs(folder, directed)) expect_exact(name, graph);
  }
}

}  // namespace
}  // namespace ngf
