#include "ngf/pair_weights.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "filter/reference.hpp"
#include "kernels/target.hpp"
#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using filter::reference_filter;
using filter::reference_shells;
using test::error_of;

constexpr std::array normalizations{Normalization::none, Normalization::symmetric,
                                    Normalization::row};

Graph some_graph(NodeId nodes, bool directed = false) {
  return build_graph(nodes, test::random_edges(nodes, std::size_t{nodes} * 3 / 2, 1),
                     {.directed = directed});
}

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Random random(seed);
  Matrix result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = random.normal();
  return result;
}

/// Embeddings of which most values are 0, or none; that of node 1 is 0.
Matrix some_embeddings(NodeId nodes, bool sparse) {
  Random random(5);
  Matrix result = random_matrix(nodes, sparse ? 90 : 21, 4);
  for (Eigen::Index i = 0; sparse && i < result.size(); ++i) {
    if (random.below(25) != 0) result.data()[i] = 0;
  }
  if (nodes > 1) result.row(1).setZero();
  return result;
}

/// Sets of taps of groups of nodes.
Taps grouped_taps(NodeId nodes) {
  std::vector<std::uint32_t> group(nodes);
  for (NodeId u = 0; u < nodes; ++u) group[u] = u % 3;
  return {4, {1, 2, 3, 4, -1, 0.5, 0, 2, 1, 0, 0, -3}, group};
}

template <typename Real>
void expect_near(const SignalsOf<Real>& found, const Eigen::MatrixXd& expected) {
  // Weights are held in float.
  const double error = (found.template cast<double>() - expected).norm();
  EXPECT_LE(error, 2e-6 * (1 + expected.norm()));
}

/// The gradients of sum(G o HX) by X and by the taps.
template <typename Real>
void expect_gradients(const PairFilter& filter, const std::vector<Eigen::MatrixXd>& shells,
                      const Eigen::MatrixXd& h, const Matrix& x) {
  const Matrix g = random_matrix(x.rows(), x.cols(), 8);
  const auto found = filter.gradients<Real>(x.cast<Real>(), g.cast<Real>());
  expect_near<Real>(found.input, h.transpose() * g);
  const Taps& taps = filter.taps();
  std::vector<double> expected(taps.values().size(), 0);
  for (std::size_t k = 0; k < taps.count(); ++k) {
    const Eigen::MatrixXd product = shells[k] * x;
    for (Eigen::Index u = 0; u < x.rows(); ++u) {
      const std::size_t group = taps.group(static_cast<NodeId>(u));
      expected[group * taps.count() + k] += g.row(u).dot(product.row(u));
    }
  }
  ASSERT_EQ(found.taps.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.taps[i], expected[i], 5e-6 * (1 + x.norm() * g.norm()));
  }
}

template <typename Real>
void expect_products(const PairFilter& filter, const std::vector<Eigen::MatrixXd>& shells) {
  const Eigen::MatrixXd h = reference_filter(filter.taps(), shells);
  for (const Eigen::Index width : {1, 5, 20, 64}) {
    SCOPED_TRACE(fmt::format("{} columns of {} bytes", width, sizeof(Real)));
    const Matrix x = random_matrix(h.rows(), width, 3);
    const SignalsOf<Real> signals = x.cast<Real>();
    expect_near<Real>(filter.apply(signals), h * x);
    expect_near<Real>(filter.apply_transpose(signals), h.transpose() * x);
    expect_gradients<Real>(filter, shells, h, x);
    SignalsOf<Real> y(h.rows(), width);
    for (const std::size_t k : {std::size_t{0}, std::size_t{2}}) {
      filter.apply_shell_to<Real>(k, signals, y);
      expect_near<Real>(y, shells[k] * x);
      filter.apply_shell_to<Real>(k, signals, y, true);
      expect_near<Real>(y, shells[k].transpose() * x);
    }
  }
}

