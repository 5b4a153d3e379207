#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
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

std::string read_error(std::string_view text, const ReadOptions& options = {}) {
  return error_of<Error>([&] { read(text, options); });
}

std::vector<std::string> names_in(const Dataset& dataset) {
  std::vector<std::string> names;
  for (std::size_t u = 0; u < dataset.names.size(); ++u) names.emplace_back(dataset.names[u]);
  return names;
}

Graph path_of_three() { return build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}}); }

TEST(EdgeListNames, AreNumberedAsTheyAppear) {
  for (const std::string_view text : {
           "zoe adam\nadam bob\n",                       // blanks
           "zoe\tadam\r\nadam\tbob",                     // tabs, DOS, no last newline
           "zoe, adam\nadam ,bob\n",                     // commas and blanks
           "\"zoe\",\"adam\"\n\"adam\",bob\n",           // in quotes
           "# a comment\n\nzoe adam {}\nadam bob {}\n",  // NetworkX
           "zoe adam # first\nadam bob % second\n",      // comments behind edges
           "source,target\nzoe,adam\nadam,bob\n",        // known names of columns
           "From_Node_ID To_Node_ID\nzoe adam\nadam bob\n",
           "friends\nzoe adam\nadam bob\n",               // a title
           "x,y,strength\nzoe,adam,1\nadam,bob,1\n",      // a name above a column of numbers
           "\357\273\277zoe adam\nadam bob\nzoe adam\n",  // a byte order mark
       }) {
    for (const std::size_t piece_bytes : {1U, 5U, 16U, 1U << 20}) {
      const ReadResult result = read(text, {.threads = 2}, piece_bytes);
      EXPECT_EQ(result.dataset.graph, path_of_three()) << text;
      EXPECT_THAT(names_in(result.dataset), ElementsAre("zoe", "adam", "bob")) << text;
      EXPECT_THAT(result.notes, ElementsAre(HasSubstr("ids are names: 3 nodes"))) << text;
      EXPECT_THAT(result.warnings, IsEmpty()) << text;
    }
  }
}

