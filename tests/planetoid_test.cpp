#include "io/planetoid.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <numeric>

#include "ngf/error.hpp"
#include "tests/binary_bytes.hpp"
#include "tests/support.hpp"

namespace {

using namespace ngf::test;  // the makers of pickles
using ngf::Dataset;
using ngf::Error;
using ngf::MatrixF;
using ngf::NodeId;
using ngf::SparseMatrixF;
using ngf::io::Input;
using ngf::io::read_planetoid;
using ngf::io::ReadOptions;
using ngf::io::ReadResult;
using testing::ElementsAre;
using testing::HasSubstr;

using Files = std::map<std::string, std::string>;

ReadResult read(const Files& files, const ReadOptions& options = {}) {
  const auto input = [&](const char* ending) {
    return Input("ind.tiny." + std::string(ending), files.at(ending));
  };
  const Input x = input("x");
  const Input y = input("y");
  const Input tx = input("tx");
  const Input ty = input("ty");
  const Input allx = input("allx");
  const Input ally = input("ally");
  const Input graph = input("graph");
  const Input test_index = input("test.index");
  return read_planetoid({x, y, tx, ty, allx, ally, graph, test_index}, options);
}

std::string refusal(const std::string& ending, const std::string& bytes) {
  Files files = tiny_planetoid();
  files[ending] = bytes;
  return error_of<Error>([&] { read(files); });
}

TEST(Planetoid, PutsTheEightFilesTogether) {
  const ReadResult result = read(tiny_planetoid());
  const Dataset& dataset = result.dataset;
  EXPECT_EQ(result.format, ngf::io::Format::planetoid);
  EXPECT_EQ(dataset.graph.nodes(), 6U);
  EXPECT_EQ(dataset.graph.edges(), 4U);
  EXPECT_EQ(result.counts.self_loops, 1U);
  EXPECT_EQ(result.counts.duplicates, 1U);
  MatrixF features(6, 3);
  // Row 0 of tx is node 5, row 1 is node 3.
  features << 1, 0, 0, 0, 0, 0, 0.5F, 0, 2, 0, 0, 3, 0, 0, 0, 0, 5, 0;
  EXPECT_EQ(MatrixF(std::get<SparseMatrixF>(dataset.features)), features);
  EXPECT_THAT(dataset.labels, ElementsAre(0, 1, 1, 0, -1, 1));
  ASSERT_EQ(dataset.splits.size(), 1U);
  EXPECT_THAT(dataset.splits[0].train, ElementsAre(0));
  EXPECT_THAT(dataset.splits[0].validation, ElementsAre(1, 2));
  EXPECT_THAT(dataset.splits[0].test, ElementsAre(3, 5));
}

TEST(Planetoid, HonoursTheOptions) {
  Files files = tiny_planetoid();
  files["graph"] = pickle(pickled_graph({{0, 1}, {}, {}, {}, {}, {}}));
  const ReadResult result = read(files, {.directed = true, .keep_self_loops = true});
  EXPECT_TRUE(result.dataset.graph.directed());
  EXPECT_EQ(result.dataset.graph.self_loops(), 1U);
  EXPECT_EQ(result.dataset.graph.arcs(), 2U);
}

TEST(Planetoid, NamesTheFileThatIsWrong) {
  const auto matrix = [](std::int64_t rows, std::int64_t cols) {
    return pickle(pickled_csr(
        rows, cols, std::vector<std::int32_t>(static_cast<std::size_t>(rows) + 1, 0), {}, {}));
  };
  EXPECT_THAT(refusal("x", matrix(2, 3)),
              HasSubstr("ind.tiny.y: has 1 rows, but ind.tiny.x has 2"));
  EXPECT_THAT(refusal("x", matrix(1, 4)), HasSubstr("ind.tiny.x: has 4 columns"));
  EXPECT_THAT(refusal("tx", matrix(3, 3)), HasSubstr("ind.tiny.ty: has 2 rows"));
  EXPECT_THAT(refusal("tx", matrix(2, 2)), HasSubstr("ind.tiny.tx: has 2 columns"));
  EXPECT_THAT(refusal("allx", matrix(4, 3)), HasSubstr("ind.tiny.ally: has 3 rows"));
  EXPECT_THAT(refusal("y", pickle(pickled_ints({1, 3}, {0, 0, 1}))), HasSubstr("3 columns"));
  EXPECT_THAT(refusal("ty", pickle(pickled_ints({2, 1}, {1, 1}))), HasSubstr("1 columns"));
  EXPECT_THAT(refusal("ty", pickle(pickled_ints({2}, {1, 1}))), HasSubstr("1 dimensions"));
  EXPECT_THAT(refusal("ty", pickle(pickled_ints({2, 0}, {}))), HasSubstr("no class"));
  EXPECT_THAT(refusal("ally", pickle(pickled_ints({3, 2}, {1, 0, 1, 1, 0, 1}))),
              HasSubstr("ind.tiny.ally: row 1 is not one-hot"));
  EXPECT_THAT(refusal("ally", pickle(pickled_ints({3, 2}, {1, 0, 0, 2, 0, 1}))),
              HasSubstr("row 1 is not one-hot"));
  EXPECT_THAT(refusal("graph", pickle("N")), HasSubstr("ind.tiny.graph: the pickle is None"));
  EXPECT_THAT(refusal("graph", pickle(pickled_graph({{6}}))), HasSubstr("node 6; expected 0..5"));
  EXPECT_THAT(refusal("graph", pickle(pickled_graph({{-1}}))), HasSubstr("node -1"));
  EXPECT_THAT(refusal("graph", pickle("}(K\1K\1u")), HasSubstr("expected a list"));
  EXPECT_THAT(refusal("graph", pickle("}(K\1]K\1]u")), HasSubstr("node 1 twice"));
}

TEST(Planetoid, ChecksTheTestIndex) {
  EXPECT_THAT(refusal("test.index", "5\n"), HasSubstr("ind.tiny.test.index: has 1 rows"));
  EXPECT_THAT(refusal("test.index", "5\n5\n"), HasSubstr("entry 1 is 5"));
  EXPECT_THAT(refusal("test.index", "5\n2\n"), HasSubstr("entry 1 is 2"));
  EXPECT_THAT(refusal("test.index", "5\r\n\r\nx\n"), HasSubstr("line 3: 'x"));
  EXPECT_THAT(refusal("test.index", "5\n3.5\n"), HasSubstr("line 2: '3.5'"));
  EXPECT_THAT(refusal("test.index", "-5\n3\n"), HasSubstr("line 1: '-5'"));
  EXPECT_THAT(refusal("test.index", "5\n99999999999\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("test.index", "5\n4294967290\n"), HasSubstr("4294967291 nodes"));
  Files files = tiny_planetoid();
  files["test.index"] = "5\r\n 3 ";
  EXPECT_EQ(read(files).dataset.graph, read(tiny_planetoid()).dataset.graph);
}

TEST(Planetoid, CountsAListThatManyNodesShare) {
  // 6 nodes, all with the same 250 neighbours, in 1 kB: legal Python, but edges without bytes.
  std::string body = "}(";
  for (char node = 0; node < 6; ++node) {
    body += std::string("K") + node;
    if (node == 0) {
      body += "]q\1(";
      for (int i = 0; i < 250; ++i) body += "K\1";
      body += "e";
    } else {
      body += "h\1";
    }
  }
  EXPECT_THAT(refusal("graph", pickle(body + "u")), HasSubstr("more neighbours than it has bytes"));
}

TEST(Planetoid, SaysWhichFileIsMissing) {
  const auto folder = temp_file("marker").parent_path();
  for (const auto& [ending, bytes] : tiny_planetoid()) temp_file("ind.tiny." + ending, bytes);
  EXPECT_EQ(read_planetoid(folder, "tiny").dataset.graph.edges(), 4U);
  std::filesystem::remove(folder / "ind.tiny.tx");
  EXPECT_THAT(error_of<Error>([&] { read_planetoid(folder, "tiny"); }),
              AllOf(HasSubstr(folder.string()), HasSubstr("ind.tiny.tx")));
}

struct Known {
  std::string name;
  NodeId nodes;
  std::int64_t features;
  std::int32_t classes;
  std::size_t train;
  std::size_t unknown;
};

class PlanetoidData : public testing::TestWithParam<Known> {};

TEST_P(PlanetoidData, MatchesThePapers) {
  NGF_NEED_DATA(data);
  const Known& known = GetParam();
  const ReadResult result = read_planetoid(data / "planetoid", known.name);
  const Dataset& dataset = result.dataset;
  EXPECT_EQ(dataset.graph.nodes(), known.nodes);
  EXPECT_EQ(dataset.feature_count(), known.features);
  EXPECT_EQ(dataset.class_count(), known.classes);
  const auto& split = dataset.splits.at(0);
  EXPECT_EQ(split.train.size(), known.train);
  EXPECT_EQ(split.validation.size(), 500U);
  EXPECT_EQ(split.test.size(), 1000U);
  std::vector<NodeId> first(known.train + 500);
  std::iota(first.begin(), first.end(), 0U);
  std::vector<NodeId> both = split.train;
  both.insert(both.end(), split.validation.begin(), split.validation.end());
  EXPECT_EQ(both, first);
  const auto& features = std::get<SparseMatrixF>(dataset.features);
  ASSERT_EQ(features.rows(), known.nodes);
  std::size_t unknown = 0;
  for (NodeId u = 0; u < known.nodes; ++u) {
    if (dataset.labels[u] != -1) continue;
    ++unknown;
    EXPECT_GE(u, 2312U);
    EXPECT_EQ(features.row(u).nonZeros(), 0);
    EXPECT_FALSE(std::binary_search(split.test.begin(), split.test.end(), u));
  }
  EXPECT_EQ(unknown, known.unknown);
}

INSTANTIATE_TEST_SUITE_P(All, PlanetoidData,
                         testing::Values(Known{"cora", 2708, 1433, 7, 140, 0},
                                         Known{"citeseer", 3327, 3703, 6, 120, 15},
                                         Known{"pubmed", 19717, 500, 3, 60, 0}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