class PairFilters : public testing::TestWithParam<NodeId> {
 protected:
  ~PairFilters() override { kernels::use_target(before_); }

 private:
  std::string before_ = kernels::current_target();
};

TEST_P(PairFilters, EqualTheReferenceOnEveryInstructionSet) {
  const NodeId nodes = GetParam();
  for (const bool directed : {false, true}) {
    const Graph graph = some_graph(nodes, directed);
    const bool sparse = directed;
    const Matrix embeddings = some_embeddings(nodes, sparse);
    const Eigen::MatrixXd weights = filter::reference_pair_weights(embeddings, 2);
    for (const Normalization normalization : normalizations) {
      const auto shells = reference_shells(graph, 4, normalization, &weights);
      FilterOptions options;
      options.normalization = normalization;
      options.shells.threads = 1;
      for (const std::string& target : kernels::available_targets()) {
        kernels::use_target(target);
        SCOPED_TRACE(fmt::format("{}, {}, {}", target, normalization_name(normalization),
                                 directed ? "directed" : "undirected"));
        for (const ProductForm form :
             {ProductForm::automatic, ProductForm::lists, ProductForm::streamed_lists}) {
          options.form = form;
          PairFilter filter(graph, {0.5, -1, 2, 0.25}, Embeddings(embeddings), 2, options);
          expect_products<float>(filter, shells);
          expect_products<double>(filter, shells);
          expect_products<double>(
              PairFilter(graph, grouped_taps(nodes), Embeddings(embeddings), 2, options), shells);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PairFilters, testing::Values(1, 8, 65, 130));

TEST(PairWeights, AreThoseOfTheShellsInTheirOrder) {
  const Graph graph = some_graph(80);
  for (const bool sparse : {false, true}) {
    const Matrix embeddings = some_embeddings(80, sparse);
    for (const double power : {0.0, 0.5, 1.0, 3.0}) {
      const Eigen::MatrixXd expected = filter::reference_pair_weights(embeddings, power);
      const PairFilter filter(graph, {1, 1, 1}, Embeddings(embeddings), power);
      for (NodeId u = 0; u < 80; ++u) {
        for (std::uint32_t k = 1; k <= 2; ++k) {
          const std::vector<NodeId> columns = filter.shells().columns(u, k);
          const std::vector<float> weights = filter.weights(u, k);
          ASSERT_EQ(weights.size(), columns.size());
          for (std::size_t i = 0; i < columns.size(); ++i) {
            EXPECT_NEAR(weights[i], expected(u, columns[i]), power < 1 ? 1e-3 : 1e-6);
          }
        }
      }
    }
  }
}

TEST(PairWeights, AreExactlySymmetricOnAnyNumberOfThreads) {
  const Graph graph = some_graph(300);
  const Matrix x = random_matrix(300, 33, 2);
  for (const bool sparse : {false, true}) {
    const Embeddings embeddings(some_embeddings(300, sparse));
    FilterOptions options;
    options.normalization = Normalization::symmetric;
    options.shells.threads = 1;
    const PairFilter one(graph, {1, 0.5, 2, 1}, embeddings, 1.5, options);
    options.shells.threads = 2;
    const PairFilter two(graph, {1, 0.5, 2, 1}, embeddings, 1.5, options);
    EXPECT_EQ(one.apply(x), two.apply(x));
    EXPECT_EQ(one.gradients(x, x).taps, two.gradients(x, x).taps);
    options.shells.storage = Storage::stream;
    const PairFilter streamed(graph, {1, 0.5, 2, 1}, embeddings, 1.5, options);
    options.shells.threads = 1;
    const PairFilter one_streamed(graph, {1, 0.5, 2, 1}, embeddings, 1.5, options);
    EXPECT_EQ(streamed.apply(x), one_streamed.apply(x));
    options.shells.storage = Storage::sparse;
    // H = H', so that also products of whole numbers of it are equal.
    EXPECT_EQ(one.apply(x), one.apply_transpose(x));
    for (NodeId u = 0; u < 300; ++u) {
      const std::vector<NodeId> columns = one.shells().columns(u, 2);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::vector<NodeId> back = one.shells().columns(columns[i], 2);
        const auto at = std::ranges::lower_bound(back, u) - back.begin();
        EXPECT_EQ(one.weights(u, 2)[i], one.weights(columns[i], 2)[static_cast<std::size_t>(at)]);
      }
    }
  }
}

TEST(PairWeights, OfPowerZeroAreShells) {
  const Graph graph = some_graph(100);
  FilterOptions options;
  options.normalization = Normalization::row;
  options.shells.storage = Storage::sparse;
  const Matrix x = random_matrix(100, 7, 2);
  const PairFilter weighted(graph, {1, 2, 3}, Embeddings(some_embeddings(100, false)), 0, options);
  expect_near<double>(weighted.apply(x), NeighborhoodFilter(graph, {1, 2, 3}, options).apply(x));
}

TEST(PairWeights, TapsCanChange) {
  const Graph graph = some_graph(50);
  const Embeddings embeddings(some_embeddings(50, false));
  PairFilter filter(graph, {1, 2, 3}, embeddings);
  const Matrix x = random_matrix(50, 3, 2);
  filter.set_taps({3, -1, 0});
  EXPECT_EQ(filter.apply(x), PairFilter(graph, {3, -1, 0}, embeddings).apply(x));
  EXPECT_THROW(filter.set_taps({1, 2}), Error);
}

/// Finite differences of a loss by the input and by the taps.
TEST(PairWeights, GradientsAreThoseOfDifferences) {
  const Graph graph = some_graph(30, true);
  FilterOptions options;
  options.normalization = Normalization::symmetric;
  PairFilter filter(graph, {0.5, -1, 2}, Embeddings(some_embeddings(30, false)), 1, options);
  Matrix x = random_matrix(30, 4, 2);
  const auto loss = [&] { return filter.apply(x).array().square().sum() / 2; };
  const auto found = filter.gradients(x, filter.apply(x));
  constexpr double step = 1e-5;
  for (const Eigen::Index i : {0, 17, 63, 119}) {
    const double before = x.data()[i];
    x.data()[i] = before + step;
    const double above = loss();
    x.data()[i] = before - step;
    EXPECT_NEAR(found.input.data()[i], (above - loss()) / (2 * step), 1e-5);
    x.data()[i] = before;
  }
  const std::vector<double> taps = filter.taps().values();
  for (std::size_t k = 0; k < taps.size(); ++k) {
    std::vector<double> changed = taps;
    changed[k] += step;
    filter.set_taps(changed);
    const double above = loss();
    changed[k] -= 2 * step;
    filter.set_taps(changed);
    EXPECT_NEAR(found.taps[k], (above - loss()) / (2 * step), 1e-4);
  }
}

/// A product with given weights of pairs, hop 1 and then hop 2, by definition.
Eigen::MatrixXd product_of_weights(const Graph& graph, const Taps& taps,
                                   Normalization normalization, const Eigen::MatrixXd& weights,
                                   const Matrix& x) {
  return reference_filter(taps, reference_shells(graph, taps.count(), normalization, &weights)) * x;
}

/// Finite differences of a loss by the weights, through the normalisation.
TEST(PairWeights, TheirGradientsAreThoseOfDifferences) {
  for (const bool directed : {false, true}) {
    const Graph graph = some_graph(24, directed);
    // No weight is 0, where the loss would have a corner.
    const Matrix embeddings = random_matrix(24, 6, 4).cwiseAbs();
    Eigen::MatrixXd weights = filter::reference_pair_weights(embeddings, 2);
    const Matrix x = random_matrix(24, 3, 2);
    for (const Normalization normalization : normalizations) {
      FilterOptions options;
      options.normalization = normalization;
      for (const Taps& taps : {Taps{0.5, -1, 2, 0.25}, grouped_taps(24)}) {
        const PairFilter filter(graph, taps, Embeddings(embeddings), 2, options);
        const Matrix by_output = filter.apply(x);
        const std::vector<float> found = filter.pair_gradients<double>(x, by_output);
        const auto loss = [&] {
          return product_of_weights(graph, taps, normalization, weights, x).squaredNorm() / 2;
        };
        std::size_t at = 0;
        for (NodeId u = 0; u < 24; ++u) {
          for (std::uint32_t k = 1; k < taps.count(); ++k) {
            for (const NodeId v : filter.shells().columns(u, k)) {
              const double gradient = found[at++];
              if (u % 5 != 0) continue;
              constexpr double step = 1e-5;
              weights(u, v) += step;
              const double above = loss();
              weights(u, v) -= 2 * step;
              EXPECT_NEAR(gradient, (above - loss()) / (2 * step), 1e-4 * (1 + std::abs(gradient)));
              weights(u, v) += step;
            }
          }
        }
        EXPECT_EQ(at, found.size());
      }
    }
  }
}

TEST(PairWeights, TapsAreFitted) {
  const Graph graph = some_graph(60);
  const PairFilter filter(graph, {1, -0.5, 0.25}, Embeddings(some_embeddings(60, false)));
  const Matrix x = random_matrix(60, 3, 2);
  const FittedTaps found = fit_taps(filter, x, filter.apply(x));
  EXPECT_LT(found.residual, 1e-12);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.taps[k], filter.taps()(0, k), 1e-6);
}

TEST(PairWeights, NormsMayLeaveTheRangeOfNumbers) {
  const Graph graph = build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}});
  Matrix embeddings(3, 2);
  embeddings << 1e308, 1e308, 1e-320, 1e-320, 0, 1;
  const PairFilter filter(graph, {0, 1}, Embeddings(embeddings));
  EXPECT_NEAR(filter.weights(0, 1)[0], 1, 1e-3);
  EXPECT_NEAR(filter.weights(2, 1)[0], std::sqrt(0.5), 1e-3);
}