TEST(EdgeListNames, MayBeAnyText) {
  const auto names = [](std::string_view text) { return names_in(read(text).dataset); };
  EXPECT_THAT(names("\"New York\",Boston,3.5\nBoston,Washington DC,2\n"),
              ElementsAre("New York", "Boston", "Washington DC"));
  EXPECT_THAT(names("\"Smith, \"\"J\"\"\",\"# one\"\n\"# one\",c\n"),
              ElementsAre("Smith, \"J\"", "# one", "c"));
  EXPECT_THAT(names("New York\tSan Jose\nSan Jose\tX\n"), ElementsAre("New York", "San Jose", "X"));
  EXPECT_THAT(names("\"New York\" Boston\nBoston X\n"), ElementsAre("New York", "Boston", "X"));
  EXPECT_THAT(names("P-104 P-7\nP-7 P-104\n"), ElementsAre("P-104", "P-7"));
  EXPECT_THAT(names("10.0.0.1 10.0.0.2\n"), ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(names("Z\xC3\xBCrich K\xF6ln\n"), ElementsAre("Z\xC3\xBCrich", "K\xF6ln"));
  // Once the ids are text, one of digits is a name, too.
  EXPECT_THAT(names("a b\nb c\nc a\n7 a\n"), ElementsAre("a", "b", "c", "7"));
}

TEST(EdgeListNames, NumbersWithAMistakeAreNoNames) {
  std::string long_list;
  for (int i = 0; i < 6000; ++i) {
    long_list += i == 4999 ? "5oo0 5001\n" : std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  }
  EXPECT_THAT(read_error(long_list),
              HasSubstr("line 5000: '5oo0' is not a node id; expected a whole number from 0 to "
                        "4294967294; the option ids=names takes all ids as names"));
  for (const std::string_view text : {
           "-4 1\n-3 2\n",
           "-a -1\n-2 -3\n",
           "1.5 2.5\n3.5 1.5\n",
           "nan inf\ninf nan\n",
           "1e3 2e3\n",
           "\"1\",\"2\"\n\"2\",\"3\"\n",
           "(0, 1)\n(1, 2)\n",
           "[0, 1],\n[1, 2],\n",
           "0; 1\n1; 2\n",
           "a; b\nb; c\n",
           "user1 55\nuser2 56\n",
           "55 user1\n56 user2\n",
           "station,value\nA,1.5\nB,2.5\n",
           "A,0,1\nB,1,0\n",
           ",A,B\nA,0,1\nB,1,0\n",
           "a title\nand another\n0 1\n1 2\n2 3\n3 4\n",
           "0 1\nx y\nz w\na b\n",
           "<html>\n<a b>\n<c d>\n",
           "{\"a\": 1, \"b\": 2}\n{\"a\": 2, \"b\": 3}\n",
           "digraph {\na -> b;\nb -> c;\n",
           "*Vertices 2\n1 \"a\"\n2 \"b\"\n*Edges\n1 2\n",
       }) {
    EXPECT_THAT(read_error(text), HasSubstr("not a node id")) << text;
  }
  EXPECT_THAT(read_error("This is prose\nof several words each\n"), HasSubstr("not a number"));
  EXPECT_THAT(read_error("3 3\nx y\n", {.ids = Ids::compact}), HasSubstr("'x'"));
  for (const Ids ids : {Ids::rows, Ids::compact}) {
    EXPECT_THAT(read_error("a b\nb c\n", {.ids = ids}), HasSubstr("'b' is not a node id"));
  }
  EXPECT_THAT(read_error("a b\nb c\n", {.base = 1}), HasSubstr("'b' is not a node id"));
}

TEST(EdgeListNames, CanBeForced) {
  const auto names = [](std::string_view text) {
    return names_in(read(text, {.ids = Ids::names}).dataset);
  };
  EXPECT_THAT(names("7 3\n3 007\n"), ElementsAre("7", "3", "007"));
  EXPECT_THAT(names("a,b\n7,3\n"), ElementsAre("7", "3"));
  EXPECT_THAT(names("user1 55\nuser2 55\n"), ElementsAre("user1", "55", "user2"));
  EXPECT_THAT(names("# ngf edge list: nodes=9 base=0\n0 8\n"), ElementsAre("0", "8"));
}

TEST(EdgeListNames, BadLinesAreNamed) {
  const auto expect = [](std::string_view line, std::string_view what) {
    const std::string text = "a,b\nb,c\n" + std::string(line) + "\nc,d\n";
    for (const std::size_t piece_bytes : {1U, 7U, 1U << 20}) {
      EXPECT_THAT(error_of<Error>([&] { read(text, {.threads = 2}, piece_bytes); }),
                  AllOf(HasSubstr("list: line 3: "), HasSubstr(std::string(what))))
          << line;
    }
  };
  expect("a", "ends too early; expected the names of two nodes");
  expect("a,", "ends too early");
  expect(",b", "the name of a node is empty");
  expect("\"\",b", "the name of a node is empty");
  expect("a,\"b", "has a quote without its end");
  expect("\"a\"x,b", "goes on behind a closing quote");
  expect("a,\x01", "'?' holds control characters");
  expect("a,b,1", "has a weight, but lines before it have none");
  EXPECT_THAT(read_error("a,b,1\nb,c,heavy\n"), HasSubstr("line 2: 'heavy' is not a number"));
  EXPECT_THAT(read_error("a,b,1\nb,a,2\n"), HasSubstr("edge 'a'-'b' has two weights, 2 and 1"));
}

TEST(EdgeListNames, AFirstLineThatMayBeAHeaderIsDoubted) {
  EXPECT_THAT(read("Station A,Station B\nx,y\ny,z\n").warnings,
              ElementsAre("line 1: the names 'Station A' and 'Station B' occur nowhere else; if "
                          "they are the names of columns, begin the line with #"));
  EXPECT_THAT(read("x,y\ny,z\n").warnings, IsEmpty());
  EXPECT_THAT(read("x,y\n").warnings, IsEmpty());
  EXPECT_THAT(read_error("source target\n"), HasSubstr("holds no edges"));
}

std::string written(const Dataset& dataset, const std::string& name) {
  const auto path = test::temp_file(name);
  EXPECT_THAT(write_graph(path, dataset).warnings, IsEmpty());
  return Input(path).read_all();
}

Dataset named(Graph graph, const std::vector<std::string>& names) {
  Dataset dataset;
  dataset.graph = std::move(graph);
  for (const std::string& name : names) dataset.names.push_back(name);
  return dataset;
}

TEST(EdgeListNames, AreWrittenInTheirOrder) {
  // The last node has no edge; the first two appear in the other order.
  const std::vector<std::string> names{"b c", "7", "a,\"x\"", "#1", " y ", "{z}", "lone\ttab"};
  const Dataset dataset =
      named(build_graph(7, std::vector<Edge>{{1, 2}, {0, 2}, {2, 3}, {3, 4}, {4, 5}}), names);
  for (const std::string ending : {"txt", "csv"}) {
    const std::string text = written(dataset, "names." + ending);
    EXPECT_THAT(text, HasSubstr("# ngf edge list: edges=5 nodes=7 names=yes directed=no\n"));
    const ReadResult back = read(text);
    EXPECT_EQ(back.dataset.graph, dataset.graph);
    EXPECT_EQ(back.dataset.names, dataset.names);
    EXPECT_THAT(back.notes, IsEmpty());
  }
  EXPECT_THAT(write_graph(test::temp_file("names.mtx"), dataset).warnings,
              ElementsAre(HasSubstr("the names of the nodes are not written: matrix-market")));
}

TEST(EdgeListNames, EveryTruncationIsAnError) {
  const std::string text =
      written(named(build_graph(12, std::vector<Edge>{{0, 11}, {1, 10}}),
                    {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l1"}),
              "cut.txt");
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THAT(read_error(text.substr(0, length)), HasSubstr("list")) << text.substr(0, length);
  }
}

TEST(EdgeListNames, OurCommentIsChecked) {
  const auto error = [](std::string_view rest) {
    return read_error("# ngf edge list: edges=1 " + std::string(rest));
  };
  EXPECT_THAT(error("nodes=3 names=yes\n# node a\n# node b\na b\n"),
              HasSubstr("line 1: promises 3 names of nodes, but 2 follow"));
  EXPECT_THAT(error("nodes=2 names=yes\n# node a\n# node a\na a\n"),
              HasSubstr("line 3: a second node is called 'a'"));
  EXPECT_THAT(error("nodes=1 names=yes\n# node a\na b\n"), HasSubstr("but there are 2"));
  EXPECT_THAT(error("nodes=1 names=yes\n# node \"a\" b\na b\n"), HasSubstr("line 2"));
  const ReadResult grown =
      read("# ngf edge list: edges=1 nodes=1 names=yes\n# node a\na b\n", {.lenient = true});
  EXPECT_THAT(names_in(grown.dataset), ElementsAre("a", "b"));
}

TEST(EdgeListNames, FollowTheirNodes) {
  const Dataset dataset = read("a b\nb c\nd e\n").dataset;
  EXPECT_THAT(names_in(restrict_to(dataset, std::vector<NodeId>{1, 3})), ElementsAre("b", "d"));
  EXPECT_THAT(names_in(renumber(dataset, std::vector<NodeId>{4, 3, 2, 1, 0})),
              ElementsAre("e", "d", "c", "b", "a"));
}

TEST(EdgeListNames, PiecesAndThreadsDoNotMatter) {
  Random random(7);
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text +=
        "n" + std::to_string(random.below(400)) + " n" + std::to_string(random.below(400)) + "\n";
  }
  const Dataset expected = read(text, {.threads = 1}).dataset;
  for (const std::size_t piece_bytes : {3U, 100U, 5000U}) {
    const Dataset dataset = read(text, {.threads = 3}, piece_bytes).dataset;
    EXPECT_EQ(dataset.graph, expected.graph);
    EXPECT_EQ(dataset.names, expected.names);
  }
  EXPECT_THROW(read(text, {.memory = 1000}), MemoryExceeded);
}

}  // namespace
}  // namespace ngf::io
