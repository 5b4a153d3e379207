#pragma once

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads lists of neighbours. `piece_bytes` is how much of the file a thread takes at a time.
ReadResult read_metis(const Input& input, const ReadOptions& options = {},
                      std::size_t piece_bytes = PieceOptions::default_piece_bytes);

/// True when `text`, the first lines of a file from its header on, can be METIS: of a file that has
/// its name, when the header can. `whole` says that nothing follows.
bool is_metis(std::string_view text, bool whole, bool named_so);

/// Throws Error for what METIS forbids: directions, self-loops, weights that are not 1, 2, 3, ...
void write_metis(AtomicFile& file, const Graph& graph, Progress* progress);

}  // namespace ngf::io
