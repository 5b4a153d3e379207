#pragma once

#include <cstdint>
#include <vector>

#include "ngf/graph.hpp"

namespace ngf::detail {

/// Edges in all blocks.
inline std::uint64_t count_edges(const std::vector<EdgeBlock>& blocks) {
  std::uint64_t total = 0;
  for (const EdgeBlock& block : blocks) total += block.edges.size();
  return total;
}

}  // namespace ngf::detail
