#pragma once

// Lines "u v [weight]" whose ids are names: edge lists of people, stations or genes.

#include "io/pair_lines.hpp"
#include "io/words.hpp"
#include "ngf/node_names.hpp"

namespace ngf::io {

struct NamedPairs {
  std::vector<EdgeBlock> blocks;
  std::uint64_t count = 0;
  NodeNames names;  ///< of the nodes that the edges name
  bool further_columns = false;
};

/// Reads all lines in parallel. The nodes are those of `known`, and behind them all others in the
/// order of their first appearance in the file, for any number of threads and size of pieces.
NamedPairs read_named_pairs(const Input& input, const PieceOptions& options, const PairRules& rules,
                            char separator, const NodeNames& known);

/// Reads the name at `at` into `word`, and returns its end. Throws LineError where there is none.
const char* parse_node_name(const char* at, char separator, Word& word);

}  // namespace ngf::io
