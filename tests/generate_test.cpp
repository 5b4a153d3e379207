#include "ngf/generate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ngf/components.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using testing::HasSubstr;

double mean_degree(const Graph& graph) { return degree_statistics(graph).mean; }

/// Hops from `source`, for connected graphs.
std::vector<NodeId> hops_from(const Graph& graph, NodeId source) {
  constexpr NodeId unseen = std::numeric_limits<NodeId>::max();
  std::vector<NodeId> hops(graph.nodes(), unseen);
  std::vector<NodeId> queue{source};
  hops[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const NodeId v : graph.neighbors(queue[i])) {
      if (hops[v] != unseen) continue;
      hops[v] = hops[queue[i]] + 1;
      queue.push_back(v);
    }
  }
  return hops;
}

NodeId diameter(const Graph& graph) {
  NodeId longest = 0;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto hops = hops_from(graph, u);
    longest = std::max(longest, *std::max_element(hops.begin(), hops.end()));
  }
  return longest;
}

/// The k-nearest-neighbour graph by sorting all distances.
Graph knn_reference(const Matrix& points, std::size_t k) {
  std::vector<Edge> edges;
  for (Eigen::Index u = 0; u < points.rows(); ++u) {
    std::vector<std::pair<double, NodeId>> others;
    for (Eigen::Index v = 0; v < points.rows(); ++v) {
      double distance = 0;
      for (Eigen::Index d = 0; d < points.cols(); ++d) {
        distance += (points(u, d) - points(v, d)) * (points(u, d) - points(v, d));
      }
      if (v != u) others.emplace_back(distance, static_cast<NodeId>(v));
    }
    std::sort(others.begin(), others.end());
    for (std::size_t i = 0; i < k; ++i) edges.push_back({static_cast<NodeId>(u), others[i].second});
  }
  return build_graph(static_cast<NodeId>(points.rows()), edges, {});
}

TEST(Knn, EqualsTheReference) {
  Random random(7);
  for (const Eigen::Index count : {2, 3, 15, 16, 17, 18, 63, 64, 65, 300}) {
    for (const Eigen::Index dimensions : {1, 2, 3, 10}) {
      for (const double levels : {1e9, 4.0, 1.0}) {  // few levels make ties and equal points
        Matrix points(count, dimensions);
        for (double& x : points.reshaped()) x = std::floor(levels * random.uniform()) / 3;
        for (const std::size_t k : {1, 2, 5, 40}) {
          if (k >= static_cast<std::size_t>(count)) continue;
          const Graph expected = knn_reference(points, k);
          EXPECT_EQ(knn_graph(points, k), expected) << count << " " << dimensions << " " << k;
          EXPECT_EQ(knn_graph(points, k, {.threads = 3}), expected);
        }
      }
    }
  }
}

//   0 . 1 2 . . 3    the nearest of 3 is 2, though 3 is nearest to none
TEST(Knn, IsTheSymmetricUnion) {
  const Matrix points{{0}, {2}, {3}, {6}};
  const Graph graph = knn_graph(points, 1);
  EXPECT_EQ(graph.edges(), 3U);
  EXPECT_EQ(graph, knn_reference(points, 1));
}

