#include <fmt/format.h>
#include <gmock/gmock.h>
#include <zip.h>

#include <cmath>
#include <limits>
#include <random>

#include "io/formats.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "tests/binary_bytes.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Dataset;
using ngf::Edge;
using ngf::Error;
using ngf::MatrixF;
using ngf::NodeId;
using ngf::SparseMatrixF;
using ngf::io::Format;
using ngf::io::Input;
using ngf::io::ReadOptions;
using ngf::io::ReadResult;
using ngf::io::ZipArchive;
using ngf::test::doubles;
using ngf::test::edges_dataset;
using ngf::test::error_of;
using ngf::test::ints;
using ngf::test::Members;
using ngf::test::npy;
using ngf::test::npz;
using ngf::test::path_graph;
using ngf::test::raw;
using ngf::test::temp_file;
using ngf::test::zip;
using ngf::test::ZipEntry;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::array npz_formats{Format::npz_scipy, Format::npz_edges, Format::npz_csr,
                                 Format::npz_ppnp};

ReadResult read(const std::string& bytes, const ReadOptions& options = {}) {
  return read_npz(Input("g.npz", bytes), options);
}

std::string refusal(const std::string& bytes) {
  return error_of<Error>([&] { read(bytes); });
}

std::string bytes_of(const std::filesystem::path& path) { return Input(path).read_all(); }

std::string with(Members members, const std::string& name, const std::string& bytes) {
  members[name] = bytes;
  return npz(members);
}

std::string without(Members members, const std::string& name) {
  members.erase(name);
  return npz(members);
}

struct Variant {
  NodeId nodes = 0;
  bool directed = false;
  bool weighted = false;
  bool self_loops = false;
  enum { no_features, dense, sparse } features = no_features;
};

// A random data set in which some nodes are isolated, some labels unknown and some rows empty.
Dataset random_dataset(const Variant& variant, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<NodeId>(random() % bound); };
  const NodeId nodes = variant.nodes;
  ngf::EdgeBlock block;
  for (NodeId i = 0; nodes > 1 && i < 2 * nodes; ++i) {
    const Edge edge{below(nodes), below(nodes - 1)};  // the last node has no arc to it
    if (edge.from == edge.to && !variant.self_loops) continue;
    block.edges.push_back(edge);
    if (variant.weighted) block.weights.push_back(0.25 * (1 + below(100)) + 1);
  }
  if (nodes > 1 && variant.self_loops) {
    block.edges.push_back({0, 0});
    if (variant.weighted) block.weights.push_back(7);
  }
  Dataset dataset;
  dataset.graph = build_graph(
      nodes, std::vector{block},
      {.directed = variant.directed, .keep_self_loops = variant.self_loops, .threads = 1});
  if (variant.features == Variant::no_features) return dataset;
  const MatrixF values = MatrixF::Random(nodes, 5);
  if (variant.features == Variant::dense) {
    dataset.features = values;
  } else {
    dataset.features = SparseMatrixF((values.array() > 0.3F).select(values, 0.0F).sparseView());
  }
  for (NodeId u = 0; u < nodes; ++u) {
    dataset.labels.push_back(static_cast<std::int32_t>(below(4)) - 1);
  }
  dataset.splits.resize(3);
  for (NodeId u = 0; u < nodes; ++u) {
    for (auto& split : dataset.splits) {
      std::array<std::vector<NodeId>*, 3> parts{&split.train, &split.validation, &split.test};
      if (const auto part = below(4); part < 3) parts[part]->push_back(u);
    }
  }
  return dataset;
}

bool same_features(const Dataset& a, const Dataset& b) {
  if (a.features.index() != b.features.index()) return false;
  if (const auto* dense = std::get_if<MatrixF>(&a.features)) {
    return *dense == std::get<MatrixF>(b.features);
  }
  if (const auto* sparse = std::get_if<SparseMatrixF>(&a.features)) {
    const auto& other = std::get<SparseMatrixF>(b.features);
    return sparse->nonZeros() == other.nonZeros() && sparse->cols() == other.cols() &&
           MatrixF(*sparse) == MatrixF(other);
  }
  return true;
}

