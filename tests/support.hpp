#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/random.hpp"

namespace ngf::test {

/// `count` edges between `nodes` nodes, drawn at random: repetitions and self-loops occur.
inline std::vector<Edge> random_edges(NodeId nodes, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Edge> edges(count);
  for (Edge& edge : edges) {
    edge.from = static_cast<NodeId>(random.below(nodes));
    edge.to = static_cast<NodeId>(random.below(nodes));
  }
  return edges;
}

/// A random graph in which a third of the nodes have a twin, or several, of either kind; some nodes
/// have no neighbour.
inline Graph graph_with_twins(NodeId nodes = 60) {
  const NodeId originals = nodes * 2 / 3;
  const Graph part = build_graph(originals, random_edges(originals, originals * 3 / 2, 7));
  std::vector<Edge> edges;
  // Node originals + i is a twin of node i / 2, and so of its other twin.
  for (NodeId u = 0; u < nodes; ++u) {
    const auto original = [&](NodeId v) { return v < originals ? v : (v - originals) / 2; };
    for (NodeId v = 0; v < u; ++v) {
      const NodeId a = original(u);
      const NodeId b = original(v);
      const auto row = part.neighbors(a);
      const bool joined = std::binary_search(row.begin(), row.end(), b);
      if (a == b ? a % 2 == 0 : joined) edges.push_back({u, v});
    }
  }
  return build_graph(nodes, edges);
}

/// The folder of real data sets: $NGF_DATA, else the one beside the checkout; nothing when neither
/// is there.
inline std::optional<std::filesystem::path> data_folder() {
  const char* const named = std::getenv("NGF_DATA");
  const std::filesystem::path folder = named != nullptr ? named : NGF_SHARED_DATA;
  if (!std::filesystem::is_directory(folder)) return {};
  return folder;
}

/// A new file of the running test's own.
inline std::filesystem::path temp_file(std::string_view name, std::string_view content = {}) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string own =
      std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(getpid());
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "ngf-tests" / own;
  std::filesystem::create_directories(folder);
  std::filesystem::path path = folder / name;
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
  return path;
}

/// The text of the error that `body` throws; empty when it throws none.
template <typename ErrorType, typename Body>
std::string error_of(const Body& body) {
  try {
    body();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return {};
}

}  // namespace ngf::test

/// Skips the test, saying so, where the real data sets are absent.
// NOLINTBEGIN(bugprone-macro-parentheses): it declares what it is given
#define NGF_NEED_DATA(folder)                                      \
  const auto folder##_or_none = ngf::test::data_folder();          \
  if (!folder##_or_none) GTEST_SKIP() << "no folder of data sets"; \
  const std::filesystem::path& folder = *folder##_or_none
// NOLINTEND(bugprone-macro-parentheses)
