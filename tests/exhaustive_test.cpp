// Every graph of the data folder, against the plain search from each of its nodes. Slow.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "ngf/components.hpp"
#include "ngf/eccentricity.hpp"
#include "ngf/error.hpp"
#include "ngf/filter.hpp"
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
  // Some matrices are undirected graphs only if one of two weights is taken.
  const io::ReadOptions options{.directed = directed, .lenient = true};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().string();
    if (!entry.is_regular_file() || name.ends_with(".md")) continue;
    // One of the eight files stands for its data set.
    if (name.find("planetoid") != std::string::npos && !name.ends_with(".graph")) continue;
    try {
      graphs.push_back({name, io::read_graph(entry.path(), options).dataset.graph});
    } catch (const Error&) {
      // Signals and tables of stations; the reader's own tests say which.
    }
  }
  return graphs;
}

/// Pairs by hop, and eccentricities, of a connected graph: a search with a queue from each node, as
/// the specification does it, but lean, since some graphs have 100,000 nodes.
struct AllPairs {
  std::vector<std::uint64_t> pairs;
  std::uint32_t radius = unreachable;
};

AllPairs search_from_all(const Graph& graph) {
  AllPairs all;
  all.pairs.assign(graph.nodes(), 0);
  std::mutex mutex;
  const auto shares = static_cast<std::size_t>(detail::thread_count(0));
  detail::parallel_for(shares, 0, [&](std::size_t share) {
    std::vector<std::uint64_t> pairs(graph.nodes(), 0);
    std::vector<NodeId> queue(graph.nodes());
    std::vector<NodeId> reached_from(graph.nodes(), unreachable);
    std::uint32_t radius = unreachable;
    for (std::size_t i = share; i < graph.nodes(); i += shares) {
      const auto source = static_cast<NodeId>(i);
      queue[0] = source;
      reached_from[source] = source;
      std::uint32_t hop = 0;
      std::size_t end = 1;
      for (std::size_t begin = 0; begin < end; ++hop) {
        pairs[hop] += end - begin;
        const std::size_t level_end = end;
        for (; begin < level_end; ++begin) {
          for (const NodeId v : graph.neighbors(queue[begin])) {
            if (reached_from[v] == source) continue;
            reached_from[v] = source;
            queue[end++] = v;
          }
        }
      }
      radius = std::min(radius, hop - 1);
    }
    const std::lock_guard lock(mutex);
    all.radius = std::min(all.radius, radius);
    for (NodeId hop = 0; hop < graph.nodes(); ++hop) all.pairs[hop] += pairs[hop];
  });
  while (all.pairs.back() == 0) all.pairs.pop_back();
  return all;
}

TEST(Exhaustive, ExtentAndShellSizesOfEveryGraph) {
  NGF_NEED_DATA(folder);
  const auto graphs = all_graphs(folder, false);
  ASSERT_GE(graphs.size(), 60U);
  for (const auto& [name, graph] : graphs) {
    SCOPED_TRACE(name);
    const Graph largest = induced_subgraph(graph, connected_components(graph).largest());
    const AllPairs expected = search_from_all(largest);
    const Extent extent = measure_extent(largest);
    EXPECT_EQ(extent.radius, expected.radius);
    EXPECT_EQ(extent.diameter + 1, expected.pairs.size());
    EXPECT_LE(extent.bfs, 2000U);
    EXPECT_EQ(shell_sizes(largest), expected.pairs);
  }
}

/// The shells of a graph in one of the ways to find and to hold them.
struct Found {
  int min_paths = 1;
  Shells shells;
};

/// Row u as hops.
std::vector<std::uint32_t> hops_of_row(const Shells& shells, NodeId u) {
  std::vector<std::uint32_t> hops(shells.nodes(), unreachable);
  const auto take = [&](const auto& matrix) {
    for (NodeId v = 0; v < shells.nodes(); ++v) {
      if (matrix(u, v) != matrix.farther) hops[v] = matrix(u, v);
    }
  };
  if (const auto* bytes = std::get_if<HopMatrix<std::uint8_t>>(&shells.held())) {
    take(*bytes);
  } else if (const auto* words = std::get_if<HopMatrix<std::uint16_t>>(&shells.held())) {
    take(*words);
  } else {
    for (std::uint32_t k = 0; k <= shells.hops(); ++k) {
      for (const NodeId v : shells.columns(u, k)) hops[v] = k;
    }
  }
  return hops;
}

/// What the plain search says that such a row should be.
std::vector<std::uint32_t> expected_row(const shells::PlainSearch& search, const Found& found) {
  std::vector<std::uint32_t> hops = search.hops;
  const auto paths_needed = static_cast<std::uint64_t>(found.min_paths);
  for (std::size_t v = 0; v < hops.size(); ++v) {
    const bool too_few_paths = hops[v] >= 2 && search.paths[v] < paths_needed;
    if (too_few_paths || hops[v] > found.shells.hops()) hops[v] = unreachable;
  }
  return hops;
}

/// Whether every row is that of the plain search; of a large graph every 32nd is looked at.
void expect_exact(const Graph& graph) {
  constexpr NodeId small = 25'000;
  std::vector<Found> all;
  if (graph.nodes() <= small) {
    for (const int min_paths : {1, 2, 3}) {
      const ShellOptions options{.storage = Storage::dense, .min_paths = min_paths};
      all.push_back({min_paths, build_shells(graph, options)});
    }
  }
  for (const Engine engine : {Engine::bits, Engine::queue}) {
    const ShellOptions options{.hops = 3, .storage = Storage::sparse, .engine = engine};
    all.push_back({1, build_shells(graph, options)});
  }
  const NodeId step = graph.nodes() <= small ? 1 : 32;
  std::vector<std::atomic<std::uint64_t>> wrong_rows(all.size());
  detail::parallel_for(graph.nodes() / step, 0, [&](std::size_t row) {
    const auto u = static_cast<NodeId>(row * step);
    const auto search = plain_search(graph, u);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (hops_of_row(all[i].shells, u) != expected_row(search, all[i])) ++wrong_rows[i];
    }
  });
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(wrong_rows[i], 0U) << storage_name(all[i].shells.storage()) << ", paths "
                                 << all[i].min_paths << ", "
                                 << engine_name(all[i].shells.plan().engine);
  }
}

TEST(Exhaustive, ShellsOfEveryGraph) {
  NGF_NEED_DATA(folder);
  for (const bool directed : {false, true}) {
    for (const auto& [name, graph] : all_graphs(folder, directed)) {
      SCOPED_TRACE(name);
      expect_exact(graph);
    }
  }
}

TEST(Exhaustive, LargestEigenvaluesOfPubmedsShellsTakeFewSteps) {
  NGF_NEED_DATA(folder);
  const Graph graph = io::read_graph(folder / "planetoid/ind.pubmed.graph").dataset.graph;
  const std::size_t count = shell_sizes(graph).size();
  const NeighborhoodFilter filter(graph, Taps(std::vector<double>(count, 1.0)));
  for (std::size_t k = 1; k < count; ++k) {
    const LargestValue found = filter.largest_value(k);
    EXPECT_LE(found.applications, 60) << "hop " << k;
    EXPECT_GE(found.value, 1) << "hop " << k;
  }
}

}  // namespace
}  // namespace ngf
