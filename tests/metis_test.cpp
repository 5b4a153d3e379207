#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace ngf::io {
namespace {

using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ReadResult read(std::string_view text, const ReadOptions& options = {},
                std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return read_metis(Input("a.graph", text), options, piece_bytes);
}

std::string read_error(std::string_view text) {
  return error_of<Error>([&] { read(text, {}, 4); });
}

// 0 - 1 - 2   3
Graph path_and_a_node() { return build_graph(4, std::vector<Edge>{{0, 1}, {1, 2}}); }

TEST(Metis, DialectsOfOneGraph) {
  for (const std::string_view text : {
           "4 2\n2\n1 3\n2\n\n",
           "4 2 0\n2 \n 1  3\n2\n\n\n\n",
           "% head\n\n 4 2\n% inside\n2\n1 3\n  % inside\n2\n\n",
           "4 2\r\n2\r\n1\t3\r\n2\r\n\r\n",
           "4 2 000 1\n2\n1 3\n2\n\n",
           "4 2 1\n2 1\n1 1 3 1\n2 1\n\n",
       }) {
    for (const std::size_t piece_bytes : {1U, 4U, 1U << 20}) {
      for (const int threads : {1, 2}) {
        const ReadResult result = read(text, {.threads = threads}, piece_bytes);
        EXPECT_EQ(result.dataset.graph, path_and_a_node()) << text;
        EXPECT_EQ(result.counts.duplicates, 0U) << text;
        EXPECT_THAT(result.warnings, IsEmpty()) << text;
      }
    }
  }
}

TEST(Metis, NodeValuesAreSkippedAndEdgeWeightsKept) {
  std::vector<EdgeBlock> blocks{{{{0, 1}, {1, 2}}, {5, 7}}};
  const Graph weighted = build_graph(4, std::move(blocks));
  EXPECT_EQ(read("4 2 1\n2 5\n1 5 3 7\n2 7\n\n").dataset.graph, weighted);
  EXPECT_EQ(read("4 2 11\n9 2 5\n9 1 5 3 7\n9 2 7\n9\n").dataset.graph, weighted);
  EXPECT_EQ(read("4 2 011 2\n9 8 2 5\n9 8 1 5 3 7\n9 8 2 7\n9 8\n").dataset.graph, weighted);
  EXPECT_EQ(read("4 2 111 2\n6 9 8 2 5\n6 9 8 1 5 3 7\n6 9 8 2 7\n6 9 8\n").dataset.graph,
            weighted);
  const ReadResult sizes = read("4 2 100\n9 2\n9 1 3\n9 2\n\n");
  EXPECT_EQ(sizes.dataset.graph, path_and_a_node());
  EXPECT_THAT(sizes.warnings, ElementsAre(HasSubstr("skipped")));
}

TEST(Metis, HarmlessFlawsAreWarnings) {
  const ReadResult short_file = read("4 2\n2\n1 3\n2\n");
  EXPECT_EQ(short_file.dataset.graph, path_and_a_node());
  EXPECT_THAT(short_file.warnings, ElementsAre(HasSubstr("last 1 nodes have no line")));
  // Self-loops are counted as edges, and listed once or twice.
  for (const std::string_view text : {"2 2\n1 2\n1\n", "2 2\n1 1 2\n1\n"}) {
    const ReadResult loops = read(text);
    EXPECT_EQ(loops.dataset.graph.edges(), 1U);
    EXPECT_GT(loops.counts.self_loops, 0U);
    EXPECT_THAT(loops.warnings, IsEmpty());
  }
}

TEST(Metis, ContradictionsAreErrorsUnlessLenient) {
  struct Case {
    std::string_view text;
    std::string_view what;
    Graph graph;
  };
  std::vector<EdgeBlock> larger{{{{0, 1}, {1, 2}}, {5, 7}}};
  for (const Case& file : {
           Case{"4 3\n2\n1 3\n2\n\n", "line 1: promises 4 nodes and 3 edges, but 4 neighbours",
                path_and_a_node()},
           Case{"% c\n4 1\n2\n1 3\n2\n\n", "line 2: promises 4 nodes and 1 edges",
                path_and_a_node()},
           Case{"4 1000000000000000000\n2\n1 3\n2\n\n", "promises 4 nodes and 1000000000",
                path_and_a_node()},
           Case{"4 2\n2\n3\n\n\n", "line 1: promises 4 nodes and 2 edges", path_and_a_node()},
           Case{"4 2\n2 3\n1\n% c\n2\n\n", "line 2: node 1 lists 3, but node 3 does not list 1",
                build_graph(4, std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}})},
           Case{"% c\n3 2 1\n2 5\n1 5 3 7\n2 6\n", "line 4: edge 2-3 has two weights, 7 and 6",
                build_graph(3, larger)},
           Case{"3 2\n2\n1 3\n2\n\n\n4\n", "line 7", Graph()},
           Case{"3 2\n2\n1 4\n\n2\n", "line 3: '4'", path_and_a_node()},
       }) {
    EXPECT_THAT(read_error(file.text), HasSubstr(std::string(file.what)));
    if (file.graph == Graph()) continue;
    const ReadResult result = read(file.text, {.lenient = true}, 4);
    EXPECT_THAT(result.warnings, Not(IsEmpty())) << file.text;
    if (file.what != "line 3: '4'") {
      EXPECT_EQ(result.dataset.graph, file.graph) << file.text;
    }
  }
  EXPECT_THAT(read_error("4 3\n2\n1 3\n2\n\n"), HasSubstr("lenient reads it anyway"));
  EXPECT_EQ(read("3 2\n2\n1 4\n\n2\n", {.lenient = true}).dataset.graph.nodes(), 4U);
}

