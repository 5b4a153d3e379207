#pragma once

// Each format of graphs and matrices: how it is detected, read and written. The source files named
// after formats define these functions. A thread parses `piece_bytes` of a file at a time.

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Tells the format of a graph by the content of its file, then by its name. All npz layouts are
/// npz_scipy here; `read_npz` tells them apart. Throws Error for what is no graph that we read,
/// saying what it is where that can be told.
Format detect_format(const Input& input);
/// Throws Error for an empty file, and for kinds of files that are neither text nor NumPy's.
void refuse_foreign(const Input& input);
bool is_npy(const Input& input);
bool is_zip(const Input& input);
/// NAME where the file is called ind.NAME.graph, or like another one of a Planetoid data set.
std::optional<std::string> planetoid_name(const std::string& path);

/// Lines "u v [weight]".
ReadResult read_edge_list(const Input& input, const ReadOptions& options = {},
                          std::size_t piece_bytes = PieceOptions::default_piece_bytes);
/// True for the comment that opens the lists we write.
bool is_our_edge_list(std::string_view line);
/// Writes each edge once, `separator` between the columns, under a comment with the numbers of
/// edges and nodes. Nodes are called by their names where there are any.
void write_edge_list(AtomicFile& file, const Graph& graph, const NodeNames& names, char separator,
                     Progress* progress);

/// A square matrix of coordinates.
ReadResult read_matrix_market(const Input& input, const ReadOptions& options = {},
                              std::size_t piece_bytes = PieceOptions::default_piece_bytes);
/// True when the file opens with the banner.
bool is_matrix_market(const Input& input);
/// True when the first line is "rows cols entries" and that many lines follow: Matrix Market whose
/// banner got lost.
bool is_bannerless_matrix_market(const Input& input);
/// Writes the lower triangle of an undirected graph, all entries of a directed one.
void write_matrix_market(AtomicFile& file, const Graph& graph, Progress* progress);

/// Lists of neighbours.
ReadResult read_metis(const Input& input, const ReadOptions& options = {},
                      std::size_t piece_bytes = PieceOptions::default_piece_bytes);
/// True when `text`, the first lines of a file from its header on, can be METIS: of a file that has
/// its name, when the header can. `whole` says that nothing follows.
bool is_metis(std::string_view text, bool whole, bool named_so);
/// Throws Error for what METIS forbids: directions, self-loops, weights that are not 1, 2, 3, ...
void write_metis(AtomicFile& file, const Graph& graph, Progress* progress);

/// A square table of weights, row by row; 0 means no edge.
ReadResult read_adjacency_csv(const Input& input, const ReadOptions& options = {},
                              std::size_t piece_bytes = PieceOptions::default_piece_bytes);
/// True for the comment that opens the small tables we write.
bool is_our_table(std::string_view line);
/// Throws Error for a weight of 0, which a table cannot hold. Tables of fewer than four nodes,
/// which look like edge lists, are given a comment.
void write_adjacency_csv(AtomicFile& file, const Graph& graph, Progress* progress);

/// A table of numbers, see `read_table`; without `find_labels` its first column is one of numbers.
Table read_csv_table(const Input& input, const MatrixReadOptions& options, bool find_labels,
                     std::size_t piece_bytes = PieceOptions::default_piece_bytes);
/// The numbers of a table without labels.
Matrix read_csv_matrix(const Input& input, const MatrixReadOptions& options = {},
                       std::size_t piece_bytes = PieceOptions::default_piece_bytes);
void write_csv_table(AtomicFile& file, const Matrix& matrix, const TableText& text = {});
/// Begins such a table with its header. Throws Error for a table without a row or a column, which
/// cannot be written.
void begin_csv_table(AtomicFile& file, Eigen::Index rows, Eigen::Index columns,
                     const TableText& text);
/// Appends rows of such a table, the first of which is row `first`. `labels` are those of all rows,
/// or empty.
template <typename Real>
void write_csv_rows(AtomicFile& file, const SignalsOf<Real>& rows, const NodeNames& labels,
                    std::size_t first);

/// A graph, and what is known about its nodes, from a ZIP archive of .npy members. The layout is
/// told by the names of the members.
ReadResult read_npz(const Input& input, const ReadOptions& options = {});
/// Writes `dataset` in the layout `format`, one of the npz_ ones. npz_scipy has room for the graph
/// alone; the others hold everything.
void write_npz(const std::filesystem::path& path, const Dataset& dataset, Format format);

}  // namespace ngf::io