std::vector<Variant> all_variants() {
  std::vector<Variant> variants;
  for (const NodeId nodes : {0U, 1U, 2U, 9U, 70U}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      for (const auto features : {Variant::no_features, Variant::dense, Variant::sparse}) {
        variants.push_back({nodes, (bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0, features});
      }
    }
  }
  return variants;
}

TEST(Npz, ReadsBackWhatItWrites) {
  const auto path = temp_file("graph.npz");
  unsigned seed = 0;
  for (const Variant& variant : all_variants()) {
    const Dataset written = random_dataset(variant, ++seed);
    for (const Format format : npz_formats) {
      SCOPED_TRACE(testing::Message()
                   << "format " << static_cast<int>(format) << ", nodes " << variant.nodes
                   << ", directed " << variant.directed << ", weighted " << variant.weighted
                   << ", loops " << variant.self_loops << ", features " << variant.features);
      write_npz(path, written, format);
      const ReadResult result = read_npz(
          Input(path),
          {.directed = variant.directed, .keep_self_loops = variant.self_loops, .threads = 1});
      EXPECT_EQ(result.format, format);
      EXPECT_EQ(result.dataset.graph, written.graph);
      EXPECT_EQ(result.counts.duplicates, 0U);
      EXPECT_EQ(result.counts.self_loops, written.graph.self_loops());
      EXPECT_TRUE(result.warnings.empty());
      if (format == Format::npz_scipy) continue;
      EXPECT_TRUE(same_features(result.dataset, written));
      EXPECT_EQ(result.dataset.labels, written.labels);
      EXPECT_EQ(result.dataset.splits, written.splits);
    }
  }
}

TEST(Npz, WritesTheSameBytesAgain) {
  const Dataset dataset = random_dataset({9, false, true, false, Variant::sparse}, 1);
  const auto path = temp_file("graph.npz");
  write_npz(path, dataset, Format::npz_ppnp);
  const std::string first = bytes_of(path);
  write_npz(path, dataset, Format::npz_ppnp);
  EXPECT_EQ(bytes_of(path), first);
}

TEST(Npz, CompressesButNeverLooksLikeABomb) {
  const auto path = temp_file("graph.npz");
  // 4 million isolated nodes: 32 MB of zeros, and a file that deflate would shrink too well.
  constexpr NodeId nodes = 4000000;
  Dataset dataset;
  dataset.graph = build_graph(nodes, std::vector<ngf::EdgeBlock>{});
  write_npz(path, dataset, Format::npz_scipy);
  EXPECT_EQ(read_npz(Input(path)).dataset.graph.nodes(), nodes);
  // A grid of one row shrinks, though not as much.
  std::vector<Edge> edges;
  for (NodeId u = 0; u + 1 < 100000; ++u) edges.push_back({u, u + 1});
  dataset.graph = build_graph(100000, edges);
  write_npz(path, dataset, Format::npz_scipy);
  EXPECT_LT(std::filesystem::file_size(path), dataset.graph.bytes() / 2);
}

TEST(Npz, LeavesNothingBehindWhenItCannotWrite) {
  const auto folder = temp_file("marker").parent_path() / "missing";
  EXPECT_THAT(error_of<Error>([&] { write_npz(folder / "g.npz", {}, Format::npz_csr); }),
              HasSubstr("cannot be written"));
  const auto path = temp_file("graph.npz", "as it was");
  EXPECT_THROW(write_npz(path, {}, Format::metis), Error);
  EXPECT_EQ(bytes_of(path), "as it was");
}

