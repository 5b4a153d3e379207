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
};

/// Text around the numbers of a table.
struct TableText {
  NodeNames columns;   ///< the header, without its first field if rows have labels; empty: none
  NodeNames rows;      ///< labels of the rows, ids or times: the first column; empty: none
  std::string corner;  ///< the name of that column
  bool times = false;  ///< the labels of the rows are times
};

struct Table {
  Matrix numbers;
  TableText text;
};

/// Reads a matrix of numbers (.npy or .csv). In a .csv, a first line with a field that is no number
/// is a header, and an empty field is NaN. The first column has labels if the header calls it
/// timestamp, datetime, date or time (then, or if they are dates, rows are times), id, node, name,
/// station, sensor, index or nothing, or if it alone has text. Throws Error for anything else that
/// is no number and for rows of unequal length, and MemoryExceeded before memory is taken.
Table read_table(const std::filesystem::path& path, const MatrixReadOptions& options = {});

/// The same for numbers alone: a header is skipped, and the first column is one of numbers.
Matrix read_matrix(const std::filesystem::path& path, const MatrixReadOptions& options = {});

}  // namespace ngf::io
