#include "ngf/io/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.hpp"
#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf::io {
namespace {

using test::error_of;
using test::temp_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string read_error(std::string_view name, std::string_view content) {
  const auto path = temp_file(name, content);
  return error_of<Error>([&] { read_graph(path); });
}

std::optional<Format> told(std::string_view name, std::string_view content) {
  return read_graph(temp_file(name, content)).format;
}

TEST(Format, NamesComeBack) {
  for (const std::string_view name :
       {"edge-list", "matrix-market", "metis", "adjacency-csv", "adjacency-npy", "npz-scipy",
        "npz-edges", "npz-csr", "npz-ppnp", "planetoid"}) {
    const Format format =
        ngf::detail::kind_named(std::string(name), format_name, Format::planetoid);
    EXPECT_EQ(format_name(format), name);
  }
}

TEST(Detect, ContentComesFirst) {
  EXPECT_EQ(told("a.txt", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n"),
            Format::matrix_market);
  EXPECT_EQ(told("b", "0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n"), Format::adjacency_csv);
  EXPECT_EQ(told("c.txt", "0 1 0 0\n1 0 1 0\n0 1 0 1\n0 0 1 0\n"), Format::adjacency_csv);
  EXPECT_EQ(told("d.csv", "a,b,c,d\n0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n"), Format::adjacency_csv);
  EXPECT_EQ(told("e.txt", "3 2\n2\n1 3\n2\n"), Format::metis);
  EXPECT_EQ(told("f.graph", "3 3\n2 3\n1 3\n1 2\n"), Format::metis);
  EXPECT_EQ(told("g.METIS", "3 3\n2 3\n1 3\n1 2\n"), Format::metis);
  EXPECT_EQ(told("h.txt", "3 3\n2 3\n1 3\n1 2\n"), Format::edge_list);
  EXPECT_EQ(told("i.mtx", "2 1\n3 2\n"), Format::edge_list);
  EXPECT_EQ(told("j.mtx", "3 3 2\n2 1\n3 2\n"), Format::matrix_market);
  EXPECT_EQ(told("k.txt", "3 3 2\n2 1 5\n3 2 5\n"), Format::edge_list);
  EXPECT_EQ(told("l.csv", "source,target,weight\n0,1,.5\n"), Format::edge_list);
  EXPECT_EQ(told("m.txt", "% asym\n1 2 1 1167609600\n1 3 1 1167609601\n"), Format::edge_list);
  EXPECT_EQ(told("n.txt", "0 1 {'weight': 1, 'a': 2}\n1 2 {'weight': 3}\n"), Format::edge_list);
  EXPECT_EQ(told("o.txt", "# ngf edge list: nodes=4\n"), Format::edge_list);
  EXPECT_EQ(told("p.txt", "# ngf adjacency table: nodes=2\n0,1\n1,0\n"), Format::adjacency_csv);
}

TEST(Detect, ALongHeadHidesNothing) {
  const std::string head(100000, '%');
  EXPECT_EQ(told("a.txt", head + "\n3 2\n2\n1 3\n2\n"), Format::metis);
  // Rows that are longer than what is looked at.
  const std::size_t nodes = 40000;
  std::string rows;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < nodes; ++j) rows += j == 0 ? "0" : ",0";
    rows += '\n';
  }
  EXPECT_THAT(read_error("b.csv", rows), HasSubstr("3 rows and"));
}

TEST(Detect, AFormatCanBeForced) {
  const auto path = temp_file("a.txt", "0,1\n1,0\n");
  EXPECT_EQ(read_graph(path).dataset.graph.nodes(), 2U);
  EXPECT_EQ(read_graph(path, {.format = Format::adjacency_csv}).format, Format::adjacency_csv);
  const auto wide = temp_file("b.csv", "0,1,2.5,9\n1,2,2.5,9\n");
  EXPECT_THAT(error_of<Error>([&] { read_graph(wide); }), HasSubstr("2 rows and 4 columns"));
  EXPECT_EQ(read_graph(wide, {.format = Format::edge_list}).dataset.graph.edges(), 2U);
  EXPECT_THAT(error_of<Error>([&] { read_graph(path, {.format = Format::planetoid}); }),
              HasSubstr("ind.NAME.graph"));
}

