#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common.hpp"
#include "ngf/io/read.hpp"
#include "ngf/matrix.hpp"
#include "ngf/node_names.hpp"

/// Data on standard input (`-`) and standard output (`-o -`, or no `-o`).
namespace ngf::cli {

/// Whether data for the file `out` of `-o` go to standard output instead: it is empty or `-`.
bool to_stdout(const std::filesystem::path& out);

/// Whether they are printed for a person: no `-o`, and standard output is a terminal.
bool to_terminal(const std::filesystem::path& out);

/// The path to write to.
std::filesystem::path output_path(const std::filesystem::path& out);

/// Throws Error for a file that cannot be written, and a usage error where both the data and
/// `--json` would go to standard output.
void check_output(const Common& common, const std::filesystem::path& out);

/// The path to read for the name of an input: `-` is standard input, which can be read once.
std::filesystem::path input_path(const std::filesystem::path& name);

/// Reads a table from a file or standard input, on every rank. `copies` is as in
/// io::MatrixReadOptions.
io::Table read_table_from(const std::filesystem::path& name, const Common& common, int copies);

/// The number of rows that are printed on a terminal.
inline constexpr std::size_t shown_rows = 10;

/// How a table calls a node: by its name, or by its number where nodes have no names.
std::string label_of(const NodeNames& names, std::size_t node);

/// Prints aligned columns, and how many of the `total` rows are not among `rows`.
void print_rows(const std::vector<std::string>& names,
                const std::vector<std::vector<std::string>>& rows, std::uint64_t total);

/// Prints the first rows and columns of a matrix with one row per node, of which there are `total`.
/// `nodes` and `columns` are their names, or empty.
void print_matrix(const Matrix& matrix, const NodeNames& nodes, const NodeNames& columns,
                  std::uint64_t total);

/// Writes a table to the file of `-o` or to standard output. Rows are nodes if `rows_are_nodes`;
/// otherwise columns are.
void write_data(const std::filesystem::path& out, const Matrix& matrix, const io::TableText& text,
                bool rows_are_nodes);

/// Prints the summary of a run: on standard output, or on standard error (not with --quiet) where
/// the data take standard output.
void print_summary(const Common& common, const std::filesystem::path& out, std::string_view text);

}  // namespace ngf::cli
