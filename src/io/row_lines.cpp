#include "io/row_lines.hpp"

#include <utility>

#include "base/parallel.hpp"

namespace ngf::io {

RowBlocks read_rows(const Input& input, const PieceOptions& options,
                    const std::function<Rows(std::string_view)>& parse) {
  std::vector<Rows> pieces(count_pieces(input, options));
  for_each_piece(input, options,
                 [&](std::size_t i, std::string_view text) { pieces[i] = parse(text); });
  RowBlocks all;
  std::vector<std::uint64_t> first_row(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    first_row[i] = all.count;
    if (pieces[i].filled > 0) all.filled = all.count + pieces[i].filled;
    all.count += pieces[i].count;
    all.entries += pieces[i].entries.edges.size();
  }
  all.blocks.resize(pieces.size());
  detail::parallel_for(pieces.size(), options.threads, [&](std::size_t i) {
    all.blocks[i] = std::move(pieces[i].entries);
    for (Edge& edge : all.blocks[i].edges) edge.from += static_cast<NodeId>(first_row[i]);
  });
  return all;
}

}  // namespace ngf::io