TEST(Detect, PlanetoidByName) {
  EXPECT_EQ(planetoid_name("/data/ind.cora.graph"), "cora");
  EXPECT_EQ(planetoid_name("ind.nell.0.001.test.index"), "nell.0.001");
  EXPECT_FALSE(planetoid_name("ind.graph"));
  EXPECT_FALSE(planetoid_name("cora.graph"));
  EXPECT_FALSE(planetoid_name("ind.cora.z"));
}

TEST(BadInput, EachIsAnsweredInOneLine) {
  const auto expect = [](std::string_view name, std::string_view content, std::string_view what) {
    const std::string error = read_error(name, content);
    EXPECT_THAT(error, AllOf(HasSubstr(name), HasSubstr(what), Not(HasSubstr("\n")))) << name;
  };
  using namespace std::string_view_literals;
  expect("empty.txt", "", "is empty");
  expect("blank.txt", "\n \n\t\n", "holds no data");
  expect("comments.txt", "# one\n# two\n", "holds no data");
  expect("noise.txt", "\x7F\x45\x4C\x46\x02\x01\x00\x03 noise"sv, "neither text nor");
  expect("nul.txt", "0 1\n1 2\n\0\n"sv, "byte 8 is 0x00");
  expect("gzip.txt", "\x1F\x8B\x08\x08"sv, "gzip");
  expect("bzip2.txt", "BZh91AY", "bzip2");
  expect("xz.txt", "\xFD\x37\x7A\x58\x5A\x00"sv, "xz");
  expect("zstd.txt", "\x28\xB5\x2F\xFD\x24", "zstd");
  expect("matlab.mat", "MATLAB 5.0 MAT-file, Platform: PCWIN\x00\x01"sv, "MATLAB");
  expect("hdf5.mat", "\x89HDF\r\n\x1A\n"sv, "HDF5");
  expect("gml.txt", "graph [\n node [ id 0 ]\n]\n", "GML");
  expect("gml2.txt", "Creator \"me\"\ngraph\n[\n]\n", "GML");
  expect("graphml.txt", "<?xml version='1.0'?><graphml/>", "XML");
  expect("json.txt", "{\"nodes\": []}", "JSON");
  expect("utf16.txt", "\xFF\xFE\x30\x00\x20\x00"sv, "UTF-16");
  expect("other.pkl", "\x80\x02]q\x01.", "pickle");
  expect("ids.txt", "773869,767541,767542,717447\n", "1 rows and 4 columns");
  expect("signal.txt", "1.5\n2.5\n", "one column");
  expect("semicolons.csv", "source;target\nalice;bob\n", "line 1: has semicolons");
  expect("names.txt", "alice 1\nbob 2\n", "line 2: 'bob' is not a node id");
  expect("xy.csv", "x,y\n-97.2,49\n-96.8,49\n", "line 2: '-97.2'");
  expect("negative.txt", "0 1\n1 -2\n", "line 2: '-2'");
  expect("fraction.txt", "0 1\n1 2.5\n", "line 2: '2.5'");
  expect("nan.txt", "0 1\nnan 1\n", "line 2: 'nan'");
  expect("large.txt", "0 1\n1 4294967296\n", "line 2: '4294967296'");
  expect("promise.mtx",
         "%%MatrixMarket matrix coordinate real general\n9 9 1000000000000000000\n1 2 3\n",
         "line 2: promises 1000000000000000000 entries");
  expect("promise.graph", "9 1000000000000000000\n2\n1\n", "line 1: promises");
  expect("nodes.graph", "1000000000000000000 1\n2\n1\n", "line 1");
  expect("one-line.txt", std::string(std::size_t{5} << 20, '1'), "is longer than");
  EXPECT_THAT(error_of<Error>([] { read_graph(testing::TempDir()); }), HasSubstr("is a folder"));
  EXPECT_THAT(error_of<Error>([] { read_graph("no/such/file"); }), HasSubstr("no/such/file"));
}

