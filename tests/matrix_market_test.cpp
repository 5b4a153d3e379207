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
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ReadResult read(std::string_view text, const ReadOptions& options = {},
                std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return read_matrix_market(Input("a.mtx", text), options, piece_bytes);
}

std::string read_error(std::string_view text) {
  return error_of<Error>([&] { read(text, {}, 8); });
}

const std::string pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n";
const std::string real = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, DialectsOfOnePath) {
  const Graph path = build_graph(4, std::vector<Edge>{{0, 1}, {1, 2}});
  for (const std::string& text : {
           pattern + "4 4 2\n2 1\n3 2\n",
           pattern + "% kind\n\n4 4 2\n2 1\n% inside\n\n3 2\n\n",
           pattern + " 4\t4  2 \r\n 2 1\r\n3   2",
           std::string("%%matrixmarket MATRIX Coordinate Pattern SYMMETRIC\n4 4 2\n2 1\n3 2\n"),
           std::string("%%MatrixMarket matrix coordinate pattern general\n4 4 4\n"
                       "2 1\n1 2\n3 2\n2 3\n"),
           std::string("%%MatrixMarket matrix coordinate integer general\n4 4 2\n2 1 1\n3 2 1\n"),
           real + "4 4 2\n2 1 1.0\n3 2 1e0\n",
           std::string("4 4 2\n2 1\n3 2\n"),
           std::string("% no banner\n4 4 2\n% inside\n2 1 1\n3 2 1\n"),
       }) {
    for (const std::size_t piece_bytes : {1U, 9U, 1U << 20}) {
      for (const int threads : {1, 2}) {
        const ReadResult result = read(text, {.threads = threads}, piece_bytes);
        EXPECT_EQ(result.dataset.graph, path) << text;
        EXPECT_EQ(result.counts.duplicates, 0U) << text;
        EXPECT_THAT(result.warnings, IsEmpty()) << text;
      }
    }
  }
}

TEST(MatrixMarket, EntriesAreEdges) {
  std::vector<EdgeBlock> blocks{{{{0, 1}, {2, 0}}, {-0.5, 0}}};
  EXPECT_EQ(read(real + "3 3 2\n1 2 -.5\n3 1 0\n", {.directed = true}).dataset.graph,
            build_graph(3, blocks, {.directed = true}));
  const ReadResult loops = read(pattern + "2 2 3\n1 1\n2 2\n2 1\n");
  EXPECT_EQ(loops.counts.self_loops, 2U);
  EXPECT_EQ(loops.dataset.graph.edges(), 1U);
  // A matrix with the same entry twice, and one with both of its places.
  EXPECT_EQ(read(real + "2 2 2\n1 2 3\n1 2 3\n").counts.duplicates, 1U);
  EXPECT_EQ(read(real + "2 2 2\n1 2 3\n2 1 3\n").counts.duplicates, 0U);
  EXPECT_EQ(read(pattern + "0 0 0\n").dataset.graph, Graph());
  EXPECT_EQ(read(pattern + "5 5 0\n").dataset.graph.nodes(), 5U);
}

TEST(MatrixMarket, SymmetricAsDirectedHasBothArcs) {
  const Graph graph = read(pattern + "3 3 2\n2 1\n3 2\n", {.directed = true}).dataset.graph;
  EXPECT_EQ(graph, as_directed(build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}})));
}

TEST(MatrixMarket, WhatIsNoGraphIsRefused) {
  const auto banner = [](std::string_view words) {
    return "%%MatrixMarket " + std::string(words) + "\n2 2 1\n2 1 1\n";
  };
  EXPECT_THAT(read_error(banner("matrix array real general")), HasSubstr("'array'"));
  EXPECT_THAT(read_error(banner("vector coordinate real general")), HasSubstr("'vector'"));
  EXPECT_THAT(read_error(banner("matrix coordinate complex general")), HasSubstr("'complex'"));
  EXPECT_THAT(read_error(banner("matrix coordinate real skew-symmetric")),
              HasSubstr("'skew-symmetric'"));
  EXPECT_THAT(read_error(banner("matrix coordinate real hermitian")), HasSubstr("'hermitian'"));
  EXPECT_THAT(read_error(banner("matrix")), HasSubstr("line 1"));
  EXPECT_THAT(read_error(pattern + "2 3 1\n2 1\n"), HasSubstr("line 2: the matrix is 2 x 3"));
}

TEST(MatrixMarket, PromisesAreChecked) {
  EXPECT_THAT(read_error(pattern + "2 2 1000000000000000000\n2 1\n"),
              HasSubstr("line 2: promises 1000000000000000000 entries"));
  EXPECT_THAT(read_error(pattern + "99999999999999999999 99999999999999999999 1\n2 1\n"),
              HasSubstr("line 2: 18446744073709551615 nodes"));
  EXPECT_THAT(read_error(pattern + "1000000000 1000000000 1\n2 1\n"), HasSubstr("not credible"));
  EXPECT_THAT(read_error(pattern + "3 3 2\n2 1   \n"), HasSubstr("promises 2 entries, but 1 "));
  EXPECT_THAT(read_error(pattern + "3 3 2\n2 1\n3 1\n3 2\n"),
              HasSubstr("promises 2 entries, but 3 follow"));
  EXPECT_THAT(read_error(pattern + "0 0 1\n1 1\n"), HasSubstr("no rows"));
  for (const std::string& text :
       {pattern, pattern + "% sizes are missing\n", pattern + "3 3\n2 1\n", pattern + "3 3 x\n",
        pattern + "3 3 1 1\n", std::string("hello")}) {
    EXPECT_THAT(read_error(text), HasSubstr("has no line 'rows columns entries'")) << text;
  }
}

