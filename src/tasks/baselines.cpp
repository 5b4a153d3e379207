// Nodes without a value are harmonic: x_m = -L_mm^-1 L_mo x_o for missing m and known o. Put in,
// they leave the same problem on the known nodes alone, with the Laplacian
//
//   L_s = L_oo - L_om L_mm^-1 L_mo     (Kron reduction),
//
// whose eigenvectors give x^ and the traces for every lambda at once.

#include "tasks/baselines.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/fail.hpp"
#include "base/streams.hpp"
#include "graph/build_rows.hpp"
#include "tasks/costs.hpp"

namespace ngf::tasks {

namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;
using Nodes = std::vector<Eigen::Index>;

/// Nodes by what is known of them: values, neighbours of neighbours with values, or nothing.
struct Parts {
  Nodes known;
  Nodes missing;
  Nodes unreached;
  friend bool operator==(const Parts&, const Parts&) = default;
};

Parts parts_of(const Graph& graph, const Eigen::VectorXd& y) {
  Parts parts;
  std::vector<bool> seen(graph.nodes(), false);
  std::vector<NodeId> queue;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    if (std::isnan(y[u])) continue;
    parts.known.push_back(u);
    seen[u] = true;
    queue.push_back(u);
  }
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const NodeId v : graph.neighbors(queue[i])) {
      if (seen[v]) continue;
      seen[v] = true;
      queue.push_back(v);
    }
  }
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    if (std::isnan(y[u])) (seen[u] ? parts.missing : parts.unreached).push_back(u);
  }
  return parts;
}

SparseMatrix laplacian_of(const Graph& graph) {
  std::vector<Eigen::Triplet<double>> entries;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto neighbors = graph.neighbors(u);
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
      if (neighbors[i] == u) continue;
      const double w = weight_at(graph, u, i);
      if (!(w >= 0)) {
        fail("the edge {}-{} weighs {}; smoothing needs weights of at least 0", u, neighbors[i], w);
      }
      entries.emplace_back(u, u, w);
      entries.emplace_back(u, neighbors[i], -w);
    }
  }
  SparseMatrix result(graph.nodes(), graph.nodes());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

struct Choice {
  double residual = 0;      // |y - x^|^2
  double trace = 0;         // of S
  double square_trace = 0;  // of S^2
};

/// The lambdas of the least scores so far: for x^ and, since cross-validation takes too little
/// smoothing for none where eigenvalues of L lie close together, a robust form for the noise.
struct Choices {
  double n;
  double least = std::numeric_limits<double>::infinity();
  double least_robust = std::numeric_limits<double>::infinity();
  double noise_variance = 0;

  /// Whether x^ is the best so far.
  bool see(const Choice& choice) {
    constexpr double robustness = 0.9;
    const double lost = n - choice.trace;
    if (!(lost > 0)) return false;
    const double score = n * choice.residual / (lost * lost);
    const double robust = (robustness + (1 - robustness) * choice.square_trace / n) * score;
    if (robust < least_robust) {
      least_robust = robust;
      noise_variance = choice.residual / lost;
    }
    if (!(score < least)) return false;
    least = score;
    return true;
  }
};

/// Lambdas that are tried, as multiples of 1 / (the mean degree).
std::vector<double> grid(int steps_a_decade) {
  constexpr int from = -3;
  constexpr int to = 4;
  std::vector<double> result;
  for (int i = from * steps_a_decade; i <= to * steps_a_decade; ++i) {
    result.push_back(std::pow(10.0, static_cast<double>(i) / steps_a_decade));
  }
  return result;
}

struct Tikhonov {
  const Graph& graph;
  std::uint64_t seed;
  SparseMatrix laplacian;
  double degree = 1;

  // Of the parts last seen: most signals of a batch have the same.
  Parts parts;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  Eigen::MatrixXd fill;  // x_m = fill x_o
  struct Traces {
    double once = 0;    // of S
    double square = 0;  // of S^2
  };
  std::vector<Traces> traces;  // by lambda, where they are estimated

  Tikhonov(const Graph& g, std::uint64_t s) : graph(g), seed(s), laplacian(laplacian_of(g)) {
    const double mean =
        graph.nodes() > 0 ? Eigen::VectorXd(laplacian.diagonal()).sum() / graph.nodes() : 0;
    if (mean > 0) degree = mean;
  }

  Smoothed smooth(const Eigen::VectorXd& y, const Progress* progress) {
    Parts now = parts_of(graph, y);
    const bool changed = !(now == parts) || (eigen.eigenvalues().size() == 0 && traces.empty());
    parts = std::move(now);
    const bool dense = laplacian.rows() <= costs::eigenvector_nodes;
    if (changed && dense) reduce();
    Smoothed result = dense ? smooth_dense(y) : smooth_large(y, changed, progress);
    const double mean = known_mean(y);
    for (const Eigen::Index u : parts.unreached) result.signal[u] = mean;
    return result;
  }

  // ---- Small graphs ----

  void reduce() {
    const Eigen::MatrixXd all(laplacian);
    Eigen::MatrixXd reduced = all(parts.known, parts.known);
    fill.resize(static_cast<Eigen::Index>(parts.missing.size()), reduced.rows());
    if (!parts.missing.empty()) {
      const Eigen::MatrixXd across = all(parts.missing, parts.known);
      fill = -all(parts.missing, parts.missing).llt().solve(across);
      reduced += across.transpose() * fill;
      reduced = (0.5 * (reduced + reduced.transpose())).eval();
    }
    eigen.compute(reduced);
  }