TEST(BadInput, MatricesToo) {
  const auto matrix_error = [](std::string_view name, std::string_view content) {
    const auto path = temp_file(name, content);
    return error_of<Error>([&] { read_matrix(path); });
  };
  EXPECT_THAT(matrix_error("a.csv", ""), HasSubstr("is empty"));
  EXPECT_THAT(matrix_error("a.npz", "PK\x03\x04zip"), HasSubstr("ZIP"));
  EXPECT_THAT(matrix_error("a.mat", "MATLAB 5.0"), HasSubstr("MATLAB"));
}

/// A way to write a graph, and what it cannot hold.
struct Way {
  Format format;
  std::string_view name;
  bool directed = true;
  bool fractions = true;
};

constexpr std::array<Way, 10> ways{{
    {Format::edge_list, "a.txt"},
    {Format::edge_list, "a.csv"},
    {Format::matrix_market, "a.mtx"},
    {Format::metis, "a.graph", false, false},
    {Format::adjacency_csv, "table.csv"},
    {Format::adjacency_npy, "table.npy"},
    {Format::npz_scipy, "scipy.npz"},
    {Format::npz_edges, "edges.npz"},
    {Format::npz_csr, "csr.npz"},
    {Format::npz_ppnp, "ppnp.npz"},
}};

Graph sample_graph(NodeId nodes, std::size_t edges, bool directed, int weights) {
  std::vector<EdgeBlock> blocks(1);
  if (nodes > 1) blocks[0].edges = test::random_edges(nodes, edges, nodes + edges);
  Random random(nodes);
  for (std::size_t i = 0; weights > 0 && i < blocks[0].edges.size(); ++i) {
    const auto whole = static_cast<double>(1 + random.below(1000));
    blocks[0].weights.push_back(weights == 1 ? whole : random.normal() / whole);
  }
  return build_graph(nodes, std::move(blocks), {.directed = directed});
}

TEST(Convert, AllPairsOfFormatsGiveTheSameGraph) {
  for (const bool directed : {false, true}) {
    for (const int weights : {0, 1, 2}) {
      for (const NodeId nodes : {0U, 1U, 2U, 3U, 40U}) {
        // About half as many edges as nodes leave some nodes without a neighbour.
        Dataset dataset;
        dataset.graph = sample_graph(nodes, 1 + nodes / 2, directed, weights);
        const ReadOptions options{.directed = directed, .threads = 1};
        for (const Way& first : ways) {
          if ((directed && !first.directed) || (weights == 2 && !first.fractions)) continue;
          const auto path = temp_file(first.name);
          EXPECT_EQ(write_graph(path, dataset, first.format).format, first.format);
          const ReadResult once = read_graph(path, options);
          EXPECT_EQ(once.format, first.format);
          ASSERT_EQ(once.dataset.graph, dataset.graph) << first.name << " " << nodes;
          EXPECT_THAT(once.warnings, IsEmpty()) << first.name;
          for (const Way& second : ways) {
            if ((directed && !second.directed) || (weights == 2 && !second.fractions)) continue;
            const auto next = temp_file("second-" + std::string(second.name));
            write_graph(next, once.dataset, second.format);
            ASSERT_EQ(read_graph(next, options).dataset.graph, dataset.graph)
                << first.name << " to " << second.name << ", " << nodes << " nodes";
          }
        }
      }
    }
  }
}

TEST(Convert, SelfLoopsAreKeptWhereAskedFor) {
  Dataset dataset;
  dataset.graph =
      build_graph(4, std::vector<Edge>{{0, 0}, {0, 1}, {3, 3}}, {.keep_self_loops = true});
  for (const Way& way : ways) {
    const auto path = temp_file(way.name);
    if (way.format == Format::metis) {
      EXPECT_THAT(error_of<Error>([&] { write_graph(path, dataset, way.format); }),
                  HasSubstr("self-loops"));
      continue;
    }
    write_graph(path, dataset, way.format);
    EXPECT_EQ(read_graph(path, {.keep_self_loops = true}).dataset.graph, dataset.graph) << way.name;
  }
}

