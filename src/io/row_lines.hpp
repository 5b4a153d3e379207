#pragma once

// Lines that are the rows of a matrix: METIS and tables.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/graph.hpp"

namespace ngf::io {

/// Rows that were read. In a piece of a file, they count from the piece's first line.
struct Rows {
  EdgeBlock entries;
  std::uint64_t count = 0;
  std::uint64_t filled = 0;  ///< rows up to and with the last one that has something on it
};

/// The rows of a whole file.
struct RowBlocks {
  std::vector<EdgeBlock> blocks;
  std::uint64_t entries = 0;
  std::uint64_t count = 0;
  std::uint64_t filled = 0;
};

/// Parses pieces of the file in parallel and gives each row its number in the file.
RowBlocks read_rows(const Input& input, const PieceOptions& options,
                    const std::function<Rows(std::string_view)>& parse);

}  // namespace ngf::io
