#pragma once

// Lines "u v [weight]": what edge lists and Matrix Market files are made of.

#include <limits>

#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/graph.hpp"

namespace ngf::io {

/// The largest id that a file may use: N = id + 1 must be a NodeId, too.
constexpr NodeId largest_id = std::numeric_limits<NodeId>::max() - 1;

/// What the lines of a file must look like.
struct PairRules {
  NodeId first_id = 0;  ///< the smallest id allowed; edges hold id - first_id
  NodeId last_id = largest_id;
  bool weighted = false;         ///< each line has a third column, or none has
  bool further_columns = false;  ///< more columns are skipped; otherwise they are an error
};

struct Pairs {
  std::vector<EdgeBlock> blocks;
  std::uint64_t count = 0;
  NodeId smallest = largest_id;  ///< of the ids minus first_id; of no ids, more than `largest`
  NodeId largest = 0;
  bool further_columns = false;  ///< some were skipped
};

/// Reads all lines in parallel. Blank lines and lines that begin with # or % are skipped. Throws
/// Error that names the first line that breaks the rules, or when the budget will not hold them.
Pairs read_pairs(const Input& input, const PieceOptions& options, const PairRules& rules);

/// Whether a line that begins with two ids goes on to a weight, which may be the one in an
/// attribute dictionary of NetworkX: 1 2 {'weight': 3.0}.
bool has_weight(std::string_view line);
/// The same from the place behind the ids and their separator.
bool has_weight_at(const char* at);

/// Reads what follows the two ids of a line and their separator: a weight, which each line has or
/// none, and further columns. Returns a place on the line.
const char* parse_after_ids(const char* at, const PairRules& rules, double* value,
                            bool& further_columns);

/// Throws Error when the graph that the lines make, going by the first ones, will not fit into
/// memory: each line is an edge, and then two arcs and what sorts them.
void check_memory_of_pairs(const Input& input, const PieceOptions& options, const PairRules& rules);

}  // namespace ngf::io
