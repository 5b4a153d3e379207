#pragma once

// What no file is trusted in: the sizes that it claims, and that it agrees with itself.

#include "io/input.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Throws Error when a graph of `nodes` nodes is more than the size of its file justifies, or more
/// than a NodeId counts. `place` says where the number comes from.
void check_node_count(std::uint64_t nodes, const Input& input, std::string_view place);

/// The largest label that is credible in a data set of `nodes` nodes: a network has an output for
/// each number up to the largest, so more classes than nodes are an error, but for small graphs
/// that are part of a larger one.
std::int64_t largest_label(std::uint64_t nodes);

/// Throws MemoryExceeded when the caller's copies of a matrix of numbers, and `more` bytes, do not
/// fit into the budget.
void check_matrix_budget(const Input& input, std::uint64_t rows, std::uint64_t cols,
                         const MatrixReadOptions& options, std::uint64_t more = 0);

/// The advice to read such a file with ReadOptions::lenient.
Advice read_anyway();

/// Reports that a file contradicts its own header or itself: throws Error, which ends with
/// `remedy`, or, with ReadOptions::lenient, adds a warning to `result`.
void report_contradiction(const Input& input, const ReadOptions& options, ReadResult& result,
                          const std::string& text, const Advice& remedy = read_anyway());

/// Reports a header that promises `promised` of `what`, in line `line`, where `found` follow.
void check_promise(const Input& input, const ReadOptions& options, ReadResult& result,
                   std::uint64_t line, std::string_view what, std::uint64_t promised,
                   std::uint64_t found);

/// The number of nodes of a graph: `promised` in line `line`, or `needed` for its largest node,
/// which is reported where it is more.
NodeId check_node_promise(const Input& input, const ReadOptions& options, ReadResult& result,
                          std::uint64_t line, std::uint64_t promised, std::uint64_t needed);

/// Reports a file that should end in a newline, as all text files do that we write: without it, the
/// last number may be cut off.
void check_last_newline(const Input& input, const ReadOptions& options, ReadResult& result);

}  // namespace ngf::io
