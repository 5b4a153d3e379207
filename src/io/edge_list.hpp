#pragma once

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads lines "u v [weight]". `piece_bytes` is how much of the file a thread takes at a time.
ReadResult read_edge_list(const Input& input, const ReadOptions& options = {},
                          std::size_t piece_bytes = PieceOptions::default_piece_bytes);

/// True for the comment that opens the lists we write.
bool is_our_edge_list(std::string_view line);

/// Writes each edge once, `separator` between the columns, under a comment with the numbers of
/// edges and nodes.
void write_edge_list(AtomicFile& file, const Graph& graph, char separator, Progress* progress);

}  // namespace ngf::io