TEST(Convert, WhatAFormatCannotHoldIsRefusedOrSaid) {
  Dataset dataset;
  dataset.graph = sample_graph(10, 20, false, 2);
  const auto error = [&](std::string_view name, Format format) {
    const auto path = temp_file(name, "old");
    std::string text = error_of<Error>([&] { write_graph(path, dataset, format); });
    EXPECT_EQ(std::filesystem::file_size(path), 3U);  // the old file is untouched
    return text;
  };
  EXPECT_THAT(error("a.graph", Format::metis), HasSubstr("weights 1, 2, 3"));
  EXPECT_THAT(error("a", Format::planetoid), HasSubstr("planetoid"));
  dataset.graph = sample_graph(10, 20, true, 0);
  EXPECT_THAT(error("a.graph", Format::metis), HasSubstr("no directions"));
  std::vector<EdgeBlock> zero{{{{0, 1}}, {0}}};
  dataset.graph = build_graph(2, std::move(zero));
  EXPECT_THAT(error("a.csv", Format::adjacency_csv), HasSubstr("weight 0"));
  EXPECT_THAT(error("a.npy", Format::adjacency_npy), HasSubstr("weight 0"));
  dataset.graph = build_graph(30000, std::vector<Edge>{{0, 1}});
  EXPECT_THAT(error("a.csv", Format::adjacency_csv), HasSubstr("too large"));

  dataset.graph = build_graph(2, std::vector<Edge>{{0, 1}});
  EXPECT_THAT(write_graph(temp_file("a.mtx"), dataset).warnings, IsEmpty());
  dataset.labels = {0, 1};
  const auto written = temp_file("a.mtx");
  EXPECT_THAT(write_graph(written, dataset).warnings,
              ElementsAre(StartsWith(written.string() + ": features, labels and splits are not")));
  EXPECT_THAT(write_graph(temp_file("a.npz"), dataset).warnings, IsEmpty());
}

TEST(Read, WarningsNameTheFile) {
  struct Case {
    std::string_view name;
    std::string_view content;
    std::string_view warning;
  };
  for (const Case& file :
       {Case{"w.txt", "0 1 2.5 2001\n1 2 0.5 2002\n", "columns after the weight"},
        Case{"w.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n1 2 4\n",
             "edge 1-2 has two weights, 4 and 3"},
        Case{"w.graph", "3 3\n2\n1 3\n2\n", "line 1: promises 3 nodes and 3 edges"}}) {
    const auto path = temp_file(file.name, file.content);
    EXPECT_THAT(read_graph(path, {.lenient = true}).warnings,
                ElementsAre(StartsWith(path.string() + ": " + std::string(file.warning))));
  }
}

// What a file of a format that we write says when it is cut.
TEST(Convert, NoPartOfAFilePassesForTheWhole) {
  for (const bool directed : {false, true}) {
    for (const int weights : {0, 1, 2}) {
      for (const NodeId nodes : {0U, 2U, 12U}) {
        Dataset dataset;
        dataset.graph = sample_graph(nodes, nodes, directed, weights);
        for (const Way& way : ways) {
          if ((directed && !way.directed) || (weights == 2 && !way.fractions)) continue;
          const auto path = temp_file(way.name);
          write_graph(path, dataset, way.format);
          const std::string whole = Input(path).read_all();
          // A table of four nodes and more has no header: its first fields could be another file.
          const bool bare_table = way.format == Format::adjacency_csv && nodes >= 4;
          const ReadOptions options{.directed = directed, .threads = 1};
          for (std::size_t length = bare_table ? whole.find('\n') : 0; length < whole.size();
               ++length) {
            const auto cut = temp_file(way.name, whole.substr(0, length));
            try {
              const ReadResult result = read_graph(cut, options);
              ASSERT_EQ(result.dataset.graph, dataset.graph)
                  << way.name << " cut at " << length << " of " << whole.size() << ", directed "
                  << directed << ", weights " << weights;
            } catch (const Error& error) {
              EXPECT_THAT(error.what(), HasSubstr(std::string(way.name)));
            }
          }
        }
      }
    }
  }
}