TEST(Npz, ReadsSciPysFormats) {
  const ReadResult csr = read(npz(path_graph()));
  EXPECT_EQ(csr.format, Format::npz_scipy);
  EXPECT_EQ(csr.dataset.graph.edges(), 2U);
  EXPECT_THAT(csr.dataset.graph.weights(), ElementsAre(2, 2, 3, 3));

  // Arcs 0 -> 1 and 2 -> 1: by columns, column 1 holds the rows 0 and 2.
  Members csc = path_graph();
  csc["format"] = npy("<U3", "()", std::string("c\0\0\0s\0\0\0c\0\0\0", 12));
  csc["indptr"] = ints({0, 0, 2, 2});
  csc["indices"] = ints({2, 0});
  csc["data"] = npy("|b1", "(2,)", "\1\1");
  csc["_is_array"] = npy("|b1", "()", "\1");
  const ReadResult by_columns = read(npz(csc), {.directed = true});
  EXPECT_FALSE(by_columns.dataset.graph.weighted());
  EXPECT_TRUE(by_columns.warnings.empty());
  EXPECT_THAT(by_columns.dataset.graph.neighbors(0), ElementsAre(1));
  EXPECT_THAT(by_columns.dataset.graph.neighbors(2), ElementsAre(1));
  EXPECT_EQ(by_columns.dataset.graph.arcs(), 2U);

  const Members coo{{"format", npy("|S3", "()", "coo")},
                    {"shape", npy("<i8", "(2,)", raw<std::int64_t>({3, 3}))},
                    {"row", ints({2, 0})},
                    {"col", ints({1, 1})},
                    {"data", ints({1, 1})}};
  EXPECT_EQ(read(npz(coo), {.directed = true}).dataset.graph, by_columns.dataset.graph);
  EXPECT_THAT(refusal(with(coo, "col", ints({1}))), HasSubstr("col.npy: has the shape (1)"));
  EXPECT_THAT(refusal(with(path_graph(), "format", npy("|S3", "()", "bsr"))),
              AllOf(HasSubstr("'bsr'"), HasSubstr("tocsr")));
}

TEST(Npz, ReadsADataSetOfEdges) {
  const ReadResult result = read(npz(edges_dataset()));
  const Dataset& dataset = result.dataset;
  EXPECT_EQ(result.format, Format::npz_edges);
  EXPECT_EQ(dataset.graph.edges(), 2U);
  EXPECT_EQ(std::get<MatrixF>(dataset.features)(1, 1), 4);
  EXPECT_THAT(dataset.labels, ElementsAre(1, 0, -1));
  ASSERT_EQ(dataset.splits.size(), 2U);
  // In Fortran order the bytes 1 0 | 0 1 | 0 0 are the columns.
  EXPECT_THAT(dataset.splits[0].train, ElementsAre(0));
  EXPECT_THAT(dataset.splits[1].train, ElementsAre(1));
  EXPECT_THAT(dataset.splits[0].validation, ElementsAre(2));
  EXPECT_THAT(dataset.splits[1].validation, ElementsAre(1));
  EXPECT_THAT(dataset.splits[1].test, ElementsAre(2));
  EXPECT_THAT(refusal(without(edges_dataset(), "edges")), HasSubstr("'node_features.npy'"));
}

TEST(Npz, CountsRepeatedPairsOfEdgesButNotOfMatrices) {
  const std::string edges = npy("<i8", "(3, 2)", raw<std::int64_t>({0, 1, 1, 0, 1, 1}));
  const ReadResult result = read(npz({{"edges", edges}}));
  EXPECT_EQ(result.dataset.graph.nodes(), 2U);
  EXPECT_EQ(result.counts.duplicates, 1U);
  EXPECT_EQ(result.counts.self_loops, 1U);
  EXPECT_EQ(read(npz(path_graph())).counts.duplicates, 0U);
}

