#pragma once

#include <cstdint>

#include "ngf/graph.hpp"

namespace ngf {

struct PerturbOptions {
  double create = 0;
  double destroy = 0;
  /// False: `create` and `destroy` are percentages of the number of edges, and exactly that many
  /// (rounded) change. True: they are probabilities from 0 to 1, and each non-edge is created and
  /// each edge destroyed independently.
  bool as_probability = false;
  std::uint64_t seed = 1;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine has free
  Progress* progress = nullptr;
};

struct Perturbed {
  Graph graph;
  std::uint64_t created = 0;
  std::uint64_t destroyed = 0;
};

/// The graph with some edges (arcs, when directed) destroyed and others created, both drawn evenly,
/// as a function of the seed alone. Only pairs that were no edge before are created, so nothing
/// destroyed comes back; self-loops are neither created nor destroyed. A created edge of a weighted
/// graph takes the weight of an edge of the original drawn at random. Throws Error for a number out
/// of range, and when more edges are to be created than pairs are free.
Perturbed perturb(const Graph& graph, const PerturbOptions& options);

}  // namespace ngf
