#pragma once

#include "kernels/bit_walk.hpp"

/// Rows of hops, and lists of columns, from what the bit-parallel walk knows.
namespace ngf::kernels {

/// Columns that are expanded at a time; rows are padded to a multiple of `column_step`.
inline constexpr std::size_t column_step = 64;

/// How a row of hops leaves the walk.
struct Emit {
  std::uint32_t limit = ~std::uint32_t{0};  ///< hops beyond it become "farther"
  std::uint32_t add = 0;  ///< hops between the row's own node and its place in the walk
  const std::uint8_t* lacking = nullptr;  ///< 255 where paths are too few: "farther" from 2 hops on
  bool stream = false;                    ///< past the caches; `to` is aligned to a line then
};

/// As what is to be added at a column: nothing reaches it.
inline constexpr std::uint8_t unreachable = 255;

/// Hops that `count_hops` counts in one pass.
inline constexpr std::size_t hops_together = 16;

/// Rows of a matrix of hops with one byte per pair. Row i holds the columns from `begin` + i *
/// `shift` up to `columns`; a shift of 1 leaves out the half of a symmetric matrix below its
/// diagonal.
struct HopRows {
  const std::uint8_t* values;  ///< aligned to `column_step`
  std::size_t stride;          ///< of the rows, a multiple of `column_step`
  std::size_t count;
  std::size_t columns;  ///< the padding up to `stride` is not read as hops
  std::size_t begin = 0;
  std::size_t shift = 0;
};

struct WalkRowKernels {
  /// byte k of the lines of nodes[0..count-1] becomes table[k * stride .. + count - 1]: what the
  /// walk knows of eight sources lies side by side for all nodes. A table `above` of the same
  /// shape, where not null, is added bit by bit: from the highest plane down, that turns Gray code
  /// into plain numbers. `count` is a multiple of `column_step`, tables are aligned to it.
  void (*transpose_bytes)(const Line* lines, const NodeId* nodes, std::size_t count,
                          std::uint8_t* table, std::size_t stride, const std::uint8_t* above);

  /// Expands bit b (0..7) of `count` bytes of each plane to numbers: rows[b][x] = sum over j of
  /// 2^j * (bit b of planes[j][x]), and 255 where bit b of `absent` (if any) is set. At most eight
  /// planes. `count` is a multiple of `column_step`, all pointers are aligned to it.
  void (*expand_rows)(const std::uint8_t* const* planes, std::uint32_t plane_count,
                      const std::uint8_t* absent, std::size_t count, std::uint8_t* const* rows);

  /// to[x] = low[x] + add + column_add[x], saturating at 255, "farther".
  void (*emit_bytes)(const std::uint8_t* low, const std::uint8_t* column_add, std::size_t count,
                     const Emit& emit, std::uint8_t* to);
  /// The same for two bytes per hop, of which `high` holds the upper one: 65535 is "farther".
  void (*emit_words)(const std::uint8_t* low, const std::uint8_t* high,
                     const std::uint8_t* column_add, std::size_t count, const Emit& emit,
                     std::uint16_t* to);

  /// Writes the x with row[x] == hop, increasing, and returns their number. `columns` has room for
  /// 64 more than that.
  std::size_t (*columns_at_16)(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                               std::uint16_t* columns);
  std::size_t (*columns_at_32)(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                               std::uint32_t* columns);

  /// found[i] grows by the number of pairs at `first` + i hops, for i < hops_together; `first` is a
  /// multiple of hops_together. Returns the largest hop of the rows plus 1: 0 if all pairs are
  /// `unreachable`, which are never counted.
  std::uint32_t (*count_hops)(const HopRows& rows, std::uint8_t first, std::uint64_t* found);
};

/// The kernels of the instruction set in use.
const WalkRowKernels& walk_rows();

}  // namespace ngf::kernels
