#pragma once

#include <cstdint>

#include "ngf/graph.hpp"

namespace ngf {

/// The eccentricity of u is the longest distance, in hops, from u to any node; the diameter is the
/// largest eccentricity and the radius the smallest.
struct Extent {
  std::uint32_t radius = 0;
  std::uint32_t diameter = 0;
  std::uint64_t bfs = 0;  ///< searches that it took to be sure
};

/// Radius and diameter of a connected graph (of a strongly connected one, when directed), exactly.
/// Throws Error if a node is not reachable from another.
Extent measure_extent(const Graph& graph, Progress* progress = nullptr);

}  // namespace ngf
