#pragma once

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads a square matrix of coordinates. `piece_bytes` is how much a thread takes at a time.
ReadResult read_matrix_market(const Input& input, const ReadOptions& options = {},
                              std::size_t piece_bytes = PieceOptions::default_piece_bytes);

/// True when the file opens with the banner.
bool is_matrix_market(const Input& input);

/// True when the first line is "rows cols entries" and that many lines follow: Matrix Market whose
/// banner got lost.
bool is_bannerless_matrix_market(const Input& input);

/// Writes the lower triangle of an undirected graph, all entries of a directed one.
void write_matrix_market(AtomicFile& file, const Graph& graph, Progress* progress);

}  // namespace ngf::io
