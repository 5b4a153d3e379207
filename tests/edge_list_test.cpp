#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf::io {
namespace {

using test::error_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ReadResult read(std::string_view text, const ReadOptions& options = {},
                std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return read_edge_list(Input("list", text), options, piece_bytes);
}

std::string read_error(std::string_view text, const ReadOptions& options = {},
                       std::size_t piece_bytes = PieceOptions::default_piece_bytes) {
  return error_of<Error>([&] { read(text, options, piece_bytes); });
}

Graph path_of_three() { return build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}}); }

Graph weighted_path() {
  std::vector<EdgeBlock> blocks{{{{0, 1}, {1, 2}}, {0.5, 2}}};
  return build_graph(3, std::move(blocks));
}

TEST(EdgeList, DialectsOfOnePath) {
  for (const std::string_view text : {
           "0 1\n1 2\n",                             // the plainest
           "1 2\n2 3\n",                             // counted from 1
           "0\t1\n1\t2\n",                           // tabs
           "0,1\n1,2\n",                             // commas
           "0, 1\n1 ,2\n",                           // and blanks around them
           "0 1\r\n1 2\r\n",                         // DOS
           "0 1\n1 2",                               // no end of the last line
           "0 1\r\n1 2\r",                           // half of one
           "\357\273\2770 1\n1 2\n",                 // a byte order mark
           "# a\n% b\n\n0 1\n  # c\n \t\n1 2\n",     // comments and blank lines
           "source,target\n0,1\n1,2\n",              // names of columns
           "\"from\" \"to\"\n0 1\n1 2\n",            // in quotes
           "   0     1  \n   1     2\t\n",           // padded columns
           "0 1 # first\n1 2 % second\n",            // comments behind edges
           "0 1 {}\n1 2 {}\n",                       // NetworkX
           "0 1,\n1 2,\n",                           // an empty third column
           "00000000001 2\n000000000000000002 3\n",  // zeros before the number
           "0 1\n1 2\n2 1\n0 0\n",                   // twice, and a self-loop
           "0 1 1\n1 2 1.0\n",                       // weights that say nothing
       }) {
    for (const std::size_t piece_bytes : {1U, 5U, 16U, 1U << 20}) {
      const ReadResult result = read(text, {}, piece_bytes);
      EXPECT_EQ(result.dataset.graph, path_of_three()) << text;
      EXPECT_THAT(result.original_ids, IsEmpty()) << text;
      EXPECT_THAT(result.warnings, IsEmpty()) << text;
    }
  }
}

TEST(EdgeList, DialectsOfOneWeightedPath) {
  for (const std::string_view text : {
           "0 1 0.5\n1 2 2\n",
           "1,2,.5\r\n2,3,+2e0\r\n",
           "source\ttarget\tweight\n0\t1\t5e-1\n1\t2\t2.\n",
           "0 1 0.5 # half\n1 2 2 # two\n",
           "0 1 {'weight': 0.5}\n1 2 {'weight': 2}\n",
           "0 1 {\"weight\":0.5}\n1 2 {\"weight\":2.0}\n",
       }) {
    EXPECT_EQ(read(text, {}, 16).dataset.graph, weighted_path()) << text;
  }
}

TEST(EdgeList, WhatIsSkippedIsSaid) {
  const ReadResult konect = read("1 2 0.5 1167609600\n2 3 2 1167609601\n");
  EXPECT_EQ(konect.dataset.graph, weighted_path());
  EXPECT_THAT(konect.warnings, ElementsAre(HasSubstr("columns after the weight")));
  const ReadResult networkx = read("0 1 {'weight': 0.5, 'c': 'red'}\n1 2 {'weight': 2}\n");
  EXPECT_EQ(networkx.dataset.graph, weighted_path());
  EXPECT_THAT(networkx.warnings, ElementsAre(HasSubstr("skipped")));
  const ReadResult colours = read("0 1 {'c': 1}\n1 2 {}\n");
  EXPECT_EQ(colours.dataset.graph, path_of_three());
  EXPECT_THAT(colours.warnings, ElementsAre(HasSubstr("skipped")));
}

TEST(EdgeList, TwoWeightsOfOneEdgeAreAnErrorUnlessLenient) {
  const std::string_view text = "5 7 0.25\n7 9 2\n7 5 0.5\n";
  EXPECT_THAT(read_error(text),
              HasSubstr("list: edge 5-7 has two weights, 0.5 and 0.25; the option directed"));
  const ReadResult lenient = read(text, {.lenient = true});
  EXPECT_EQ(lenient.dataset.graph, weighted_path());
  EXPECT_THAT(lenient.warnings, ElementsAre("edge 5-7 has two weights, 0.5 and 0.25; the largest "
                                            "weight is kept"));
  EXPECT_EQ(read(text, {.directed = true}).dataset.graph.edges(), 3U);
  EXPECT_THAT(read_error("1 2 1\n2 3 4\n1 2 2\n3 2 5\n3 3 1\n3 3 2\n"),
              HasSubstr("edge 1-2 has two weights, 2 and 1, and 1 more entries differ"));
  EXPECT_THAT(read_error("0 1 1\n0 1 2\n", {.directed = true}), HasSubstr("edge 0-1"));
  EXPECT_EQ(read("0 1 3\n1 0 3\n").counts.duplicates, 1U);
}

