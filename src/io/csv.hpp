#pragma once

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads a square table of weights, row by row; 0 means no edge.
ReadResult read_adjacency_csv(const Input& input, const ReadOptions& options = {},
                              std::size_t piece_bytes = PieceOptions::default_piece_bytes);

/// True for the comment that opens the small tables we write.
bool is_our_table(std::string_view line);

/// Reads a table of numbers. A first line with anything that is no number in it is a line of names
/// and is skipped; names that are numbers themselves cannot be told from data, and stay. An empty
/// field is NaN.
Matrix read_csv_matrix(const Input& input, const MatrixReadOptions& options = {},
                       std::size_t piece_bytes = PieceOptions::default_piece_bytes);

/// Throws Error for a weight of 0, which a table cannot hold. Tables of fewer than four nodes,
/// which look like edge lists, are given a comment.
void write_adjacency_csv(AtomicFile& file, const Graph& graph, Progress* progress);

void write_csv_matrix(AtomicFile& file, const Matrix& matrix);

}  // namespace ngf::io