TEST(Npz, ReadsCompressedRowsUnderBothNames) {
  Members members = path_graph();
  members.erase("format");
  for (const auto& [prefix, features] :
       {std::pair{"adj_", "attr_"}, std::pair{"adj_matrix.", "attr_matrix."}}) {
    Members renamed{{"labels", npy("|i1", "(3,)", std::string("\0\1\1", 3))},
                    {"node_names", npy("|O", "(3,)", "\x80\2]q")},
                    {"weather", npy("|O", "(3,)", "\x80\2]q")},
                    {"train_mask", npy("|b1", "(3,)", std::string("\0\1\1", 3))}};
    for (const auto& [name, bytes] : members) renamed[prefix + name] = bytes;
    // Unsorted, with an entry that is there twice.
    renamed[std::string(features) + "shape"] = npy("<i8", "(2,)", raw<std::int64_t>({3, 9}));
    renamed[std::string(features) + "indptr"] = ints({0, 3, 3, 4});
    renamed[std::string(features) + "indices"] = ints({8, 2, 8, 0});
    renamed[std::string(features) + "data"] = doubles({1, 2, 4, 8});
    const ReadResult result = read(npz(renamed));
    EXPECT_EQ(result.dataset.graph.edges(), 2U);
    const auto& sparse = std::get<SparseMatrixF>(result.dataset.features);
    EXPECT_EQ(sparse.nonZeros(), 3);
    EXPECT_EQ(sparse.coeff(0, 8), 5);
    EXPECT_EQ(sparse.coeff(0, 2), 2);
    EXPECT_EQ(sparse.coeff(2, 0), 8);
    EXPECT_THAT(result.dataset.splits.at(0).train, ElementsAre(1, 2));
    // Names of nodes are nothing that a graph needs; what is not known is said to be left out.
    EXPECT_THAT(result.warnings,
                ElementsAre(AllOf(HasSubstr("weather.npy"), Not(HasSubstr("node_names")))));
    renamed["labels"] = renamed["node_names"];
    EXPECT_THAT(refusal(npz(renamed)), HasSubstr("labels.npy: dtype object"));
  }
}

TEST(Npz, ListsWhatItFoundWhenTheLayoutIsUnknown) {
  EXPECT_THAT(refusal(npz({{"arr_0", npy("<f8", "(1, 1)", raw<double>({1}))}})),
              AllOf(HasSubstr("'arr_0.npy'"), HasSubstr("adj_matrix.data")));
  EXPECT_THAT(refusal(npz({})), HasSubstr("without members"));
  Members many;
  for (int i = 0; i < 100; ++i) many.emplace(fmt::format("a{}", i), "x");
  EXPECT_THAT(refusal(npz(many)), HasSubstr(", ...; expected"));
}

TEST(Npz, ForcesALayout) {
  EXPECT_THAT(error_of<Error>([] { read(npz(path_graph()), {.format = Format::npz_edges}); }),
              HasSubstr("lacks the member edges.npy; it holds 'data.npy'"));
}

TEST(Npz, RefusesMatricesThatAreNone) {
  const Members good = path_graph();
  const auto wrong = [&](const std::string& name, const std::string& bytes) {
    return refusal(with(good, name, bytes));
  };
  const auto shape = [](std::int64_t rows, std::int64_t cols) {
    return npy("<i8", "(2,)", raw<std::int64_t>({rows, cols}));
  };
  EXPECT_THAT(wrong("shape", shape(3, 4)), HasSubstr("3 x 4; the matrix of a graph is square"));
  EXPECT_THAT(wrong("shape", shape(-3, 3)), HasSubstr("-3 x 3 is no size"));
  EXPECT_THAT(wrong("shape", shape(2, 2)), HasSubstr("indices.npy: entry 2 is 2"));
  EXPECT_THAT(wrong("shape", shape(4, 4)), HasSubstr("indptr has 4 entries for 4 rows"));
  EXPECT_THAT(wrong("shape", ints({3})), HasSubstr("shape.npy: has the shape (1)"));
  EXPECT_THAT(wrong("indptr", ints({0, 2, 1, 4})), HasSubstr("falls from 2 to 1 at row 1"));
  EXPECT_THAT(wrong("indptr", ints({0, 1, 3, 5})), HasSubstr("0 to 5; expected 0 to 4"));
  EXPECT_THAT(wrong("indptr", ints({1, 1, 3, 4})), HasSubstr("from 1 to 4"));
  EXPECT_THAT(wrong("indptr", ints({-1, 1, 3, 4})), HasSubstr("from -1 to 4"));
  EXPECT_THAT(wrong("indptr", ints({})), HasSubstr("indptr has 0 entries"));
  EXPECT_THAT(wrong("indices", ints({1, 0, -2, 1})), HasSubstr("indices.npy: entry 2 is -2"));
  EXPECT_THAT(wrong("indices", doubles({1, 0, 2, 1})), HasSubstr("whole numbers"));
  EXPECT_THAT(wrong("indices", npy("<i4", "(2, 2)", raw<std::int32_t>({1, 0, 2, 1}))),
              HasSubstr("(2, 2)"));
  EXPECT_THAT(wrong("data", doubles({1, 1, 1})), HasSubstr("data.npy: has the shape (3)"));
  EXPECT_THAT(wrong("data", doubles({1, 1, std::nan(""), 1})),
              HasSubstr("data.npy: entry 2 is nan"));
  EXPECT_THAT(wrong("data", doubles({1, std::numeric_limits<double>::infinity(), 1, 1})),
              HasSubstr("entry 1 is inf"));
  EXPECT_THAT(refusal(without(good, "indptr")), HasSubstr("lacks the member indptr.npy"));
}