TEST(Read, TwoWeightsInAMatrixAreAnErrorUnlessLenient) {
  Dataset dataset;
  dataset.graph = build_graph(3, {{{{0, 1}, {1, 2}, {2, 1}}, {4, 2, 3}}}, {.directed = true});
  for (const Way& way : ways) {
    if (!way.directed) continue;
    const auto path = temp_file(way.name);
    write_graph(path, dataset, way.format);
    const std::string edge = way.format == Format::matrix_market ? "edge 2-3" : "edge 1-2";
    EXPECT_THAT(error_of<Error>([&] { read_graph(path); }),
                AllOf(StartsWith(path.string() + ": " + edge + " has two weights, 3 and 2"),
                      HasSubstr("directed keeps"), HasSubstr("lenient keeps")));
    const ReadResult lenient = read_graph(path, {.lenient = true});
    EXPECT_EQ(lenient.dataset.graph, symmetrize(dataset.graph)) << way.name;
    EXPECT_THAT(lenient.warnings, testing::Contains(HasSubstr("the largest weight is kept")));
    EXPECT_EQ(read_graph(path, {.directed = true}).dataset.graph, dataset.graph) << way.name;
  }
  // A pattern that is merely asymmetric is an undirected graph.
  dataset.graph = build_graph(3, std::vector<Edge>{{0, 1}, {2, 1}}, {.directed = true});
  const auto path = temp_file("a.npy");
  write_graph(path, dataset);
  EXPECT_EQ(read_graph(path).dataset.graph, symmetrize(dataset.graph));
}

TEST(Convert, TheNameChoosesTheFormat) {
  Dataset dataset;
  EXPECT_EQ(format_for_name("a.mtx", dataset), Format::matrix_market);
  EXPECT_EQ(format_for_name("a.MTX", dataset), Format::matrix_market);
  EXPECT_EQ(format_for_name("a.graph", dataset), Format::metis);
  EXPECT_EQ(format_for_name("a.metis", dataset), Format::metis);
  EXPECT_EQ(format_for_name("a.npy", dataset), Format::adjacency_npy);
  EXPECT_EQ(format_for_name("a.csv", dataset), Format::edge_list);
  EXPECT_EQ(format_for_name("a", dataset), Format::edge_list);
  EXPECT_EQ(format_for_name("a.npz", dataset), Format::npz_scipy);
  dataset.labels = {1};
  EXPECT_EQ(format_for_name("a.npz", dataset), Format::npz_edges);
}

/// Facts that NetworkX 2.8 and SciPy 1.10 say about a file.
struct Fact {
  std::string_view file;
  Format format;
  NodeId nodes;
  std::uint64_t edges;
  std::uint64_t arcs;  ///< edges when read as directed
  std::uint64_t self_loops = 0;
  std::uint64_t duplicates = 0;
  bool weighted = false;
};