TEST(EdgeList, OurCommentCountsTheEdges) {
  const auto list = [](std::string_view rest) { return "# ngf edge list: " + std::string(rest); };
  EXPECT_EQ(read(list("edges=2 nodes=3 base=0 directed=no\n0 1\n1 2\n")).dataset.graph,
            path_of_three());
  const std::string cut = list("edges=3 nodes=4 base=0 directed=no\n0 1\n1 2\n");
  EXPECT_THAT(
      read_error(cut),
      HasSubstr(
          "list: line 1: promises 3 edges, but 2 follow (is it cut off?); the option lenient"));
  EXPECT_EQ(read(cut, {.lenient = true}).dataset.graph.edges(), 2U);
  EXPECT_THAT(read(cut, {.lenient = true}).warnings, ElementsAre(HasSubstr("but 2 follow")));
  EXPECT_THAT(read_error(list("edges=1 nodes=4\n0 1\n1 2\n")), HasSubstr("but 2 follow"));
  EXPECT_THAT(read_error(list("edges=1 nodes=20\n0 1")), HasSubstr("newline (is it cut off?)"));
  EXPECT_EQ(read(list("edges=1 nodes=20\n0 1"), {.lenient = true}).dataset.graph.nodes(), 20U);
  const ReadResult grown = read(list("nodes=2\n0 1\n0 2\n"), {.lenient = true});
  EXPECT_EQ(grown.dataset.graph.nodes(), 3U);
  EXPECT_THAT(grown.warnings, ElementsAre(HasSubstr("line 1: promises 2 nodes, but there are 3")));
}

TEST(EdgeList, Counts) {
  const ReadResult result = read("0 1\n1 0\n0 1\n2 2\n1 2\n");
  EXPECT_EQ(result.counts.duplicates, 2U);
  EXPECT_EQ(result.counts.self_loops, 1U);
  EXPECT_EQ(result.dataset.graph.edges(), 2U);
  const ReadResult arcs = read("0 1\n1 0\n0 1\n2 2\n1 2\n", {.directed = true});
  EXPECT_EQ(arcs.counts.duplicates, 1U);
  EXPECT_EQ(arcs.dataset.graph.edges(), 3U);
  EXPECT_EQ(read("0 1\n1 1\n", {.keep_self_loops = true}).dataset.graph.self_loops(), 1U);
}

// Rows when the smallest id is 0 or 1 and at least half of the range occurs.
TEST(EdgeList, IdsAreRowsOrNames) {
  EXPECT_EQ(read("0 7\n1 6\n").dataset.graph.nodes(), 8U);  // 4 of 0..7: just half
  EXPECT_EQ(read("1 8\n2 7\n").dataset.graph.nodes(), 8U);  // 4 of 1..8

  const ReadResult sparse = read("0 8\n1 6\n");  // 4 of 0..8
  EXPECT_EQ(sparse.dataset.graph, build_graph(4, std::vector<Edge>{{0, 3}, {1, 2}}));
  EXPECT_THAT(sparse.original_ids, ElementsAre(0, 1, 6, 8));

  const ReadResult late = read("3 2\n4 3\n");
  EXPECT_EQ(late.dataset.graph, path_of_three());
  EXPECT_THAT(late.original_ids, ElementsAre(2, 3, 4));

  const ReadResult far = read("4294967294 7\n7 123456789\n");
  EXPECT_EQ(far.dataset.graph, build_graph(3, std::vector<Edge>{{2, 0}, {0, 1}}));
  EXPECT_THAT(far.original_ids, ElementsAre(7, 123456789, 4294967294));
}

