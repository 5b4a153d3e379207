#include "tasks/baselines.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "tests/denoise_support.hpp"

namespace ngf {
namespace {

using test::communities;
using test::missing;

Matrix laplacian(const Graph& graph) {
  Matrix result = Matrix::Zero(graph.nodes(), graph.nodes());
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (u == v) continue;
      result(u, u) += 1;
      result(u, v) -= 1;
    }
  }
  return result;
}

/// Tikhonov by its definition: x^ and the score of one lambda.
std::pair<Eigen::VectorXd, double> plain_tikhonov(const Graph& graph, const Eigen::VectorXd& y,
                                                  double lambda) {
  Matrix known = Matrix::Zero(y.size(), y.size());
  Eigen::VectorXd right = Eigen::VectorXd::Zero(y.size());
  for (Eigen::Index u = 0; u < y.size(); ++u) {
    if (std::isnan(y[u])) continue;
    known(u, u) = 1;
    right[u] = y[u];
  }
  const Matrix inverse = (known + lambda * laplacian(graph)).inverse();
  const Eigen::VectorXd x = inverse * right;
  const double n = known.trace();
  const double residual = (right - known * x).squaredNorm();
  const Matrix smoother = known * inverse * known;
  return {x, n * residual / std::pow(n - smoother.trace(), 2)};
}

TEST(Tikhonov, IsTheBestOfItsDefinition) {
  DenoiseCase data = communities(60, 2);
  data.noisy(5, 1) = missing;
  data.noisy(31, 1) = missing;
  const tasks::Smoother smoother = tasks::tikhonov(data.graph, 1);
  for (Eigen::Index s = 0; s < 2; ++s) {
    const Eigen::VectorXd y = data.noisy.col(s);
    const tasks::Smoothed found = smoother(y, nullptr);
    const auto [x, score] = plain_tikhonov(data.graph, y, found.lambda);
    EXPECT_LT((found.signal - x).norm(), 1e-9 * x.norm());
    for (const double factor : {0.2, 0.5, 2.0, 5.0}) {
      EXPECT_LE(score, plain_tikhonov(data.graph, y, found.lambda * factor).second * (1 + 1e-4));
    }
  }
}

TEST(Tikhonov, OfALargeGraphIsThatOfASmallOne) {
  DenoiseCase data = communities(560, 1, 0.3);
  data.noisy(100, 0) = missing;
  const Eigen::VectorXd y = data.noisy.col(0);
  const tasks::Smoothed found = tasks::tikhonov(data.graph, 1)(y, nullptr);
  const auto [x, score] = plain_tikhonov(data.graph, y, found.lambda);
  EXPECT_LT((found.signal - x).norm(), 1e-4 * x.norm());
  // The trace is an estimate, so the choice may be a neighbour of the best.
  for (const double factor : {0.1, 10.0}) {
    EXPECT_LE(score, plain_tikhonov(data.graph, y, found.lambda * factor).second * 1.05);
  }
}

TEST(Tikhonov, EstimatesTheNoise) {
  // A wave over a grid.
  constexpr Eigen::Index side = 15;
  Matrix clean(side * side, 1);
  for (Eigen::Index u = 0; u < clean.rows(); ++u) {
    clean(u, 0) = std::sin(0.4 * static_cast<double>(u / side)) +
                  std::cos(0.3 * static_cast<double>(u % side));
  }
  const Matrix noisy = with_noise(clean, 0.1, 1);
  const tasks::Smoothed found = tasks::tikhonov(grid(side, side), 1)(noisy.col(0), nullptr);
  const double truth = (noisy - clean).squaredNorm() / static_cast<double>(clean.rows());
  EXPECT_NEAR(found.noise_variance / truth, 1, 0.3);
}

TEST(Tikhonov, NodesOutOfReachTakeTheMean) {
  // 0 - 1   2 - 3   with nothing known of 2 and 3
  const Graph graph = build_graph(4, std::vector<Edge>{{0, 1}, {2, 3}});
  Eigen::VectorXd y(4);
  y << 1, 3, missing, missing;
  const tasks::Smoothed found = tasks::tikhonov(graph, 1)(y, nullptr);
  EXPECT_NEAR(found.signal[2], 2, 1e-12);
  EXPECT_NEAR(found.signal[3], 2, 1e-12);
}

TEST(NeighborMedian, OfANodeAndItsNeighbours) {
  // 0 - 1 - 2 - 3   4
  const Graph graph = build_graph(5, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}});
  Eigen::VectorXd y(5);
  y << 1, 5, 2, missing, missing;
  Eigen::VectorXd expected(5);
  expected << 3, 2, 3.5, 2, 8.0 / 3;
  EXPECT_TRUE(tasks::neighbor_median(graph, y).isApprox(expected, 1e-12));
}

}  // namespace
}  // namespace ngf
