#pragma once

#include <string>
#include <string_view>

#include "io/input.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

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