TEST(Knn, EqualPointsTakeNoQuadraticTime) {
  EXPECT_EQ(knn_graph(Matrix::Zero(200'000, 2), 1).edges(), 199'999U);
}

TEST(Knn, RefusesWhatHasNoNeighbours) {
  const auto message = [](const Matrix& points, std::uint64_t k) -> std::string {
    try {
      knn_graph(points, k);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(Matrix::Zero(3, 2), 3), HasSubstr("k=3 of 3 points"));
  EXPECT_THAT(message(Matrix::Zero(3, 2), 0), HasSubstr("k=0 of 3 points"));
  EXPECT_THAT(message(Matrix(0, 2), 1), HasSubstr("0 points"));
  EXPECT_THAT(message(Matrix(3, 0), 1), HasSubstr("no coordinates"));
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message(Matrix{{0, 1}, {2, nan}}, 1), HasSubstr("point 1, coordinate 1 is nan"));
  EXPECT_THAT(message(Matrix{{-1e200}, {1e200}, {0}}, 1), HasSubstr("scale the coordinates"));
}

TEST(Generate, IsTheSameForEveryThreadCount) {
  const auto check = [](const char* spec) {
    const auto one = generate_from_spec(spec, 1, {.threads = 1});
    const auto many = generate_from_spec(spec, 1, {.threads = 5});
    EXPECT_EQ(one->graph, many->graph) << spec;
    EXPECT_EQ(one->labels, many->labels) << spec;
    EXPECT_EQ(one->splits, many->splits) << spec;
    const auto other = generate_from_spec(spec, 2, {.threads = 5});
    EXPECT_NE(one->graph, other->graph) << spec;
  };
  check("er:nodes=3000,p=0.01");
  check("sbm:nodes=1000");
  check("ws:nodes=3000");
  check("ba:nodes=3000");
  check("rmat:scale=12");
  check("builtin:citation");
}

// A change of any of these numbers changes every result that users have published.
TEST(Generate, IsTheSameOnEveryMachine) {
  const auto fingerprint = [](const char* spec) {
    const auto dataset = generate_from_spec(spec, 1);
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a
    const auto add = [&](auto numbers) {
      for (const auto x : numbers) hash = (hash ^ static_cast<std::uint64_t>(x)) * 1099511628211U;
    };
    add(dataset->graph.targets());
    add(std::span(dataset->labels));
    if (const auto* words = std::get_if<SparseMatrixF>(&dataset->features)) {
      add(std::span(words->innerIndexPtr(), static_cast<std::size_t>(words->nonZeros())));
      add(std::span(dataset->splits[0].test));
    }
    return hash;
  };
  EXPECT_EQ(fingerprint("er:nodes=500,p=0.02"), 5978082945977592144U);
  EXPECT_EQ(fingerprint("sbm:"), 4643238485684635584U);
  EXPECT_EQ(fingerprint("ws:nodes=500"), 14140827891003423061U);
  EXPECT_EQ(fingerprint("ba:nodes=500"), 2200286578774647396U);
  EXPECT_EQ(fingerprint("rmat:scale=9"), 17729642399317449616U);
  EXPECT_EQ(fingerprint("builtin:citation"), 10842041999927048187U);
}

TEST(ErdosRenyi, HasItsEdgesEverywhere) {
  constexpr NodeId N = 400;
  constexpr double p = 0.1;
  const Graph graph = erdos_renyi(N, p, 5);
  EXPECT_EQ(graph.nodes(), N);
  constexpr double pairs = N * (N - 1) / 2.0;
  EXPECT_NEAR(static_cast<double>(graph.edges()), p * pairs, 4 * std::sqrt(pairs * p * (1 - p)));
  // Each row is a fair sample too: first rows are not favoured over last ones.
  for (const NodeId begin : {0U, 100U, 200U, 300U}) {
    double sum = 0;
    for (NodeId u = begin; u < begin + 100; ++u) sum += static_cast<double>(graph.degree(u));
    EXPECT_NEAR(sum / 100, p * (N - 1), 4 * std::sqrt(N * p * (1 - p) / 100 * 2));
  }
}

TEST(ErdosRenyi, WorksAtTheEnds) {
  EXPECT_EQ(erdos_renyi(100, 0, 1).edges(), 0U);
  EXPECT_EQ(erdos_renyi(100, 1, 1).edges(), 4950U);
  EXPECT_EQ(erdos_renyi(0, 0.5, 1).nodes(), 0U);
  EXPECT_EQ(erdos_renyi(1, 0.5, 1).edges(), 0U);
}

TEST(WattsStrogatz, IsTheRingWithoutRewiring) {
  const Graph graph = watts_strogatz(10, 4, 0, 1);
  for (NodeId u = 0; u < 10; ++u) {
    std::vector<NodeId> expected{(u + 1) % 10, (u + 2) % 10, (u + 8) % 10, (u + 9) % 10};
    std::sort(expected.begin(), expected.end());
    EXPECT_THAT(graph.neighbors(u), testing::ElementsAreArray(expected));
  }
}

TEST(WattsStrogatz, RewiresTheShareAsked) {
  constexpr NodeId N = 2000;
  for (const double beta : {0.1, 0.5, 1.0}) {
    const Graph graph = watts_strogatz(N, 6, beta, 3);
    EXPECT_EQ(graph.edges(), N * 3U);
    double moved = 0;
    for (NodeId u = 0; u < N; ++u) {
      EXPECT_GE(graph.degree(u), 3U);  // near ends stay
      for (const NodeId v : graph.neighbors(u)) {
        const NodeId apart = std::min((u + N - v) % N, (v + N - u) % N);
        if (apart > 3) moved += 0.5;
      }
    }
    EXPECT_NEAR(moved / (N * 3), beta, 0.03);
  }
}

TEST(WattsStrogatz, LeavesCompleteGraphsAlone) {
  EXPECT_EQ(watts_strogatz(7, 6, 1, 1).edges(), 21U);
  EXPECT_EQ(watts_strogatz(8, 6, 1, 1).edges(), 24U);
  EXPECT_EQ(watts_strogatz(5, 0, 1, 1).edges(), 0U);
}

TEST(StochasticBlockModel, HasDenseBlocksAndFewEdgesBetween) {
  const Graph graph = stochastic_block_model(800, 4, 0.2, 0.01, 2);
  double inside = 0;
  double across = 0;
  for (NodeId u = 0; u < 800; ++u) {
    for (const NodeId v : graph.neighbors(u)) (u / 200 == v / 200 ? inside : across) += 0.5;
  }
  const double pairs_inside = 4 * 200 * 199 / 2.0;
  const double pairs_across = 800 * 799 / 2.0 - pairs_inside;
  EXPECT_NEAR(inside / pairs_inside, 0.2, 4 * std::sqrt(0.16 / pairs_inside));
  EXPECT_NEAR(across / pairs_across, 0.01, 4 * std::sqrt(0.0099 / pairs_across));
}

TEST(StochasticBlockModel, HasContiguousBlocksOfEqualSize) {
  const Graph graph = stochastic_block_model(11, 3, 1, 0, 1);
  std::vector<NodeId> sizes = connected_components(graph).size;
  EXPECT_THAT(sizes, testing::UnorderedElementsAre(4, 4, 3));
  EXPECT_EQ(graph.edges(), 6U + 6U + 3U);
  for (NodeId u = 0; u < 11; ++u) {
    const auto row = graph.neighbors(u);
    EXPECT_LE(row.back() - row.front(), 3U);
  }
}

TEST(BarabasiAlbert, GrowsHubs) {
  const Graph graph = barabasi_albert(5000, 3, 1);
  EXPECT_EQ(graph.edges(), 3U * (5000 - 3));
  EXPECT_EQ(connected_components(graph).size.size(), 1U);
  const DegreeStatistics degrees = degree_statistics(graph);
  // A random graph with as many edges has no degree above 25; here hubs grow as sqrt(N).
  EXPECT_GT(degrees.max, 70U);
  EXPECT_EQ(degrees.median, 4);
  EXPECT_EQ(barabasi_albert(4, 3, 1).edges(), 3U);
  EXPECT_EQ(barabasi_albert(5, 4, 1).edges(), 4U);
  EXPECT_EQ(barabasi_albert(2, 1, 1).edges(), 1U);
}

TEST(Grid, JoinsWhatIsBesideOrBelow) {
  // 0 1 2
  // 3 4 5
  const Graph graph = grid(2, 3);
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {3, 4}, {4, 5}, {0, 3}, {1, 4}, {2, 5}};
  EXPECT_EQ(graph, build_graph(6, edges));
  EXPECT_EQ(grid(1, 5).edges(), 4U);
  EXPECT_EQ(grid(5, 1).edges(), 4U);
  EXPECT_EQ(grid(0, 5).nodes(), 0U);
  EXPECT_EQ(diameter(grid(14, 20)), 32U);
}

TEST(Rmat, IsSkewedAndScattered) {
  const Graph graph = rmat(12, 16, 1);
  EXPECT_EQ(graph.nodes(), 4096U);
  EXPECT_GT(graph.edges(), 40000U);
  EXPECT_LE(graph.edges(), 65536U);
  EXPECT_EQ(graph.self_loops(), 0U);
  const DegreeStatistics degrees = degree_statistics(graph);
  EXPECT_GT(static_cast<double>(degrees.max), 15 * degrees.mean);
  EXPECT_GT(degrees.isolated, 200U);
  // Without renumbering, the first quarter of the nodes would hold most of the arcs.
  const double share =
      static_cast<double>(graph.offsets()[1024]) / static_cast<double>(graph.arcs());
  EXPECT_NEAR(share, 0.25, 0.1);
}

TEST(Rmat, RenumbersWithoutCollisions) {
  // With very many draws on few nodes all pairs occur, if all numbers do.
  EXPECT_EQ(rmat(3, 2000, 1).edges(), 28U);
  EXPECT_EQ(rmat(1, 100, 1).edges(), 1U);
  EXPECT_EQ(rmat(0, 16, 1).nodes(), 1U);
}

TEST(KarateClub, IsZacharys) {
  const Dataset club = karate_club();
  EXPECT_EQ(club.graph.nodes(), 34U);
  EXPECT_EQ(club.graph.edges(), 78U);
  EXPECT_EQ(club.graph.degree(33), 17U);  // the officer
  EXPECT_EQ(club.graph.degree(0), 16U);   // the instructor
  EXPECT_EQ(club.class_count(), 2);
  EXPECT_EQ(std::count(club.labels.begin(), club.labels.end(), 0), 17);
  EXPECT_EQ(diameter(club.graph), 5U);
  std::uint64_t triangles = 0;
  for (NodeId u = 0; u < 34; ++u) {
    for (const NodeId v : club.graph.neighbors(u)) {
      for (const NodeId w : club.graph.neighbors(v)) {
        const auto row = club.graph.neighbors(u);
        if (u < v && v < w && std::binary_search(row.begin(), row.end(), w)) ++triangles;
      }
    }
  }
  EXPECT_EQ(triangles, 45U);
}

TEST(CitationNetwork, LooksLikeCora) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Dataset dataset = citation_network(2708, seed);
    const Graph& graph = dataset.graph;
    EXPECT_EQ(graph.nodes(), 2708U);
    EXPECT_EQ(connected_components(graph).size.size(), 1U);
    EXPECT_NEAR(mean_degree(graph), 4, 0.4);
    EXPECT_GT(degree_statistics(graph).max, 50U);
    const NodeId D = diameter(graph);
    EXPECT_GE(D, 15U);
    EXPECT_LE(D, 25U);
    EXPECT_EQ(dataset.class_count(), 7);
    double same = 0;
    for (NodeId u = 0; u < graph.nodes(); ++u) {
      for (const NodeId v : graph.neighbors(u))
        same += dataset.labels[u] == dataset.labels[v] ? 1 : 0;
    }
    EXPECT_NEAR(same / static_cast<double>(graph.arcs()), 0.82, 0.06);
    EXPECT_EQ(dataset.feature_count(), 1433);
    const auto& features = std::get<SparseMatrixF>(dataset.features);
    EXPECT_NEAR(static_cast<double>(features.nonZeros()) / 2708, 18, 1);
    EXPECT_EQ(features.sum(), static_cast<float>(features.nonZeros()));
  }
}

