#pragma once

#include <functional>

#include "io/input.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// What one entry of a file stands for.
enum class Entries {
  pairs,          ///< lines of an edge list: u-v once, or by mistake twice
  half_a_matrix,  ///< one triangle of a symmetric matrix: u-v stands for both of its places
  whole_matrix,   ///< u-v is one place of a matrix; v-u is another
};

/// How errors name an edge: as the file does.
using EdgeName = std::function<std::string(const Edge&)>;

/// Names the edge by its nodes, counted from `base`: "edge 0-1".
EdgeName edge_name_from(NodeId base);

/// Builds the graph of a file's entries into `result`, with its counts and warnings. `blocks` is
/// consumed. Weights that are all 1 say nothing and are dropped, so that a graph comes back equal
/// from formats that always have weights. Of two weights for one edge the largest is kept with
/// ReadOptions::lenient; otherwise they are an Error.
void assemble(const Input& input, ReadResult& result, NodeId nodes, std::vector<EdgeBlock> blocks,
              const ReadOptions& options, Entries entries,
              const EdgeName& name_of = edge_name_from(0));

}  // namespace ngf::io
