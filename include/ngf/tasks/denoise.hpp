#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ngf/filter.hpp"
#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/nn/optimizer.hpp"
#include "ngf/progress.hpp"

/// Denoising: from y = x + noise on the nodes of a graph to an estimate of x.
///
/// An untrained network with a graph filter is fitted to y itself. It fits the signal before the
/// noise, so the result depends on the epoch at which the fit stops. Epoch t is the network after t
/// steps. The result of a signal is a function of its values, the seed and the settings:
/// bit-identical alone or beside other signals, on any number of threads.

namespace ngf {

enum class DenoiseArch {
  ngf,       ///< a decoder, or a deeper network, on a neighbourhood filter
  gf,        ///< the same on a polynomial filter
  gcn,       ///< layers that propagate as GCN's do, with biases
  sgc,       ///< layers that propagate twice, with biases
  tikhonov,  ///< min |x - y|^2 + lambda x'Lx, lambda by generalised cross-validation
  median,    ///< of a node and its neighbours
};

enum class StopRule {
  blind,     ///< where nodes that are held out from the loss are predicted best
  sure,      ///< where Stein's unbiased estimate of the risk is least
  variance,  ///< where the outputs vary least over a window of epochs
  epochs,    ///< after all of `epochs`
  oracle,    ///< where the error against the clean signal is least
};

std::string_view arch_name(DenoiseArch arch);
std::string_view stop_name(StopRule rule);

struct DenoiseSettings {
  DenoiseArch arch = DenoiseArch::ngf;
  /// Taps of ngf and gf; by default those of the paper's test cases.
  std::vector<double> taps{0.13318287, 0.63933657, 0.22748056};
  Normalization normalization = Normalization::none;  ///< of ngf
  Shift shift = Shift::adjacency;                     ///< of gf
  /// With 2, ngf and gf are the decoder max(H C, 0) v. With more, their last layer is a linear map
  /// alone.
  std::int64_t layers = 2;
  std::int64_t hidden = 150;
  /// Columns of a network's input, fixed white noise; 0: as many as nodes, up to 256. The decoder
  /// has none.
  std::int64_t inputs = 0;
  double input_deviation = 0;  ///< its standard deviation; 0: 0.1 / sqrt(N)
  /// Signals are centred, and brought to the size that the filter gives white noise (networks: to
  /// 1), so that their unit does not matter. Otherwise they are fitted as they are.
  bool rescale = true;

  OptimizerKind optimizer = OptimizerKind::adam;
  double lr = 0.01;
  std::uint32_t epochs = 1000;  ///< at most
  StopRule stop = StopRule::blind;
  std::uint32_t folds = 10;           ///< of blind: each node is held out once
  std::uint32_t probes = 1;           ///< of sure: random directions for the divergence
  std::uint32_t window = 20;          ///< of variance, in epochs
  std::optional<double> noise_level;  ///< standard deviation of the noise, where it is known

  Storage storage = Storage::automatic;
  std::uint64_t seed = 1;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes; 0: a share of what the machine has free
};

/// Result of one signal. Errors are |x - x^|^2 / |x|^2 against the clean signal x, if known, over
/// its known entries.
struct DenoisedSignal {
  std::uint32_t epochs = 0;  ///< where the fit was stopped; 0 for baselines and unchanged signals
  bool left_alone = false;  ///< the graph does not predict this signal, so it is returned unchanged
  std::optional<double> error;
  std::optional<double> error_noisy;   ///< of y; nothing where values are missing
  std::optional<double> error_oracle;  ///< the least over the epochs
  std::uint32_t oracle_epoch = 0;
  std::vector<double> errors;     ///< by epoch
  std::vector<double> criterion;  ///< what the rule looked at, by epoch
  double explained = 0;           ///< of blind: predicted share of the variance of held-out nodes
  double smoothing = 0;           ///< of tikhonov: lambda
};

struct DenoiseResult {
  Matrix signals;  ///< the estimates, of the shape of the noisy signals
  std::vector<DenoisedSignal> each;
};

/// Denoises the columns of `noisy`, N x S. NaN are missing values, and are filled in. `clean`, of
/// the same shape, may be null; it is needed by `oracle` alone. Throws Error for signals of another
/// length, for infinite values and for settings that do not fit the graph.
DenoiseResult denoise(const Graph& graph, const Matrix& noisy, const Matrix* clean,
                      const DenoiseSettings& settings, Progress* progress = nullptr);

/// Multiplications and additions of the products of one epoch of one signal, with the filter as a
/// dense matrix, whatever form it has; 0 for baselines.
double epoch_flops(const Graph& graph, const DenoiseSettings& settings);

}  // namespace ngf
