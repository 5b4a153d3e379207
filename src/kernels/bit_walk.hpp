#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ngf/node.hpp"

/// The levels of the bit-parallel walk: 512 sources search at once, and bit s of a node's line
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
  std::uint32_t min_paths = 1;                   ///< the number of these arrays in use

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

}  // namespace ngf::kernels