  Smoothed smooth_dense(const Eigen::VectorXd& y) const {
    constexpr int steps_a_decade = 12;
    const Eigen::VectorXd known = y(parts.known);
    const auto n = static_cast<double>(known.size());
    const Eigen::VectorXd spectrum = eigen.eigenvectors().transpose() * known;
    const Eigen::ArrayXd values = eigen.eigenvalues().array().max(0);
    Choices choices{.n = n};
    Smoothed best;
    for (const double multiple : grid(steps_a_decade)) {
      const double lambda = multiple / degree;
      const Eigen::ArrayXd kept = 1 / (1 + lambda * values);
      const double residual = ((1 - kept) * spectrum.array()).square().sum();
      if (choices.see({residual, kept.sum(), kept.square().sum()})) best.lambda = lambda;
    }
    best.noise_variance = choices.noise_variance;
    const Eigen::ArrayXd kept = 1 / (1 + best.lambda * values);
    const Eigen::VectorXd x = eigen.eigenvectors() * (kept * spectrum.array()).matrix();
    best.signal = y;
    best.signal(parts.known) = x;
    if (!parts.missing.empty()) best.signal(parts.missing) = fill * x;
    return best;
  }

  // ---- Large graphs ----

  /// The diagonal that is 1 at known nodes; and at those out of reach, whose rows are 0.
  Eigen::VectorXd known_diagonal() const {
    Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(laplacian.rows());
    for (const Eigen::Index u : parts.known) diagonal[u] = 1;
    for (const Eigen::Index u : parts.unreached) diagonal[u] = 1;
    return diagonal;
  }

  Smoothed smooth_large(const Eigen::VectorXd& y, bool changed, const Progress* progress) {
    constexpr int steps_a_decade = 3;
    constexpr int probes = 4;
    constexpr double tolerance = 1e-6;
    const Eigen::VectorXd diagonal = known_diagonal();
    Eigen::VectorXd right = Eigen::VectorXd::Zero(y.size());
    for (const Eigen::Index u : parts.known) right[u] = y[u];
    const auto n = static_cast<double>(parts.known.size());
    const std::vector<double> multiples = grid(steps_a_decade);
    if (changed) traces.assign(multiples.size(), {});
    Choices choices{.n = n};
    Smoothed best;
    Eigen::VectorXd x = right;
    for (std::size_t i = 0; i < multiples.size(); ++i) {
      throw_if_stopped(progress);
      const double lambda = multiples[i] / degree;
      SparseMatrix system = lambda * laplacian;
      system.diagonal() += diagonal;
      Eigen::ConjugateGradient<SparseMatrix, Eigen::Lower | Eigen::Upper> solver(system);
      solver.setTolerance(tolerance);
      x = solver.solveWithGuess(right, x);
      if (changed) {
        for (int p = 0; p < probes; ++p) {
          Random random = random_for(seed, Use::denoise_trace, static_cast<std::uint64_t>(p));
          Eigen::VectorXd b = Eigen::VectorXd::Zero(y.size());
          for (const Eigen::Index u : parts.known) b[u] = random.chance(0.5) ? 1 : -1;
          const Eigen::VectorXd smooth = solver.solve(b);
          traces[i].once += b.dot(smooth) / probes;
          traces[i].square += smooth.cwiseProduct(diagonal).squaredNorm() / probes;
        }
      }
      double residual = 0;
      for (const Eigen::Index u : parts.known) residual += (y[u] - x[u]) * (y[u] - x[u]);
      if (!choices.see({residual, traces[i].once, traces[i].square})) continue;
      best.signal = x;
      best.lambda = lambda;
    }
    best.noise_variance = choices.noise_variance;
    if (best.signal.size() == 0) best.signal = x;
    return best;
  }
};

}  // namespace

Smoother tikhonov(const Graph& graph, std::uint64_t seed) {
  if (graph.directed()) {
    throw Error("tikhonov smoothing is for undirected graphs",
                {"leave {} out", {{"directed", true}}});
  }
  const auto smoother = std::make_shared<Tikhonov>(graph, seed);
  return [smoother](const Eigen::VectorXd& y, const Progress* progress) {
    return smoother->smooth(y, progress);
  };
}

double known_mean(const Eigen::VectorXd& y) {
  double sum = 0;
  double count = 0;
  for (const double value : y) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return sum / count;
}

Eigen::VectorXd neighbor_median(const Graph& graph, const Eigen::VectorXd& y) {
  const double mean = known_mean(y);
  Eigen::VectorXd result(y.size());
  std::vector<double> around;
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    around.clear();
    if (!std::isnan(y[u])) around.push_back(y[u]);
    for (const NodeId v : graph.neighbors(u)) {
      if (v != u && !std::isnan(y[v])) around.push_back(y[v]);
    }
    if (around.empty()) {
      result[u] = mean;
      continue;
    }
    const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    result[u] = around.size() % 2 == 1 ? *middle
                                       : (*middle + *std::max_element(around.begin(), middle)) / 2;
  }
  return result;
}

}  // namespace ngf::tasks