TEST(Npz, RefusesDataSetsWhosePartsDisagree) {
  const Members good = edges_dataset();
  const auto wrong = [&](const std::string& name, const std::string& bytes) {
    return refusal(with(good, name, bytes));
  };
  EXPECT_THAT(
      wrong("node_labels", ints({1, 2})),
      AllOf(HasSubstr("node_labels.npy: is for 2 nodes"), HasSubstr("node_features.npy is for 3")));
  EXPECT_THAT(wrong("node_labels", ints({1, 2, -2})), HasSubstr("entry 2 is -2"));
  EXPECT_THAT(wrong("node_labels", ints({1, 65536, 0})),
              HasSubstr("node_labels.npy: entry 1 is 65536; expected a class from 0 to 65535"));
  EXPECT_THAT(wrong("node_labels", ints({1, 65535, 0})), testing::IsEmpty());
  EXPECT_THAT(wrong("node_labels", npy("<i8", "(3,)", raw<std::int64_t>({0, 1LL << 31, 0}))),
              HasSubstr("entry 1 is 2147483648"));
  EXPECT_THAT(wrong("node_features", npy("<f4", "()", "abcd")), HasSubstr("0 dimensions"));
  EXPECT_THAT(wrong("train_masks", npy("|b1", "(3,)", "\1\1\1")), HasSubstr("(3)"));
  EXPECT_THAT(wrong("test_masks", npy("|b1", "(1, 3)", "\1\1\1")), HasSubstr("has 1 splits"));
  EXPECT_THAT(wrong("test_masks", npy("|i1", "(2, 3)", "\1\1\1\1\1\2")), HasSubstr("entry 5 is 2"));
  EXPECT_THAT(wrong("test_masks", npy("|b1", "(2, 1)", "\1\1")), HasSubstr("is for 1 nodes"));
  EXPECT_THAT(wrong("edges", npy("<i8", "(1, 2)", raw<std::int64_t>({0, 3}))),
              HasSubstr("entry 1 is 3"));
  EXPECT_THAT(wrong("edges", npy("<i8", "(1, 2)", raw<std::int64_t>({0, -1}))),
              HasSubstr("entry 1 is -1"));
  EXPECT_THAT(wrong("edges", npy("<f8", "(1, 2)", raw<double>({0, 0.5}))),
              HasSubstr("whole numbers"));
  EXPECT_THAT(wrong("edges", ints({0, 1})), HasSubstr("expected (M, 2)"));
  EXPECT_THAT(wrong("edge_weights", doubles({1})), HasSubstr("edge_weights.npy"));
  EXPECT_THAT(wrong("num_nodes", ints({1, 2})), HasSubstr("single number"));
  EXPECT_THAT(wrong("num_nodes", ints({-1})), HasSubstr("num_nodes.npy: entry 0 is -1"));
  EXPECT_THAT(wrong("num_nodes", ints(std::vector<std::int32_t>(20000))),
              HasSubstr("num_nodes.npy: holds 80"));
}

