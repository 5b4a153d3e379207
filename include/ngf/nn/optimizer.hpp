#pragma once

#include <span>
#include <vector>

#include "ngf/nn/network.hpp"

namespace ngf {

enum class OptimizerKind { adam, sgd };

/// Settings of one run.
struct StepSettings {
  double lr = 0.01;
  double weight_decay = 0;  ///< lambda: lambda Theta is added to the gradient of what decays
};

/// Gradient steps for all runs of a batch.
///
/// sgd:   theta -= lr g
/// adam:  m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
///        theta -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
///
/// with b1 = 0.9, b2 = 0.999, eps = 1e-8 (Kingma and Ba, 2015).
template <typename Real>
class Optimizer {
 public:
  /// Weight decay applies to weights and skip weights of the first layer, or of all layers, and
  /// never to biases and taps.
  Optimizer(OptimizerKind kind, const ParameterLayout& layout, std::vector<StepSettings> runs,
            bool decay_all_layers, int threads);

  void step(std::span<Real> parameters, std::span<const Real> gradient);

 private:
  OptimizerKind kind_;
  ParameterLayout layout_;
  std::vector<StepSettings> runs_;
  bool decay_all_layers_;
  int threads_;
  std::uint64_t steps_ = 0;
  std::vector<Real> mean_;
  std::vector<Real> square_;
};

}  // namespace ngf