TEST(Metis, Arcs) {
  EXPECT_EQ(read("3 2\n2 3\n\n1 2\n", {.directed = true}).dataset.graph,
            build_graph(3, std::vector<Edge>{{0, 1}, {0, 2}, {2, 0}, {2, 1}}, {.directed = true}));
  EXPECT_EQ(read("3 2\n2\n3\n\n", {.directed = true}).dataset.graph.edges(), 2U);
  EXPECT_EQ(read("0 0\n").dataset.graph, Graph());
}

TEST(Metis, BadFilesAreRefused) {
  const auto expect = [](std::string_view text, std::string_view place, std::string_view what) {
    EXPECT_THAT(read_error(text),
                AllOf(HasSubstr("a.graph: " + std::string(place)), HasSubstr(std::string(what))))
        << text;
  };
  expect("", "has no header", "");
  expect("% only\n\n", "has no header", "");
  expect("4\n", "line 1", "one number");
  expect("4 2 0 1 5\n", "line 1", "more than four");
  expect("% c\nx 2\n", "line 2", "'x'");
  expect("-4 2\n", "line 1", "'-4'");
  expect("4 2.5\n", "line 1", "'2.5'");
  expect("4 2 2\n", "line 1", "format 2");
  expect("4 2 20\n", "line 1", "format 20");
  expect("4 2 1000\n", "line 1", "format 1000");
  expect("4 1000000000000000000\n2\n", "line 1", "1000000000000000000 edges");
  expect("1000000000000000000 1\n2\n", "line 1", "1000000000000000000 nodes");
  expect("4 2\n2\n1 5\n2\n\n", "line 3", "'5' is not a node; expected a whole number from 1 to 4");
  expect("4 2\n2\n1 0\n2\n\n", "line 3", "'0'");
  expect("4 2\n2\n% c\n1 -3\n2\n\n", "line 4", "'-3'");
  expect("4 2\n2\n1 3.0\n2\n\n", "line 3", "'3.0'");
  expect("4 2\n2\n1,3\n2\n\n", "line 3", "");
  expect("4 2 1\n2 5\n1 5 3\n2 7\n\n", "line 3", "ends after neighbour 3");
  expect("4 2 1\n2 5\n1 5 3 nan\n2 7\n\n", "line 3", "not finite");
  expect("4 2 10 3\n1 2\n1 1 1\n\n\n", "line 2", "ends before the 3 numbers");
  expect("4 2 10 99999999999999999999\n1 2\n\n\n\n", "line 2", "ends before");
  expect("2 1\n2\n1\n% c\n1\n", "line 5", "after those of the 2 nodes");
  expect("4 2\n2\n1 3\n", "line 1", "ends after the lines of 2 nodes and 3 neighbours (is it cut");
}

TEST(Metis, EveryTruncationIsAnErrorOrSmaller) {
  const std::string text = "% c\n5 4 11\n9 2 5\n9 1 5 3 7\n9 2 7 4 12\n9 3 12 5 1\n9 4 1\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      EXPECT_LE(read(text.substr(0, length), {}, 8).dataset.graph.edges(), 4U);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.graph"));
    }
  }
}

TEST(Metis, IsToldByItsHeaderAndRows) {
  const auto told = [](std::string_view text) { return is_metis(text, true, false); };
  EXPECT_TRUE(told("3 2\n2\n1 3\n2\n"));
  EXPECT_TRUE(told("3 2 1\n2 5\n1 5 3 6\n2 6\n"));
  EXPECT_FALSE(told("1 2\n2 3 5\n"));  // an edge list with one weight too few
  EXPECT_FALSE(told("0 1\n1 2 0.5\n"));
  EXPECT_FALSE(told("3 2\n2\n1 3\n"));                   // not all neighbours
  EXPECT_TRUE(is_metis("3 2\n2\n1 3\n", false, false));  // but more may follow
  EXPECT_FALSE(told("3 2\n"));
  EXPECT_FALSE(told("source target\n1 2\n"));
  EXPECT_TRUE(is_metis("3 2\n9 9 9\n", true, true));
  EXPECT_FALSE(is_metis("a b\n", true, true));
}

}  // namespace
}  // namespace ngf::io