TEST(Npz, NeverBelievesAnIncredibleNumber) {
  const std::string huge = npy("<i8", "(2,)", raw<std::int64_t>({1LL << 60, 1LL << 60}));
  EXPECT_THAT(refusal(with(path_graph(), "shape", huge)), HasSubstr("indptr has 4 entries for"));
  EXPECT_THAT(refusal(npz({{"format", npy("|S3", "()", "coo")}, {"shape", huge}})),
              HasSubstr("shape.npy: 1152921504606846976 nodes"));
  EXPECT_THAT(refusal(with(path_graph(), "indices", npy("<i4", "(1000000000000000000,)", ""))),
              HasSubstr("promises 4000000000000000000 bytes"));
  const std::string edge = npy("<i8", "(1, 2)", raw<std::int64_t>({0, 4'000'000'000}));
  EXPECT_THAT(refusal(npz({{"edges", edge}})), HasSubstr("4000000001 nodes in a file of"));
  EXPECT_THAT(refusal(npz({{"edges", npy("<i8", "(0, 2)", "")},
                           {"train_masks", npy("|b1", "(1000000000000000000, 0)", "")}})),
              HasSubstr("1000000000000000000 splits"));
  EXPECT_THAT(refusal(npz({{"edges", npy("<i8", "(0, 2)", "")},
                           {"node_features", npy("<f4", "(1000000000000, 0)", "")}})),
              HasSubstr("1000000000000 nodes"));
  // The widths of sparse rows take no memory.
  const ReadResult wide = read(npz({{"adj_shape", npy("<i8", "(2,)", raw<std::int64_t>({1, 1}))},
                                    {"adj_indptr", ints({0, 0})},
                                    {"adj_indices", ints({})},
                                    {"adj_data", ints({})},
                                    {"attr_shape", ints({1, 2147483647})},
                                    {"attr_indptr", ints({0, 2})},
                                    {"attr_indices", ints({7, 3})},
                                    {"attr_data", ints({1, 1})}}));
  EXPECT_EQ(wide.dataset.feature_count(), 2147483647);
}

TEST(Npz, TakesNoMoreThanTheMemoryItMay) {
  EXPECT_THROW(read(npz(path_graph()), {.memory = 8}), Error);
}

TEST(Npz, RefusesEveryTruncation) {
  const std::string whole = npz(edges_dataset());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
  }
}

TEST(Npz, SurvivesEveryWrongByte) {
  const std::string whole = npz(path_graph());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(static_cast<unsigned>(broken[i]) ^ flip);
      error_of<Error>([&] { read(broken, {.threads = 1}); });  // an answer or an Error
    }
  }
}

TEST(ZipArchive, ReadsStoredAndDeflatedMembers) {
  for (const bool zip64 : {false, true}) {
    for (const bool deflated : {false, true}) {
      const std::string bytes =
          zip({{.name = "a", .bytes = "", .deflated = deflated, .zip64 = zip64},
               {.name = "b", .bytes = "hello", .deflated = deflated, .zip64 = zip64}});
      const Input input("g.npz", bytes);
      const ZipArchive archive(input);
      EXPECT_EQ(archive.members().size(), 2U);
      EXPECT_EQ(archive.read("a"), "");
      EXPECT_EQ(archive.read("b"), "hello");
      EXPECT_THAT(error_of<Error>([&] { archive.read("b", 4); }), HasSubstr("at most 4"));
      EXPECT_THAT(error_of<Error>([&] { archive.read("c"); }), HasSubstr("c: is not in"));
    }
  }
}

std::string zip_refusal(const std::vector<ZipEntry>& entries) {
  return error_of<Error>([&] {
    const std::string bytes = zip(entries);
    const Input input("g.npz", bytes);
    const ZipArchive archive(input);
    archive.read("m");
  });
}