constexpr std::array<Fact, 44> facts{{
    {"lagraph/bcsstk13.mtx", Format::matrix_market, 2003, 40940, 81880, 2003, 0, true},
    {"lagraph/jagmesh7.mtx", Format::matrix_market, 1138, 3156, 6312, 1138},
    {"lagraph/karate.mtx", Format::matrix_market, 34, 78, 156},
    {"lagraph/pushpull.mtx", Format::matrix_market, 4000, 97097, 194194, 2111},
    {"lagraph/west0067.mtx", Format::matrix_market, 67, 287, 292, 2, 0, true},
    {"lagraph/west0067_jumbled.mtx", Format::matrix_market, 67, 287, 292, 2, 0, true},
    {"lagraph/west0067_noheader.mtx", Format::matrix_market, 67, 287, 292, 2, 0, true},
    {"networkit/GD01_b.mtx", Format::matrix_market, 18, 26, 35, 2},
    {"networkit/Hamrle1.mtx", Format::matrix_market, 32, 90, 93, 5, 0, true},
    {"networkit/LFAT5.mtx", Format::matrix_market, 14, 16, 32, 14, 0, true},
    {"networkit/Ragusa16.mtx", Format::matrix_market, 24, 58, 71, 10, 0, true},
    {"networkit/chesapeake.mtx", Format::matrix_market, 39, 170, 340},
    {"pygsp/minnesota.mtx", Format::matrix_market, 2642, 3303, 6606},
    {"luxembourg/3elt.mtx", Format::edge_list, 4720, 13722, 13722},
    {"luxembourg/luxembourg_osm.mtx", Format::edge_list, 114599, 119666, 119666},
    {"networkit/MIT8.edgelist", Format::edge_list, 6440, 251252, 251252},
    {"networkit/comments.edgelist", Format::edge_list, 10, 10, 20, 0, 10},
    {"networkit/example.edgelist", Format::edge_list, 10, 10, 20, 0, 10},
    {"networkit/foodweb-baydry.konect", Format::edge_list, 128, 2106, 2137, 0, 31, true},
    {"networkit/spaceseparated_weighted.edgelist", Format::edge_list, 3, 3, 3, 0, 0, true},
    {"networkit/wiki-Vote.txt", Format::edge_list, 7115, 100762, 103689, 0, 2927},
    {"molene/knn5.edgelist", Format::edge_list, 37, 113, 113, 0, 0, true},
    {"seal/Celegans.txt", Format::edge_list, 297, 2148, 2345, 0, 211},
    {"seal/NS.txt", Format::edge_list, 1589, 2742, 2742, 0, 0, true},
    {"seal/Power.txt", Format::edge_list, 4941, 6594, 6594},
    {"seal/Router.txt", Format::edge_list, 5022, 6258, 6258},
    {"seal/USAir.txt", Format::edge_list, 332, 2126, 2126, 0, 0, true},
    {"seal/Yeast.txt", Format::edge_list, 2375, 11693, 11693},
    {"seal/facebook.txt", Format::edge_list, 4039, 88234, 88234},
    {"networkit/PGPgiantcompo.graph", Format::metis, 10680, 24316, 48632},
    {"networkit/airfoil1.graph", Format::metis, 4253, 12289, 24578},
    {"networkit/celegans_metabolic.graph", Format::metis, 453, 2025, 4050},
    {"networkit/hep-th.graph", Format::metis, 8361, 15751, 31502},
    {"networkit/jazz.graph", Format::metis, 198, 2742, 5484},
    {"networkit/karate.graph", Format::metis, 34, 78, 156},
    {"networkit/lesmis.graph", Format::metis, 77, 254, 508, 0, 0, true},
    {"networkit/polblogs.graph", Format::metis, 1490, 16715, 33430},
    {"networkit/power.graph", Format::metis, 4941, 6594, 13188},
    {"networkit/tiny_01.graph", Format::metis, 7, 11, 22},
    {"networkit/tiny_02.graph", Format::metis, 7, 11, 22, 0, 0, true},
    {"networkit/tiny_03.graph", Format::metis, 7, 11, 22, 0, 0, true},
    {"networkit/tiny_04.graph", Format::metis, 7, 11, 22},
    {"networkit/wing.graph", Format::metis, 62032, 121544, 243088},
    {"metr-la/los_adj.csv", Format::adjacency_csv, 207, 1313, 2626, 207, 0, true},
}};

