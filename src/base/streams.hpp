#pragma once

#include <utility>
#include <vector>

#include "ngf/random.hpp"

namespace ngf::detail {

/// What random numbers are for. One seed may serve several uses in a row (a graph is drawn, then
/// perturbed), and each must see numbers of its own.
enum class Use : std::uint64_t {
  erdos_renyi = 1,
  watts_strogatz,
  block_model,
  barabasi_albert,
  rmat,
  rmat_numbers,
  citation_papers,
  citation_words,
  citation_columns,
  citation_split,
  perturb_created,
  perturb_destroyed,
  perturb_weights,
  split_class,
  split_rest,

  network_weights = 32,
  network_dropout,

  denoise_weights = 48,
  denoise_inputs,
  denoise_folds,
  denoise_probes,
  denoise_size,
  denoise_trace,
  denoise_signals,
  denoise_noise,

  experiments = 64,
  experiment_taps,
  experiment_features,
};

/// The sequence for one item (a row, an edge, a draw) of a use. `item` < 2^56.
inline Random random_for(std::uint64_t seed, Use use, std::uint64_t item) {
  return Random(seed, static_cast<std::uint64_t>(use) << 56 | item);
}

/// All orders are equally likely.
template <typename T>
void shuffle(std::vector<T>& items, Random random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

}  // namespace ngf::detail

namespace ngf {

using detail::random_for;
using detail::shuffle;
using detail::Use;

}  // namespace ngf
