#include "ngf/features.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>

#include "base/memory.hpp"
#include "ngf/generate.hpp"
#include "shells/reference.hpp"
#include "support.hpp"

namespace ngf {
namespace {

using test::graph_with_twins;
using test::random_edges;

constexpr std::array aggregates{Aggregate::mean, Aggregate::sum, Aggregate::max};

MatrixF feature_signals(NodeId nodes, Eigen::Index columns) {
  Random random(5);
  MatrixF x(nodes, columns);
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x.data()[i] = static_cast<float>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
  }
  return x;
}

Graph made(std::string_view spec) { return generate_from_spec(spec, 1)->graph; }

/// The specification: one search per node, sums in double.
Matrix plain_features(const Graph& graph, const MatrixF& x, Aggregate aggregate, std::uint32_t hops,
                      int min_paths = 1) {
  const Eigen::Index width = x.cols();
  Matrix result = Matrix::Zero(x.rows(), width * (Eigen::Index{hops} + 1));
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const shells::PlainSearch found = shells::plain_search(graph, u);
    std::vector<double> counts(hops + std::size_t{1}, 0);
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      const std::uint32_t k = found.hops[v];
      if (k > hops || (k >= 2 && found.paths[v] < static_cast<std::uint64_t>(min_paths))) continue;
      auto to = result.row(u).segment(k * width, width);
      const Eigen::RowVectorXd row = x.row(v).cast<double>();
      if (aggregate != Aggregate::max) {
        to += row;
      } else {
        to = counts[k] > 0 ? Eigen::RowVectorXd(to.cwiseMax(row)) : row;
      }
      ++counts[k];
    }
    for (std::uint32_t k = 0; k <= hops && aggregate == Aggregate::mean; ++k) {
      if (counts[k] > 0) result.row(u).segment(k * width, width) /= counts[k];
    }
  }
  return result;
}

FeatureOptions feature_options(Aggregate aggregate, std::uint32_t hops, int threads = 1) {
  FeatureOptions options;
  options.aggregate = aggregate;
  options.shells.hops = hops;
  options.shells.threads = threads;
  return options;
}

void expect_like_plain(const Graph& graph, const MatrixF& x, const FeatureOptions& options) {
  const Matrix expected =
      plain_features(graph, x, options.aggregate, options.shells.hops, options.shells.min_paths);
  const MatrixF found = shell_features(graph, x, options);
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  const Matrix error = (found.cast<double>() - expected).cwiseAbs();
  const Matrix allowed = 1e-6 * expected.cwiseAbs().array() + 1e-5;
  EXPECT_TRUE((error.array() <= allowed.array()).all())
      << aggregate_name(options.aggregate) << ", " << options.shells.hops << " hops, "
      << graph.nodes() << " nodes, " << x.cols() << " columns";
  if (options.aggregate == Aggregate::max) {
    EXPECT_EQ(found.cast<double>(), expected);
  }
}

// 0 - 1 - 2    3 - 4    5
TEST(Features, AreThoseOfASmallGraph) {
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {3, 4}};
  const Graph graph = build_graph(6, edges);
  MatrixF x(6, 1);
  x << -1, -2, -4, 8, 16, 32;
  MatrixF mean(6, 3);
  mean << -1, -2, -4, -2, -2.5, 0, -4, -2, -1, 8, 16, 0, 16, 8, 0, 32, 0, 0;
  EXPECT_EQ(shell_features(graph, x, feature_options(Aggregate::mean, 2)), mean);
  MatrixF sum = mean;
  sum(1, 1) = -5;
  EXPECT_EQ(shell_features(graph, x, feature_options(Aggregate::sum, 2)), sum);
  MatrixF max = mean;
  max(1, 1) = -1;
  EXPECT_EQ(shell_features(graph, x, feature_options(Aggregate::max, 2)), max);
}

TEST(Features, EqualThePlainTwin) {
  for (const NodeId nodes : {1U, 7U, 63U, 64U, 65U, 513U}) {
    const Graph graph = build_graph(nodes, random_edges(nodes, std::size_t{nodes} * 2, nodes));
    for (const Aggregate aggregate : aggregates) {
      for (const std::uint32_t hops : {0U, 1U, 2U, 5U}) {
        expect_like_plain(graph, feature_signals(nodes, 3), feature_options(aggregate, hops));
      }
    }
  }
}

TEST(Features, OfAnyWidth) {
  const Graph graph = graph_with_twins();
  for (const Eigen::Index width : {0, 1, 2, 15, 16, 17, 33, 64, 65, 128, 129, 300}) {
    for (const Aggregate aggregate : aggregates) {
      expect_like_plain(graph, feature_signals(graph.nodes(), width),
                        feature_options(aggregate, 2));
    }
  }
}

TEST(Features, FollowArcsAndCountPaths) {
  BuildOptions directed;
  directed.directed = true;
  const Graph arcs = build_graph(90, random_edges(90, 250, 3), directed);
  const Graph edges = build_graph(90, random_edges(90, 250, 3));
  for (const Aggregate aggregate : aggregates) {
    expect_like_plain(arcs, feature_signals(90, 5), feature_options(aggregate, 3));
    for (const int min_paths : {2, 3}) {
      FeatureOptions options = feature_options(aggregate, 3);
      options.shells.min_paths = min_paths;
      expect_like_plain(edges, feature_signals(90, 5), options);
    }
  }
}