TEST(ZipArchive, RefusesMembersThatLie) {
  const std::string text = "The quick brown fox jumps over the lazy dog";
  for (const bool deflated : {false, true}) {
    const auto lie = [&](ZipEntry entry) {
      entry.name = "m";
      entry.bytes = text;
      entry.deflated = deflated;
      return zip_refusal({entry});
    };
    EXPECT_EQ(lie({}), "");
    EXPECT_THAT(lie({.size = text.size() + 1}), HasSubstr("m: is "));
    EXPECT_THAT(lie({.size = text.size() - 1}), HasSubstr("m: is "));
    EXPECT_THAT(lie({.size = 0}), HasSubstr("m: is "));
    EXPECT_THAT(lie({.crc = 12345}), HasSubstr("m: is damaged"));
    EXPECT_THAT(lie({.compressed = 1 << 20}), HasSubstr("'m' claims 1048576 bytes"));
    EXPECT_THAT(lie({.zip64 = true, .size = 1ULL << 60}), HasSubstr("zip bomb"));
    EXPECT_THAT(lie({.flags = 1}), HasSubstr("m: is encrypted"));
    EXPECT_THAT(lie({.method = 12}), HasSubstr("method 12"));
  }
  EXPECT_THAT(zip_refusal({{.name = "m"}, {.name = "m"}}), HasSubstr("'m' twice"));
  EXPECT_THAT(zip_refusal({{.name = "m", .bytes = text, .method = 8}}), HasSubstr("damaged"));
}

TEST(ZipArchive, RefusesBombsBeforeUnpacking) {
  const auto path = temp_file("bomb.npz");
  std::filesystem::remove(path);
  const std::string zeros(std::size_t{64} << 20, '\0');
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  ASSERT_NE(archive, nullptr);
  zip_file_add(archive, "m.npy", zip_source_buffer(archive, zeros.data(), zeros.size(), 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
  EXPECT_LT(std::filesystem::file_size(path), 70000U);
  EXPECT_THAT(error_of<Error>([&] { read_npz(Input(path)); }), HasSubstr("zip bomb"));
  // Members that share their bytes add up, and their sum may wrap round.
  const ZipEntry half{.name = "a", .zip64 = true, .size = 1ULL << 63, .compressed = 100};
  EXPECT_THAT(zip_refusal({half, half}), HasSubstr("zip bomb"));
}

TEST(Npz, ReadsTheHeterophilousDataSets) {
  NGF_NEED_DATA(data);
  struct Expected {
    std::string name;
    NodeId nodes;
    std::int64_t features;
    std::int32_t classes;
  };
  for (const auto& [name, nodes, features, classes] :
       {Expected{"actor", 7600, 932, 5}, Expected{"minesweeper", 10000, 7, 2},
        Expected{"tolokers", 11758, 10, 2}, Expected{"texas_4_classes", 183, 1703, 5},
        Expected{"chameleon", 2277, 2325, 5}}) {
    SCOPED_TRACE(name);
    const ReadResult result = read_npz(Input(data / "heterophilous" / (name + ".npz")));
    EXPECT_EQ(result.dataset.graph.nodes(), nodes);
    EXPECT_EQ(result.dataset.feature_count(), features);
    EXPECT_EQ(result.dataset.class_count(), classes);
    EXPECT_EQ(result.counts.duplicates, 0U);
    ASSERT_EQ(result.dataset.splits.size(), 10U);
    for (const auto& split : result.dataset.splits) {
      // Each node is in one part, but for those that are in none.
      const std::size_t in_parts = split.train.size() + split.validation.size() + split.test.size();
      EXPECT_GE(in_parts + 1, nodes);
      EXPECT_LE(in_parts, nodes);
    }
  }
}

TEST(Npz, ReadsTheGnnBenchmark) {
  NGF_NEED_DATA(data);
  const ReadResult result =
      read_npz(Input(data / "gnn-benchmark" / "citeseer.npz"), {.directed = true});
  EXPECT_EQ(result.format, Format::npz_csr);
  EXPECT_EQ(result.dataset.graph.nodes(), 3312U);
  EXPECT_EQ(result.dataset.graph.arcs() + result.counts.self_loops, 4715U);
  EXPECT_EQ(result.dataset.feature_count(), 3703);
  EXPECT_EQ(std::get<SparseMatrixF>(result.dataset.features).nonZeros(), 105165);
  EXPECT_EQ(result.dataset.class_count(), 6);
}

}  // namespace