TEST(PairWeights, ErrorsSayWhatIsWrong) {
  const Graph graph = some_graph(20);
  Matrix rows = some_embeddings(20, false);
  const Embeddings embeddings(rows);
  EXPECT_EQ(embeddings.zero_rows(), 1U);
  const auto error = [&](double power, const FilterOptions& options) {
    return error_of<Error>([&] { PairFilter(graph, {1, 1}, embeddings, power, options); });
  };
  EXPECT_NE(error(-1, {}).find("power of pair weights is -1"), std::string::npos);
  EXPECT_NE(error(std::nan(""), {}).find("power of pair weights is nan"), std::string::npos);
  FilterOptions options;
  options.normalization = Normalization::lmax;
  EXPECT_NE(error(1, options).find("not by lmax"), std::string::npos);
  options = {};
  options.shells.storage = Storage::dense;
  EXPECT_NE(error(1, options).find("storage=sparse"), std::string::npos);
  options.shells.storage = Storage::stream;
  const PairFilter streamed(graph, {1, 1}, embeddings, 1, options);
  EXPECT_NE(error_of<Error>([&] { streamed.weights(0, 1); }).find("not held"), std::string::npos);
  const Matrix x = random_matrix(20, 2, 1);
  const auto gradients = [&] { streamed.pair_gradients<double>(x, x); };
  EXPECT_NE(error_of<Error>(gradients).find("not held"), std::string::npos);
  options = {};
  options.form = ProductForm::hop_tiles;
  EXPECT_NE(error(1, options).find("hop-tiles"), std::string::npos);
  const auto other_size = [&] { PairFilter(some_graph(21), {1, 1}, embeddings); };
  EXPECT_NE(error_of<Error>(other_size).find("embeddings of 20 nodes for a graph of 21"),
            std::string::npos);
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    rows(3, 2) = value;
    const std::string text = error_of<Error>([&] { Embeddings{rows}; });
    EXPECT_NE(text.find("node 3"), std::string::npos);
    EXPECT_NE(text.find("column 2"), std::string::npos);
  }
}

