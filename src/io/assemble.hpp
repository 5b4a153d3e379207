#pragma once

#include <vector>

#include "ngf/io/read.hpp"

namespace ngf::io {

/// What one entry of a file stands for.
enum class Entries {
  pairs,          ///< lines of an edge list: u-v once, or by mistake twice
  half_a_matrix,  ///< one triangle of a symmetric matrix: u-v stands for both of its places
  whole_matrix,   ///< u-v is one place of a matrix; v-u is another
};

/// Builds the graph of a file's entries into `result`, with its counts and warnings. `blocks` is
/// consumed. Weights that are all 1 say nothing and are dropped, so that a graph comes back equal
/// from formats that always have weights.
void assemble(ReadResult& result, NodeId nodes, std::vector<EdgeBlock> blocks,
              const ReadOptions& options, Entries entries);

}  // namespace ngf::io
