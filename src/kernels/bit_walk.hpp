#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ngf/node.hpp"

/// The inner loops of the bit-parallel walk: 512 sources search at once, and bit s of a node's line
/// speaks of source s.
namespace ngf::kernels {

inline constexpr std::size_t batch_width = 512;
inline constexpr std::size_t line_bytes = batch_width / 8;

/// One cache line.
struct alignas(line_bytes) Line {
  std::array<std::uint64_t, 8> words;
};

/// Rows of neighbours are padded to a multiple of this with a node that no source ever reaches.
inline constexpr std::size_t row_step = 4;

/// Paths are counted up to so many.
inline constexpr std::size_t most_paths = 3;

/// Nodes to be visited on a level. All but the newest have been reached before; the newest, from
/// `newest` on, are about to be, by a neighbour that the last level reached.
struct Visits {
  NodeId* nodes = nullptr;
  std::size_t newest = 0;
  std::size_t count = 0;
};

/// Nodes by the length of their rows in steps: one to four, or more. Loops of a known length make
/// the walk twice as fast.
enum RowClass : std::size_t {
  one_step,
  two_steps,
  three_steps,
  four_steps,
  more_steps,
  row_classes
};

/// What `pull_level` reads and writes. Arrays are indexed by node.
struct Level {
  std::uint32_t number = 1;                ///< of the level: hops from the sources
  const std::uint64_t* offsets = nullptr;  ///< row v of `sources` holds the nodes with an arc to v
  const NodeId* sources = nullptr;
  const NodeId* component = nullptr;
  const Line* reach = nullptr;  ///< by component: the sources that its nodes can ever see

  /// seen[m - 1][v]: the sources that reached v before this level, on at least m shortest paths.
  /// What a neighbour has seen and v has not, it saw on the last level: so these need not tell.
  std::array<const Line*, most_paths> seen = {};
  std::array<Line*, most_paths> seen_next = {};  ///< the same after this level
  std::uint32_t min_paths = 1;                   ///< so many of the arrays are in use

  /// Hop numbers in Gray code: bit s of planes[j][v] is bit j of gray(hops from s to v). Null when
  /// they are not wanted.
  Line* const* planes = nullptr;
  std::uint32_t plane_count = 0;

  std::array<Visits, row_classes> visits;  ///< what is left of them stays
  bool prefetch = false;                   ///< the lines are more than the caches hold
  /// Nodes that saw their last source on the last level, and on this one.
  NodeId* finished = nullptr;
  std::size_t finished_count = 0;
};

struct LevelResult {
  std::uint64_t reached = 0;  ///< 0 when no source reached a node that it had not reached before
  std::uint64_t counted = 0;  ///< pairs that met, on enough paths; 0 where planes are kept
};

/// Takes one step of all searches: v sees what its neighbours have seen.
LevelResult pull_level(Level& level);

/// Columns that are expanded at a time; rows are padded to a multiple of `column_step`.
inline constexpr std::size_t column_step = 64;

/// byte k of the lines of nodes[0..count-1] becomes table[k * stride .. + count - 1]: what the walk
/// knows of eight sources lies side by side for all nodes. Where `above` is given, a table of the
/// same shape, it is added bit by bit: from the highest plane down, that turns Gray code into plain
/// numbers. `count` is a multiple of `column_step`, tables are aligned to it.
void transpose_bytes(const Line* lines, const NodeId* nodes, std::size_t count, std::uint8_t* table,
                     std::size_t stride, const std::uint8_t* above);

/// Expands bit b (0..7) of `count` bytes of each plane to numbers: rows[b][x] = sum over j of
/// 2^j * (bit b of planes[j][x]), and 255 where bit b of `absent` (if any) is set. At most eight
/// planes. `count` is a multiple of `column_step`, all pointers are aligned to it.
void expand_rows(const std::uint8_t* const* planes, std::uint32_t plane_count,
                 const std::uint8_t* absent, std::size_t count, std::uint8_t* const* rows);

/// How a row of hops leaves the walk.
struct Emit {
  std::uint32_t limit = ~std::uint32_t{0};  ///< hops beyond it become "farther"
  std::uint32_t add = 0;  ///< hops between the row's own node and its place in the walk
  const std::uint8_t* lacking = nullptr;  ///< 255 where paths are too few: "farther" from 2 hops on
  bool stream = false;                    ///< past the caches; `to` is aligned to a line then
};

/// As what is to be added at a column: nothing reaches it.
inline constexpr std::uint8_t unreachable = 255;

/// to[x] = low[x] + add + column_add[x], saturating at 255, "farther".
void emit_row(const std::uint8_t* low, const std::uint8_t* column_add, std::size_t count,
              const Emit& emit, std::uint8_t* to);
/// The same for two bytes a hop, of which `high` holds the upper one: 65535 is "farther".
void emit_row(const std::uint8_t* low, const std::uint8_t* high, const std::uint8_t* column_add,
              std::size_t count, const Emit& emit, std::uint16_t* to);

/// Writes the x with row[x] == hop, increasing, and returns how many there are. `columns` has room
/// for 64 more than that.
std::size_t columns_at(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                       std::uint16_t* columns);
std::size_t columns_at(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                       std::uint32_t* columns);

/// How many of the bytes are `hop`.
std::size_t count_hop(const std::uint8_t* row, std::size_t count, std::uint8_t hop);

}  // namespace ngf::kernels