TEST(PairWeights, CountTheirMemory) {
  const Graph graph = some_graph(2000);
  const Embeddings embeddings(some_embeddings(2000, false));
  FilterOptions options;
  const FilterPlan plan = plan_pair_filter(graph, {1, 1, 1, 1, 1}, options);
  const PairFilter filter(graph, {1, 1, 1, 1, 1}, embeddings);
  EXPECT_GE(static_cast<double>(plan.weight_bytes),
            0.7 * static_cast<double>(filter.weight_bytes()));
  options.shells.memory = plan.shells.bytes() + plan.weight_bytes / 2;
  EXPECT_THROW(plan_pair_filter(graph, {1, 1, 1, 1, 1}, options), MemoryExceeded);
  // Lists that fit, but not with their weights.
  ShellPlan of_lists = plan.shells;
  of_lists.options.memory = filter.shells().bytes() + filter.weight_bytes() / 2;
  const Shells shells = build_shells(graph, of_lists);
  const auto build = [&] { PairFilter(shells, {1, 1, 1, 1, 1}, embeddings); };
  EXPECT_NE(error_of<MemoryExceeded>(build).find("a weight for each pair"), std::string::npos);
}

TEST(FeatureEmbeddings, AreTfIdf) {
  Dataset dataset;
  dataset.graph = build_graph(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  MatrixF counts(4, 3);
  counts << 1, 2, 1,  //
      0, 1, 1,        //
      3, 0, 1,        //
      0, 0, 1;
  dataset.features = counts;
  // The last feature is at every node: its weight is log(1). So nothing is left of node 3.
  Matrix expected = counts.cast<double>();
  for (Eigen::Index u = 0; u < 4; ++u) expected.row(u) /= expected.row(u).sum();
  expected.col(0) *= std::log(2.0);
  expected.col(1) *= std::log(2.0);
  expected.col(2) *= 0;
  const Embeddings embeddings = feature_embeddings(dataset);
  EXPECT_EQ(embeddings.zero_rows(), 1U);
  const PairFilter filter(dataset.graph, {0, 1}, embeddings);
  const Eigen::MatrixXd weights = filter::reference_pair_weights(expected, 1);
  EXPECT_NEAR(filter.weights(0, 1)[0], weights(0, 1), 1e-6);
  EXPECT_EQ(filter.weights(0, 1)[1], 0);
  EXPECT_NEAR(filter.weights(1, 1)[1], weights(1, 2), 1e-6);
  dataset.features = SparseMatrixF(counts.sparseView());
  EXPECT_EQ(PairFilter(dataset.graph, {0, 1}, feature_embeddings(dataset)).weights(0, 1),
            filter.weights(0, 1));
}

TEST(FeatureEmbeddings, OfNegativeFeaturesAreTheFeatures) {
  Dataset dataset;
  dataset.graph = some_graph(20);
  const Matrix rows = random_matrix(20, 5, 1);
  dataset.features = MatrixF(rows.cast<float>());
  const PairFilter filter(dataset.graph, {0, 1}, feature_embeddings(dataset));
  const PairFilter expected(dataset.graph, {0, 1}, Embeddings(rows));
  expect_near<double>(filter.apply(rows), expected.apply(rows));
}

TEST(FeatureEmbeddings, NeedFeatures) {
  Dataset dataset;
  dataset.graph = some_graph(5);
  EXPECT_NE(error_of<Error>([&] { feature_embeddings(dataset); }).find("no features"),
            std::string::npos);
  dataset.features = MatrixF(MatrixF::Ones(5, 2));
  EXPECT_NE(error_of<Error>([&] { feature_embeddings(dataset); }).find("TF-IDF"),
            std::string::npos);
}

}  // namespace
}  // namespace ngf