TEST(EdgeList, TheMeaningOfIdsCanBeForced) {
  const ReadResult compact = read("0 2\n", {.ids = Ids::compact});
  EXPECT_EQ(compact.dataset.graph.nodes(), 2U);
  EXPECT_THAT(compact.original_ids, ElementsAre(0, 2));
  EXPECT_THAT(read("1 3\n", {.ids = Ids::compact, .base = 1}).original_ids, ElementsAre(1, 3));
  EXPECT_EQ(read("0 100\n", {.ids = Ids::rows}).dataset.graph.nodes(), 101U);
  EXPECT_EQ(read("1 100\n", {.ids = Ids::rows}).dataset.graph.nodes(), 100U);
  EXPECT_EQ(read("5 100\n", {.ids = Ids::rows}).dataset.graph.nodes(), 100U);
  EXPECT_EQ(read("5 100\n", {.base = 0}).dataset.graph.nodes(), 101U);
  EXPECT_EQ(read("1 2\n", {.base = 0}).dataset.graph, build_graph(3, std::vector<Edge>{{1, 2}}));
  EXPECT_EQ(read("1 2\n", {.base = 1}).dataset.graph, build_graph(2, std::vector<Edge>{{0, 1}}));
  EXPECT_THAT(read_error("1 2\n0 1\n", {.base = 1}), HasSubstr("line 2: '0' is not a node id"));
  EXPECT_THAT(read_error("0 4294967294\n", {.ids = Ids::rows}), HasSubstr("4294967295 nodes"));
}

TEST(EdgeList, OurCommentSaysWhatTheEdgesDoNot) {
  const auto list = [](std::string_view rest) { return "# ngf edge list: " + std::string(rest); };
  EXPECT_EQ(read(list("nodes=5 base=0 directed=no\n1 2\n")).dataset.graph,
            build_graph(5, std::vector<Edge>{{1, 2}}));
  EXPECT_EQ(read(list("nodes=5 base=1\n1 2\n")).dataset.graph,
            build_graph(5, std::vector<Edge>{{0, 1}}));
  EXPECT_EQ(read(list("nodes=0 base=0 directed=no\n")).dataset.graph, Graph());
  EXPECT_EQ(read(list("nodes=3\n")).dataset.graph.nodes(), 3U);
  EXPECT_EQ(read(list("nodes=9\n0 8\n"), {.ids = Ids::compact}).dataset.graph.nodes(), 2U);
  EXPECT_THAT(read(list("nodes=2 directed=yes\n1 0\n")).warnings,
              ElementsAre(HasSubstr("directed")));
  EXPECT_THAT(read(list("nodes=2 directed=yes\n1 0\n"), {.directed = true}).warnings, IsEmpty());

  EXPECT_THAT(read_error(list("nodes=2\n0 1\n0 2\n")),
              HasSubstr("line 3: '2' is not a node id; expected a whole number from 0 to 1"));
  EXPECT_THAT(read_error(list("nodes=0\n0 1\n")), HasSubstr("line 2"));
  EXPECT_THAT(read_error(list("nodes=1000000000000000000\n0 1\n")), HasSubstr("line 1"));
  EXPECT_THAT(read_error(list("nodes=99999999\n0 1\n")), HasSubstr("not credible"));
  for (const std::string_view bad : {"nodes=x", "nodes5", "nodes", "nodes=", "base=2", "base=-1",
                                     "directed=maybe", ",,", "nodes=3x", "colour=red"}) {
    EXPECT_THAT(read_error(list(std::string(bad) + "\n0 1\n")), HasSubstr("not understood"));
  }
}

TEST(EdgeList, BadLinesAreNamed) {
  const auto expect = [](std::string_view line, std::string_view what) {
    const std::string text = "# comment\n0 1\n\n1 2\n" + std::string(line) + "\n2 3\n";
    for (const std::size_t piece_bytes : {1U, 7U, 1U << 20}) {
      for (const int threads : {1, 3}) {
        EXPECT_THAT(read_error(text, {.threads = threads}, piece_bytes),
                    AllOf(HasSubstr("list: line 5: "), HasSubstr(std::string(what))))
            << line;
      }
    }
  };
  expect("-1 2", "'-1' is not a node id; expected a whole number from 0 to 4294967294");
  expect("1 -2", "'-2'");
  expect("1.5 2", "'1.5'");
  expect("1.0 2", "'1.0'");
  expect("nan 2", "'nan'");
  expect("inf 2", "'inf'");
  expect("1 4294967295", "'4294967295'");
  expect("18446744073709551616 1", "'18446744073709551616'");
  expect("99999999999999999999999999 1", "'99999999999999999999999999'");
  expect("1e3 2", "'1e3'");
  expect("0x10 2", "'0x10'");
  expect("alice bob", "'alice'");
  expect(R"("1" "2")", R"('"1"')");
  expect("1;2", "'1;2'");
  expect("1", "ends too early");
  expect("1,", "ends too early");
  expect("1,,2", "''");
  expect("1 2\r3 4", "'2?3'");
  expect("1 2 0.5", "has a weight, but lines before it have none");
  expect(std::string(100, '9') + " 1", "'9999999999999999999999999999999999999999...'");
  expect("\x01\x7F\xFF 1", std::string(3, '?'));
}

