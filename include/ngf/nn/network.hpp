#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ngf/nn/layer_filter.hpp"
#include "ngf/nn/model.hpp"

/// Networks, forward and backward, for many runs at once.
///
/// Layer l takes X_l, N x F_l, to X_{l+1} = act(H (X_l Theta_l) + X_l Theta_s + b), with X_0 the
/// features and act(z) = max(z, 0), but for the last layer, whose outputs are the logits. Dropout
/// sets entries of X_l to 0 and divides the others by the share that stays.
///
/// A network with banks (ModelSettings::bank) has the layers that `layer_shapes` lists: X_0 the
/// features, or X_1 = act(X_0 Theta + b) with `pre`; then for each bank
///
///   X_{l+1} = act(sum over k of B_k X_l Theta_k + b), or with `residual`
///   X_{l+1} = X_l + act(sum over k of B_k norm(X_l) Theta_k + b),
///
/// and with `post` the logits norm(X) Theta + b, where X is the last of these, or with `jump` all
/// of them side by side. Dropout is of what is multiplied by weights.
///
/// R runs that share features and H are one batch: what they compute lies side by side as
/// N x (R F), a block of columns each, so that H multiplies all of them in one product. A run's
/// results are bit-identical alone or in a batch, on any number of threads.

namespace ngf {

namespace nn {
template <typename Real>
class NetworkState;
}  // namespace nn

/// Features of the nodes, one row per node, dense or sparse.
template <typename Real>
using FeaturesOf =
    std::variant<SignalsOf<Real>, Eigen::SparseMatrix<Real, Eigen::RowMajor, std::int64_t>>;

/// Parameters of one kind and layer: of each run `rows` x `cols`, side by side in a row-major
/// matrix of rows x (runs * cols) at `offset`.
struct ParameterBlock {
  enum class Kind { weight, skip, bias, taps, norm_scale, norm_shift };
  Kind kind = Kind::weight;
  std::size_t layer = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t offset = 0;
};

/// Where the parameters of a batch of runs lie in one flat buffer.
class ParameterLayout {
 public:
  ParameterLayout(const ModelSettings& settings, std::int64_t features, std::int64_t classes,
                  std::size_t runs);

  std::size_t runs() const { return runs_; }
  std::size_t size() const { return size_; }
  const std::vector<ParameterBlock>& blocks() const { return blocks_; }
  /// Null where the network has none.
  const ParameterBlock* find(ParameterBlock::Kind kind, std::size_t layer) const;

 private:
  std::size_t runs_;
  std::size_t size_ = 0;
  std::vector<ParameterBlock> blocks_;
};

/// Dropout of one step: the masks are a function of a run's seed and of the step.
struct Dropout {
  std::vector<double> rates;         ///< by run, from 0 up to, not including, 1
  std::vector<std::uint64_t> seeds;  ///< by run
  std::uint64_t step = 0;
};

/// Order of the product of H, X and Theta in the first layer.
enum class FirstLayer {
  plain,          ///< X Theta: there is no H
  filter_first,   ///< (H X) Theta, with H X computed once
  weights_first,  ///< H (X Theta)
};

struct NetworkOptions {
  std::size_t runs = 1;
  bool dropout = false;      ///< whether there will be any: then H X cannot be kept
  double passes = 200;       ///< forward and backward, that will share what is computed once
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes that H X may take; 0: half of what the machine has free
};

/// A batch of runs of one network on one graph. Works in float and double.
template <typename Real>
class Network {
 public:
  /// Throws Error for invalid settings, and if filter and features do not fit.
  Network(const ModelSettings& settings, LayerFilter filter, FeaturesOf<Real> features,
          std::int64_t classes, const NetworkOptions& options);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  const ParameterLayout& layout() const;
  FirstLayer first_layer() const;
  /// Multiplications and additions of a forward and a backward pass of one run.
  double flops() const;

  std::span<Real> parameters();
  /// By the parameters, of the last `backward`.
  std::span<const Real> gradient() const;

  /// The logits, N x (runs * classes), of the parameters as they are; with dropout where given.
  const SignalsOf<Real>& forward(const Dropout* dropout = nullptr);
  /// The gradient of losses whose gradients by the logits of the last `forward` are given.
  void backward(const SignalsOf<Real>& by_logits);

 private:
  std::unique_ptr<nn::NetworkState<Real>> state_;
};

/// Bytes per run of a batch, including parameters and optimizer state, of a network with or without
/// a filter.
std::uint64_t run_bytes(const ModelSettings& settings, bool filtered, std::uint64_t nodes,
                        std::int64_t features, std::int64_t classes);

}  // namespace ngf