TEST(RealFiles, AreWhatNetworkxAndScipySay) {
  NGF_NEED_DATA(data);
  for (const Fact& fact : facts) {
    // Some general matrices and KONECT's list have two weights for an edge.
    const ReadResult result = read_graph(data / fact.file, {.lenient = true});
    const Graph& graph = result.dataset.graph;
    EXPECT_EQ(result.format, fact.format) << fact.file;
    EXPECT_EQ(graph.nodes(), fact.nodes) << fact.file;
    EXPECT_EQ(graph.edges(), fact.edges) << fact.file;
    EXPECT_EQ(graph.weighted(), fact.weighted) << fact.file;
    EXPECT_EQ(result.counts.self_loops, fact.self_loops) << fact.file;
    EXPECT_EQ(result.counts.duplicates, fact.duplicates) << fact.file;
    EXPECT_EQ(read_graph(data / fact.file, {.directed = true}).dataset.graph.edges(), fact.arcs)
        << fact.file;
  }
}

TEST(RealFiles, TheSameGraphInTwoFormats) {
  NGF_NEED_DATA(data);
  const auto graph = [&](std::string_view file) {
    return read_graph(data / file, {.directed = true}).dataset.graph;
  };
  EXPECT_EQ(graph("lagraph/karate.mtx"), graph("networkit/karate.graph"));
  EXPECT_EQ(graph("lagraph/west0067.mtx"), graph("lagraph/west0067_jumbled.mtx"));
  EXPECT_EQ(graph("lagraph/west0067.mtx"), graph("lagraph/west0067_noheader.mtx"));
  EXPECT_EQ(graph("networkit/tiny_01.graph"), graph("networkit/tiny_04.graph"));
  EXPECT_EQ(graph("networkit/tiny_02.graph"), graph("networkit/tiny_03.graph"));
}

TEST(RealFiles, OnePieceOrMany) {
  NGF_NEED_DATA(data);
  for (const std::string_view file : {"networkit/wiki-Vote.txt", "seal/USAir.txt"}) {
    EXPECT_EQ(read_graph(data / file, {.threads = 1}).dataset.graph,
              read_graph(data / file, {.threads = 2}).dataset.graph);
  }
  const ReadResult votes = read_graph(data / "networkit/wiki-Vote.txt");
  ASSERT_EQ(votes.original_ids.size(), 7115U);
  EXPECT_EQ(votes.original_ids.front(), 3U);
  EXPECT_EQ(votes.original_ids.back(), 8297U);
}

TEST(RealFiles, Signals) {
  NGF_NEED_DATA(data);
  const Matrix speed = read_matrix(data / "metr-la/los_speed.csv");
  EXPECT_EQ(speed.rows(), 2017);  // the names of the sensors are numbers
  EXPECT_EQ(speed.cols(), 207);
  const Matrix temperature = read_matrix(data / "molene/temperature_K.csv");
  EXPECT_EQ(temperature.rows(), 37);
  EXPECT_EQ(temperature.cols(), 744);
  EXPECT_NEAR(temperature.sum(), 7743871.7, 1e-5);
  const Matrix places = read_matrix(data / "pygsp/minnesota.xy.csv");
  EXPECT_EQ(places.rows(), 2642);
  EXPECT_NEAR(places.col(0).sum(), -248253.583, 1e-6);
  EXPECT_NEAR(places.col(1).sum(), 119880.594, 1e-6);
}

TEST(RealFiles, WhatIsNoGraphIsSaidToBeNone) {
  NGF_NEED_DATA(data);
  const auto error = [&](std::string_view file) {
    return error_of<Error>([&] { read_graph(data / file); });
  };
  EXPECT_THAT(error("networkit/looptest1.gml"), HasSubstr("GML"));
  EXPECT_THAT(error("pygsp/minnesota.mat"), HasSubstr("MATLAB"));
  EXPECT_THAT(error("molene/gsp_molene_data.mat"), HasSubstr("MATLAB"));
  EXPECT_THAT(error("pygsp/minnesota.xy.csv"), HasSubstr("line 2"));
  for (const std::string_view signal :
       {"metr-la/los_speed.csv", "metr-la/graph_sensor_ids.txt", "molene/temperature_K.csv",
        "metr-la/graph_sensor_locations.csv", "molene/stations.csv"}) {
    EXPECT_THAT(error(signal), HasSubstr("rows and")) << signal;
  }
}

}  // namespace
}  // namespace ngf::io
