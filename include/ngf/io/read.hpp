#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/io/format.hpp"

namespace ngf::io {

/// What the ids of an edge list mean.
enum class Ids {
  detect,   ///< names if they are text; rows if the smallest is 0 or 1 and half of the range occurs
  rows,     ///< id - base is the row; rows without an edge are isolated nodes
  compact,  ///< the distinct ids in increasing order become 0..N-1
  names,    ///< the distinct ids, which may be any text, in the order of their first appearance
};

/// The name that the command line and messages use: "detect", "rows", "compact", "names".
std::string_view ids_name(Ids ids);

struct ReadOptions {
  bool directed = false;
  bool keep_self_loops = false;
  std::optional<Format> format = {};  ///< without it, told by content, then by name
  Ids ids = Ids::detect;
  std::optional<int> base = {};  ///< of edge lists: 0 or 1; without it, the smallest id
  /// A file that contradicts its own header or itself, or that is not the named data set that it
  /// should be, is read with a warning instead of an Error.
  bool lenient = false;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine has free
  Progress* progress = nullptr;
};

/// The content of a file as a data set, with counts and warnings.
struct ReadResult {
  Dataset dataset;
  std::optional<Format> format;  ///< nothing when the graph was made, not read
  BuildCounts counts;
  /// For edge lists whose ids were compacted: the file's id of each node. Empty otherwise.
  std::vector<NodeId> original_ids;
  /// For edge lists whose ids are row numbers: the id of node 0.
  NodeId first_id = 0;
  /// Warnings for the user, one for everything that was dropped. Those of `read_graph` begin with
  /// the path.
  std::vector<std::string> warnings;
  /// What the user may want to know of how the file was read, such as that its ids are names.
  std::vector<std::string> notes;
};

/// Reads any graph file. Throws Error that names the place of whatever is wrong with it.
ReadResult read_graph(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads the files ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index} of `folder`.
ReadResult read_planetoid(const std::filesystem::path& folder, const std::string& name,
                          const ReadOptions& options = {});

struct MatrixReadOptions {
  int threads = 0;
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine has free
  /// Number of matrices of this size that the caller stores at the same time, including this one;
  /// all must fit into the budget.
  int copies = 1;
  /// Skips a first column of ids: one named id, node, name or index or not at all, or one whose
  /// first value is no number. Tables of text only.
  bool skip_ids = false;
};

/// Reads a matrix of numbers (.npy or .csv; a header line in a .csv is skipped). A NaN is a value.
/// Throws Error for anything that is no number and for rows of unequal length, and MemoryExceeded
/// before memory is taken.
Matrix read_matrix(const std::filesystem::path& path, const MatrixReadOptions& options = {});

}  // namespace ngf::io