/// Sums of many values are as exact as single precision can hold them.
TEST(Features, OfLargeShells) {
  std::vector<Edge> star;
  for (NodeId v = 1; v < 3000; ++v) star.push_back({0, v});
  const Graph graph = build_graph(3000, star);
  MatrixF x = feature_signals(3000, 4);
  x.array() += 1000;
  const Matrix expected = plain_features(graph, x, Aggregate::mean, 2);
  const MatrixF found = shell_features(graph, x, feature_options(Aggregate::mean, 2));
  EXPECT_LE((found.cast<double>() - expected).cwiseAbs().maxCoeff(), 5e-4);
}

TEST(Features, DependNeitherOnThreadsNorOnEngineNorOnMemory) {
  const Graph graph = made("rmat:scale=11");
  const MatrixF x = feature_signals(graph.nodes(), 40);
  for (const Aggregate aggregate : aggregates) {
    FeatureOptions options = feature_options(aggregate, 2);
    const MatrixF expected = shell_features(graph, x, options);
    for (const Engine engine : {Engine::bits, Engine::queue}) {
      for (const int threads : {1, 2}) {
        options.shells.engine = engine;
        options.shells.threads = threads;
        FeaturePlan plan = plan_features(graph, x.cols(), options);
        for (const NodeId rows_at_once : {100U, 700U, 5000U}) {
          plan.rows_at_once = rows_at_once;
          MatrixF found(graph.nodes(), plan.columns());
          NodeId next = 0;
          stream_features(graph, x, plan, [&](NodeId first, const MatrixF& rows) {
            EXPECT_EQ(first, next);
            found.middleRows(first, rows.rows()) = rows;
            next += static_cast<NodeId>(rows.rows());
          });
          EXPECT_EQ(next, graph.nodes());
          EXPECT_EQ(found, expected) << engine_name(engine) << ", " << threads << " threads";
        }
      }
    }
  }
}

TEST(Features, OfSomeRows) {
  const Graph graph = graph_with_twins();
  const MatrixF x = feature_signals(graph.nodes(), 3);
  FeatureOptions options = feature_options(Aggregate::mean, 3);
  const MatrixF all = shell_features(graph, x, options);
  options.shells.rows = {11, 37};
  EXPECT_EQ(shell_features(graph, x, options), all.middleRows(11, 26));
  options.shells.rows = {11, 11};
  EXPECT_EQ(shell_features(graph, x, options).rows(), 0);
}

TEST(Features, TakeAsManyPassesAsTheBudgetNeeds) {
  const Graph graph = made("grid:rows=60,cols=60");
  FeatureOptions options = feature_options(Aggregate::mean, 9);
  const FeaturePlan whole = plan_features(graph, 64, options);
  EXPECT_EQ(whole.passes(), 1U);
  EXPECT_EQ(whole.columns(), 640);
  options.shells.memory = whole.bytes - std::uint64_t{640} * sizeof(float) * 2000;
  const FeaturePlan parts = plan_features(graph, 64, options);
  EXPECT_EQ(parts.rows_at_once, 1600U);
  EXPECT_EQ(parts.passes(), 3U);
  EXPECT_LE(parts.bytes, options.shells.memory);
  EXPECT_THROW(shell_features(graph, feature_signals(3600, 64), options), MemoryExceeded);
  options.shells.memory = 1'000'000;
  try {
    plan_features(graph, 64, options);
    FAIL() << "features fit into 1 MB";
  } catch (const MemoryExceeded& exceeded) {
    options.shells.memory = exceeded.needed();
  }
  // The first refusal may be that of the search alone.
  try {
    plan_features(graph, 64, options);
  } catch (const MemoryExceeded& exceeded) {
    options.shells.memory = exceeded.needed();
  }
  EXPECT_EQ(plan_features(graph, 64, options).rows_at_once, 512U);
}

TEST(Features, RefuseWhatTheyCannotDo) {
  const Graph graph = made("builtin:karate");
  MatrixF x = feature_signals(34, 2);
  EXPECT_THROW(shell_features(graph, x, feature_options(Aggregate::sum, all_hops)), Error);
  EXPECT_THROW(shell_features(graph, x.topRows(33), feature_options(Aggregate::sum, 1)), Error);
  x.setConstant(2e38F);
  try {
    shell_features(graph, x, feature_options(Aggregate::sum, 1));
    FAIL() << "an infinite sum is no feature";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("node 0 exceeds the range"));
  }
  EXPECT_EQ(shell_features(graph, x, feature_options(Aggregate::max, 1))(0, 3), 2e38F);
}

TEST(Features, StopWhenAsked) {
  class Stop : public Progress {
   public:
    void report(std::uint64_t done, std::uint64_t total) override {
      EXPECT_LE(done, total);
      ++reports;
    }
    bool stop_requested() const override { return reports > 2; }
    std::atomic<int> reports{0};
  };
  const Graph graph = made("rmat:scale=12");
  Stop stop;
  EXPECT_THROW(shell_features(graph, feature_signals(graph.nodes(), 2),
                              feature_options(Aggregate::mean, 2, 2), &stop),
               Interrupted);
  EXPECT_GT(stop.reports, 2);
}

}  // namespace
}  // namespace ngf