TEST(CitationNetwork, HasWordsThatTellTheClass) {
  const Dataset dataset = citation_network();
  const auto& features = std::get<SparseMatrixF>(dataset.features);
  // Learn how often each class uses each word on even nodes; classify odd ones by that.
  Matrix counts = Matrix::Ones(7, dataset.feature_count());
  Matrix prior = Matrix::Zero(7, 1);
  for (Eigen::Index u = 0; u < features.rows(); u += 2) {
    const auto label = dataset.labels[static_cast<std::size_t>(u)];
    prior(label, 0) += 1;
    for (SparseMatrixF::InnerIterator word(features, u); word; ++word)
      counts(label, word.col()) += 1;
  }
  double right = 0;
  for (Eigen::Index u = 1; u < features.rows(); u += 2) {
    Matrix score = prior.array().log();
    for (SparseMatrixF::InnerIterator word(features, u); word; ++word) {
      score += (counts.col(word.col()).array() / prior.array()).log().matrix();
    }
    Eigen::Index best = 0;
    score.col(0).maxCoeff(&best);
    right += best == dataset.labels[static_cast<std::size_t>(u)] ? 1 : 0;
  }
  // With all these labels; with 20 a class it is about 0.57.
  EXPECT_GT(right / 1354, 0.65);
  EXPECT_LT(right / 1354, 0.9);
}

