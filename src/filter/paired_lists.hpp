#pragma once

#include "kernels/lists.hpp"
#include "ngf/shells.hpp"

namespace ngf::filter {

/// Shells as lists of rows two by two. Nodes close to each other have most columns in common, if
/// not at the same hop: those at hop a of the one and hop b of the other are a segment, listed
/// once, so that signals are read once for both rows. Columns also go by tile, and all segments of
/// a tile come before those of the next.
template <typename Column>
class PairedLists {
 public:
  /// Two rows, or one and `kernels::no_row`, in some of the tiles.
  struct Pair {
    std::array<NodeId, 2> nodes;
    const Column* columns;
    std::uint32_t begin;  ///< where the first segment begins in `columns`
    std::span<const kernels::Segment> segments;
    std::array<NodeId, 2> next;  ///< the rows of the pair that follows, if any
  };

  /// `order` has all rows; pairs come as the first of each has its place there.
  PairedLists(const ColumnLists<Column>& lists, NodeId nodes, std::span<const NodeId> order,
              std::size_t tiles, int threads);

  NodeId first_row() const { return first_row_; }
  std::size_t tiles() const { return tiles_; }
  std::size_t blocks() const { return blocks_.size(); }

  /// Calls visit(pair) for each pair of a block, with its part in `tiles` tiles from `first` on.
  template <typename Visit>
  void for_each(std::size_t block, std::size_t first, std::size_t tiles, const Visit& visit) const {
    const Block& in = blocks_[block];
    for (std::size_t i = 0; i < in.nodes.size(); ++i) {
      const std::uint32_t* const ends = in.ends.data() + i * (tiles_ + 1);
      const std::span segments(in.segments.data() + ends[first], ends[first + tiles] - ends[first]);
      // Before the pair's first segment, in whatever tile that is, its columns begin.
      const bool none_before = ends[first] == ends[0];
      const std::uint32_t begin = none_before ? in.begins[i] : in.segments[ends[first] - 1].end;
      const std::array none{kernels::no_row, kernels::no_row};
      const std::array<NodeId, 2> next = i + 1 < in.nodes.size() ? in.nodes[i + 1] : none;
      visit(Pair{in.nodes[i], in.columns.data(), begin, segments, next});
    }
  }

 private:
  /// Some pairs. Segments of pair i in tile t: those from ends[i * (tiles + 1) + t] up to the next.
  struct Block {
    std::vector<std::array<NodeId, 2>> nodes;
    std::vector<std::uint32_t> begins;  // of the pairs' columns
    std::vector<std::uint32_t> ends;
    std::vector<kernels::Segment> segments;
    std::vector<Column> columns;
  };
  class Merger;

  NodeId first_row_;
  std::size_t tiles_;
  std::vector<Block> blocks_;
};

/// An upper bound on the bytes that paired lists take.
std::uint64_t most_paired_bytes(NodeId rows, std::uint64_t pairs, std::uint32_t hops,
                                std::size_t tiles, std::size_t column_bytes);

}  // namespace ngf::filter
