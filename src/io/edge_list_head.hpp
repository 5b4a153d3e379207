#pragma once

// What precedes the first edge of an edge list, and whether its ids are names.

#include <optional>

#include "io/input.hpp"
#include "ngf/io/read.hpp"
#include "ngf/node_names.hpp"

namespace ngf::io {

struct EdgeListHead {
  // Of our own comment, where the list begins with one:
  std::uint64_t comment_line = 0;
  std::optional<std::uint64_t> edges;
  std::optional<std::uint64_t> nodes;
  std::optional<NodeId> base;
  bool directed = false;
  bool lists_names = false;  ///< it promises the names of all nodes
  NodeNames names;           ///< and these follow it

  bool named = false;        ///< ids are names
  char separator = ' ';      ///< of names, see `separator_of`
  bool header = false;       ///< a line of column names was skipped
  bool weighted = false;     ///< lines have a third column
  std::uint64_t offset = 0;  ///< of the first edge's line, or the file's end
  std::uint64_t line = 0;    ///< the number of that line
};

/// Reads up to the first edge. Throws Error for a file without edges whose comment names no nodes.
EdgeListHead read_edge_list_head(const Input& input, const ReadOptions& options);

/// Whether the ids of an edge list that begins with these lines are text: those of the first line
/// behind a header and most others, in both columns.
bool ids_are_text(std::string_view lines);

/// What opens the comment of the lists that we write, and the comments with names behind it.
inline constexpr std::string_view our_comment = "# ngf edge list:";
inline constexpr std::string_view name_comment = "# node ";

}  // namespace ngf::io