TEST(CitationNetwork, HasAPublicSplit) {
  for (const auto& [nodes, train, validation, test] : {std::array{2708U, 140U, 500U, 1000U},
                                                       {6000U, 140U, 500U, 1000U},
                                                       {1354U, 70U, 250U, 500U}}) {
    const Dataset dataset = citation_network(nodes);
    ASSERT_EQ(dataset.splits.size(), 1U);
    const Split& split = dataset.splits[0];
    EXPECT_EQ(split.train.size(), train);
    EXPECT_EQ(split.validation.size(), validation);
    EXPECT_EQ(split.test.size(), test);
    std::set<NodeId> all;
    for (const auto* part : {&split.train, &split.validation, &split.test}) {
      EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
      all.insert(part->begin(), part->end());
    }
    EXPECT_EQ(all.size(), train + validation + test);
    std::map<std::int32_t, std::size_t> of_class;
    for (const NodeId u : split.train) ++of_class[dataset.labels[u]];
    for (const auto& [label, count] : of_class) EXPECT_EQ(count, train / 7) << "class " << label;
  }
}

TEST(CitationNetwork, WorksAtAnySize) {
  for (const NodeId nodes : {0U, 1U, 2U, 7U, 50U}) {
    const Dataset dataset = citation_network(nodes);
    EXPECT_EQ(dataset.graph.nodes(), nodes);
    EXPECT_EQ(dataset.labels.size(), nodes);
    EXPECT_EQ(std::get<SparseMatrixF>(dataset.features).rows(), nodes);
  }
}