TEST(MatrixMarket, ContradictionsAreErrorsUnlessLenient) {
  std::vector<EdgeBlock> larger{{{{0, 1}, {1, 2}}, {5, 7}}};
  const Graph weighted = build_graph(3, larger);
  const std::string general = real + "3 3 3\n1 2 5\n2 3 6\n3 2 7\n";
  EXPECT_THAT(read_error(general),
              HasSubstr("a.mtx: edge 2-3 has two weights, 7 and 6; the option directed"));
  EXPECT_EQ(read(general, {.lenient = true}).dataset.graph, weighted);
  EXPECT_EQ(read(general, {.directed = true}).dataset.graph.edges(), 3U);
  const std::string repeated = real + "3 3 3\n1 2 5\n2 3 6\n2 3 7\n";
  EXPECT_THAT(error_of<Error>([&] { read(repeated, {.directed = true}); }),
              HasSubstr("edge 2-3 has two weights, 7 and 6; the option lenient"));
  EXPECT_THAT(read(repeated, {.lenient = true}).warnings, ElementsAre(HasSubstr("two weights")));
  // A pattern, or a weight at one place alone, is an edge.
  EXPECT_EQ(read(real + "3 3 2\n1 2 5\n3 2 7\n").dataset.graph, weighted);

  const std::string both = pattern + "3 3 3\n2 1\n1 2\n3 2\n";
  EXPECT_THAT(read_error(both), HasSubstr("line 1: says symmetric"));
  const ReadResult lenient = read(both, {.lenient = true});
  EXPECT_EQ(lenient.dataset.graph.edges(), 2U);
  EXPECT_THAT(lenient.warnings, ElementsAre(HasSubstr("entries of both are, 1 of them twice")));
  EXPECT_THAT(read(pattern + "3 3 2\n2 1\n2 3\n").warnings, IsEmpty());

  EXPECT_THAT(read(pattern + "3 3 2\n2 1\n", {.lenient = true}).warnings,
              ElementsAre(HasSubstr("line 2: promises 2 entries, but 1 follow (is it cut off?)")));
  const ReadResult grown = read(pattern + "3 3 2\n2 1\n5 1\n", {.lenient = true});
  EXPECT_EQ(grown.dataset.graph.nodes(), 5U);
  EXPECT_THAT(grown.warnings, ElementsAre(HasSubstr("line 2: promises 3 nodes, but there are 5")));
}

TEST(MatrixMarket, BadLinesAreNamed) {
  const auto expect = [](const std::string& head, std::string_view line, std::string_view what) {
    EXPECT_THAT(read_error(head + "9 9 2\n2 1" + (head == real ? " 5" : "") + "\n" +
                           std::string(line) + "\n"),
                testing::AllOf(HasSubstr("a.mtx: line 4: "), HasSubstr(std::string(what))))
        << line;
  };
  expect(pattern, "0 1", "'0' is not a node id; expected a whole number from 1 to 9");
  expect(pattern, "10 1", "'10'");
  expect(pattern, "1 -1", "'-1'");
  expect(pattern, "1.5 1", "'1.5'");
  expect(pattern, "1       ", "ends too early");
  expect(pattern, "2 1 7", "has a third column, '7'");
  expect(real, "3 1     ", "has no weight");
  expect(real, "3 1 nan", "not finite");
  expect(real, "3 1 x", "'x' is not a number");
  expect(real, "3 1 1 0", "goes on with '0'");
}

TEST(MatrixMarket, EveryTruncationIsAnErrorOrSmaller) {
  const std::string text = real + "% c\n4 4 3\n1 2 0.5\n3 4 2\n4 1 17\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      EXPECT_LE(read(text.substr(0, length), {}, 16).dataset.graph.edges(), 3U);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.mtx"));
    }
  }
}

TEST(MatrixMarket, ALostBannerIsTold) {
  const auto lost = [](std::string_view text) {
    return is_bannerless_matrix_market(Input("a.mtx", text));
  };
  EXPECT_TRUE(lost("4 4 2\n2 1\n3 2\n"));
  EXPECT_TRUE(lost("% c\n4 4 2\n\n2 1 .5\n% d\n3 2 .5\n"));
  EXPECT_FALSE(lost("4 4 2\n2 1\n"));
  EXPECT_FALSE(lost("4 4 2\n2 1\n3 2\n4 3\n"));
  EXPECT_FALSE(lost("2 1\n3 2\n"));
  EXPECT_FALSE(lost("1 2 0.5\n3 2 4\n"));
  EXPECT_FALSE(lost(""));
  EXPECT_FALSE(lost(pattern + "4 4 2\n2 1\n3 2\n"));
}

}  // namespace
}  // namespace ngf::io
