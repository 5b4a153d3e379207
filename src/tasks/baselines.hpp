#pragma once

#include <Eigen/Core>
#include <functional>

#include "ngf/graph.hpp"
#include "ngf/progress.hpp"

/// Smoothers that need no fit of a network. Signals have NaN where values are missing.
namespace ngf::tasks {

struct Smoothed {
  Eigen::VectorXd signal;
  double lambda = 0;
  /// |y - x^|^2 / trace(I - S), with the lambda that is least in the score below times
  /// 0.9 + 0.1 trace(S^2) / n (Robinson and Moyeed, 1989).
  double noise_variance = 0;
};

/// Smooths a signal; throws Interrupted.
using Smoother = std::function<Smoothed(const Eigen::VectorXd& y, const Progress*)>;

/// min over x of |y - x|^2 + lambda x' L x, with the Laplacian L of the graph's weights and the
/// lambda of the least generalised cross-validation
///
///   n |y - x^|^2 / trace(I - S)^2,  x^ = S y     (Golub, Heath and Wahba, 1979)
///
/// over the n known values. Small graphs are done by eigenvectors, large ones by conjugate
/// gradients with the trace from random directions.
///
/// Throws Error for a directed graph, and for weights below 0.
Smoother tikhonov(const Graph& graph, std::uint64_t seed);

/// The mean of the known values, those that are not NaN.
double known_mean(const Eigen::VectorXd& y);

/// Each node takes the median of what is known at it and its neighbours; where nothing is, the mean
/// of the signal.
Eigen::VectorXd neighbor_median(const Graph& graph, const Eigen::VectorXd& y);

}  // namespace ngf::tasks