std::string error_of_spec(const std::string& spec, const GenerateOptions& options = {}) {
  return test::error_of<Error>([&] { generate_from_spec(spec, 1, options); });
}

TEST(GenerateFromSpec, KnowsEveryModel) {
  EXPECT_EQ(generate_from_spec("builtin:karate", 1)->labels, karate_club().labels);
  EXPECT_EQ(generate_from_spec("builtin:citation,nodes=100,seed=3", 1)->graph,
            citation_network(100, 3).graph);
  EXPECT_EQ(generate_from_spec("sbm:", 5)->graph, stochastic_block_model(256, 8, 0.3, 0.0075, 5));
  EXPECT_EQ(generate_from_spec("sbm:p=.5,nodes=40,q=1e-2,blocks=2,seed=4", 5)->graph,
            stochastic_block_model(40, 2, 0.5, 0.01, 4));
  EXPECT_EQ(generate_from_spec("er:nodes=50,p=0.2", 5)->graph, erdos_renyi(50, 0.2, 5));
  EXPECT_EQ(generate_from_spec("ws:nodes=50", 5)->graph, watts_strogatz(50, 4, 0.1, 5));
  EXPECT_EQ(generate_from_spec("ba:nodes=50", 5)->graph, barabasi_albert(50, 3, 5));
  EXPECT_EQ(generate_from_spec("grid:", 5)->graph, grid(140, 140));
  EXPECT_EQ(generate_from_spec("grid:rows=2,cols=9", 5)->graph, grid(2, 9));
  EXPECT_EQ(generate_from_spec("rmat:scale=5,edge_factor=2", 5)->graph, rmat(5, 2, 5));
}

TEST(GenerateFromSpec, LeavesOtherTextsToOthers) {
  for (const char* spec :
       {"", "cora.npz", "planetoid:cora", "er", "ER:nodes=4,p=1", "/data/a:b", ":"}) {
    EXPECT_FALSE(generate_from_spec(spec, 1)) << spec;
  }
}

