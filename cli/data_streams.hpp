#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common.hpp"
#include "ngf/matrix.hpp"
#include "ngf/node.hpp"

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

/// Reads a matrix from a file or standard input, on every rank. `copies` is as in
/// io::MatrixReadOptions.
Matrix read_matrix_from(const std::filesystem::path& name, const Common& common, int copies);

/// The same for finite signals on the nodes of a graph.
Matrix read_signals(const std::filesystem::path& name, NodeId nodes, const Common& common,
                    int copies);

/// The number of rows that are printed on a terminal.
inline constexpr std::size_t shown_rows = 10;

/// Prints aligned columns, and how many of the `total` rows are not among `rows`.
void print_rows(const std::vector<std::string>& names,
                const std::vector<std::vector<std::string>>& rows, std::uint64_t total);

/// Prints the first rows and columns with the numbers of the nodes, of which there are `total`.
void print_matrix(const Matrix& matrix, std::uint64_t total);

/// Writes a matrix to the file of `-o` or to standard output. Rows are nodes if `rows_are_nodes`;
/// otherwise columns are.
void write_data(const std::filesystem::path& out, const Matrix& matrix, bool rows_are_nodes = true);

/// Prints the summary of a run: on standard output, or on standard error (not with --quiet) where
/// the data take standard output.
void print_summary(const Common& common, const std::filesystem::path& out, std::string_view text);

}  // namespace ngf::cli
