#pragma once

#include <vector>

#include "ngf/communicator.hpp"
#include "ngf/filter.hpp"
#include "ngf/perturb.hpp"
#include "ngf/summary.hpp"

namespace ngf {

struct RobustnessOptions {
  PerturbOptions perturb;  ///< its seed is that of the first realisation; the next ones count on
  int realisations = 100;
  Shift shift = Shift::adjacency;  ///< of the polynomial filter
  FilterOptions filter;            ///< of the neighbourhood filter
  Progress* progress = nullptr;
  /// Where given, its ranks share the realisations, and all get the result.
  Communicator* ranks = nullptr;
};

/// Errors of filters with the same taps on perturbed graphs.
struct Robustness {
  Summary polynomial;    ///< of |H' - H|^2 / |H|^2, in the Frobenius norm
  Summary neighborhood;  ///< the same
  /// By hop: the share of pairs that leave or join the shell, |A_k' - A_k|^2 / |A_k|^2; 0 where the
  /// shell is empty.
  std::vector<double> shell_change;
  bool estimated = false;  ///< norms come from random signals, as the graph is large
};

/// Perturbs the graph repeatedly, and measures the error of its filters. Up to 2000 nodes the
/// norms are exact; beyond, they are estimated from 64 random signals.
Robustness measure_robustness(const Graph& graph, const Taps& taps,
                              const RobustnessOptions& options);

}  // namespace ngf