TEST(GenerateFromSpec, NamesWhatIsWrong) {
  EXPECT_THAT(error_of_spec("builtin:nonsense"), HasSubstr("nonsense"));
  EXPECT_THAT(error_of_spec("builtin:nonsense"), HasSubstr("karate, citation"));
  EXPECT_THAT(error_of_spec("builtin:karate,nodes=5"), HasSubstr("nodes"));
  EXPECT_THAT(error_of_spec("er:nodes=5,q=1"), HasSubstr("'q'"));
  EXPECT_THAT(error_of_spec("er:nodes=5,q=1"), HasSubstr("nodes, p, seed"));
  EXPECT_THAT(error_of_spec("er:p=0.1"), HasSubstr("nodes=... is missing"));
  EXPECT_THAT(error_of_spec("er:nodes=5"), HasSubstr("p=... is missing"));
  EXPECT_THAT(error_of_spec("er:nodes=5,nodes=6,p=1"), HasSubstr("twice"));
  EXPECT_THAT(error_of_spec("er:nodes"), HasSubstr("key=value"));
  for (const char* value : {"", "x", "-1", "1.5", "1e3", "18446744073709551616", " 5", "5 "}) {
    const std::string item = std::string("nodes=") + value;
    EXPECT_THAT(error_of_spec("ba:" + item), HasSubstr(item));
  }
  for (const char* value : {"", "x", "-0.1", "1.1", "nan", "inf", "0.1x"}) {
    const std::string item = std::string("p=") + value;
    EXPECT_THAT(error_of_spec("er:nodes=9," + item), HasSubstr(item));
  }
  EXPECT_THAT(error_of_spec("ws:nodes=9,k=3"), HasSubstr("k=3"));
  EXPECT_THAT(error_of_spec("ws:nodes=4,k=4"), HasSubstr("k=4"));
  EXPECT_THAT(error_of_spec("ba:nodes=3,m=3"), HasSubstr("m=3"));
  EXPECT_THAT(error_of_spec("ba:nodes=3,m=0"), HasSubstr("m=0"));
  EXPECT_THAT(error_of_spec("sbm:blocks=0"), HasSubstr("blocks=0"));
  EXPECT_THAT(error_of_spec("sbm:blocks=257"), HasSubstr("blocks=257"));
  EXPECT_THAT(error_of_spec("rmat:scale=32"), HasSubstr("scale=32"));
}

TEST(GenerateFromSpec, RefusesWhatDoesNotFitBeforeItTakesMemory) {
  const GenerateOptions small{.memory = 100000};
  for (const char* spec :
       {"er:nodes=4000000000,p=0", "er:nodes=1000000,p=1", "ws:nodes=2000000000",
        "ba:nodes=2000000000", "ba:nodes=4000000000,m=2000000000",
        "ws:nodes=4000000000,k=3999999998", "sbm:nodes=1000000", "grid:rows=60000,cols=60000",
        "rmat:scale=31", "rmat:scale=16,edge_factor=1000000000000",
        "builtin:citation,nodes=50000000"}) {
    EXPECT_THAT(error_of_spec(spec, small), HasSubstr("memory")) << spec;
  }
  for (const char* spec : {"er:nodes=4294967295,p=0", "ba:nodes=18446744073709551615",
                           "grid:rows=4294967296,cols=4294967296", "grid:rows=65536,cols=65536",
                           "rmat:scale=31,edge_factor=18446744073709551615",
                           "builtin:citation,nodes=18446744073709551615"}) {
    EXPECT_NE(error_of_spec(spec), "") << spec;
  }
}

class Stopped : public Progress {
 public:
  bool stop_requested() const override { return true; }
};

TEST(Generate, StopsWhenAsked) {
  Stopped stopped;
  for (const char* spec : {"er:nodes=1000,p=0.1", "ws:nodes=1000", "ba:nodes=9000", "rmat:scale=10",
                           "grid:", "builtin:citation"}) {
    EXPECT_THROW(generate_from_spec(spec, 1, {.progress = &stopped}), Interrupted) << spec;
  }
}

}  // namespace
}  // namespace ngf
