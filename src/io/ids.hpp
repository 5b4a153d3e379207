#pragma once

#include <vector>

#include "ngf/graph.hpp"

namespace ngf::io {

/// True when at least half of the ids smallest..largest occur in the edges.
bool half_occur(const std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest, int threads);

/// Renames the distinct ids of the edges, in increasing order, to 0..N-1. Returns the old id of
/// each new one.
std::vector<NodeId> compact_ids(std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest,
                                int threads);

/// Subtracts `base` from all ids.
void subtract_base(std::vector<EdgeBlock>& blocks, NodeId base, int threads);

}  // namespace ngf::io