TEST(EdgeList, BadWeightsAreNamed) {
  const auto expect = [](std::string_view line, std::string_view what) {
    const std::string text = "0 1 2.5\n" + std::string(line) + "\n2 3 1\n";
    EXPECT_THAT(read_error(text, {}, 8), AllOf(HasSubstr("line 2: "), HasSubstr(std::string(what))))
        << line;
  };
  expect("1 2", "has no weight");
  expect("1 2 # 3", "has no weight");
  expect("1 2 {}", "has no weight");
  expect("1 2 nan", "'nan' is not finite");
  expect("1 2 -inf", "'-inf' is not finite");
  expect("1 2 1e400", "'1e400' is not a number");
  expect("1 2 heavy", "'heavy' is not a number");
  expect("1 2 \"3\"", "is not a number");
  expect("1 2 +-3", "is not a number");
  expect("1 2 {'weight': nan}", "not a finite number");
  expect("1 2 {'weight': }", "not a finite number");
}

TEST(EdgeList, NothingIsNoGraph) {
  for (const std::string_view text :
       {"", "\n", "# only a comment\n", "source target\n", " \t\r\n"}) {
    EXPECT_THAT(read_error(text), HasSubstr("list: holds no edges")) << text;
  }
}

TEST(EdgeList, EndlessLinesAreRefused) {
  const std::string digits(std::size_t{3} << 20, '7');
  EXPECT_THAT(read_error(digits), HasSubstr("line 1: is longer than 1048576 bytes"));
  EXPECT_THAT(read_error("0 1\n1 2\n" + digits, {}, 1U << 18),
              HasSubstr("line 3: is longer than 1048576 bytes"));
}

std::string shuffled_lines(const std::vector<Edge>& edges, Random& random) {
  std::vector<Edge> shuffled = edges;
  for (std::size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[random.below(i)]);
  }
  std::string text;
  for (auto [from, to] : shuffled) {
    if (random.chance(0.5)) std::swap(from, to);
    text += std::to_string(from) + " " + std::to_string(to) + "\n";
  }
  return text;
}

TEST(EdgeList, OrderPiecesAndThreadsDoNotMatter) {
  Random random(1);
  const NodeId nodes = 200;
  const std::vector<Edge> edges = test::random_edges(nodes, 1000, 1);
  const Graph expected = build_graph(nodes, edges);
  for (int round = 0; round < 5; ++round) {
    const std::string text = shuffled_lines(edges, random);
    for (const std::size_t piece_bytes : {3U, 16U, 1000U, 1U << 20}) {
      for (const int threads : {1, 2}) {
        const ReadResult result =
            read(text, {.ids = Ids::rows, .base = 0, .threads = threads}, piece_bytes);
        // The last nodes may have no edge.
        EXPECT_EQ(result.dataset.graph.edges(), expected.edges());
        EXPECT_EQ(std::vector<NodeId>(result.dataset.graph.targets().begin(),
                                      result.dataset.graph.targets().end()),
                  std::vector<NodeId>(expected.targets().begin(), expected.targets().end()));
      }
    }
  }
}

TEST(EdgeList, NamesOfNodesDoNotMatter) {
  // Increasing names, so that compaction gives back the same numbers.
  const NodeId nodes = 60;
  const std::vector<Edge> edges = test::random_edges(nodes, 400, 2);
  Random random(3);
  for (const std::uint64_t stride : {3U, 1000U, 50000000U}) {
    std::vector<NodeId> name(nodes);
    std::uint64_t next = 2;
    for (NodeId& id : name) {
      id = static_cast<NodeId>(next);
      next += 1 + random.below(stride);
    }
    std::vector<Edge> renamed;
    renamed.reserve(edges.size());
    for (const auto [from, to] : edges) renamed.push_back({name[from], name[to]});
    for (const std::size_t piece_bytes : {16U, 1U << 20}) {
      const ReadResult result = read(shuffled_lines(renamed, random), {.threads = 2}, piece_bytes);
      EXPECT_EQ(result.dataset.graph, build_graph(nodes, edges));
      EXPECT_EQ(result.original_ids, name);
    }
  }
}

TEST(EdgeList, EveryTruncationIsAnErrorOrSmaller) {
  const std::string text =
      "# ngf edge list: nodes=12 base=0 directed=no\n0,11,0.5\n1 , 10 ,2e3\r\n"
      "2\t9\t{'weight': 4}\n";
  const std::uint64_t edges = read(text).dataset.graph.edges();
  for (std::size_t length = 0; length < text.size(); ++length) {
    for (const std::size_t piece_bytes : {4U, 1U << 20}) {
      try {
        const ReadResult result = read(text.substr(0, length), {}, piece_bytes);
        EXPECT_LE(result.dataset.graph.edges(), edges);
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("list"));
      }
    }
  }
}

class Stopping : public Progress {
 public:
  bool stop_requested() const override { return true; }
};

TEST(EdgeList, CanBeStopped) {
  Stopping progress;
  EXPECT_THROW(read("0 1\n", {.progress = &progress}), Interrupted);
}

}  // namespace
}  // namespace ngf::io
