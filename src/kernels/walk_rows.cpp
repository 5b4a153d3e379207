// From what the bit-parallel walk knows of its sources to rows of hops and lists of columns,
// written once for every instruction set.

// Ice Lake's instructions, which compress lists.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/walk_rows.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/walk_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to shuffle: the same functions, said plainly.

void transpose_bytes(const Line* lines, const NodeId* nodes, std::size_t count, std::uint8_t* table,
                     std::size_t stride, const std::uint8_t* above) {
  for (std::size_t x = 0; x < count; ++x) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(lines[nodes[x]].words.data());
    for (std::size_t k = 0; k < line_bytes; ++k) {
      const std::size_t place = k * stride + x;
      table[place] = static_cast<std::uint8_t>(bytes[k] ^ (above != nullptr ? above[place] : 0));
    }
  }
}

void expand_rows(const std::uint8_t* const* planes, std::uint32_t plane_count,
                 const std::uint8_t* absent, std::size_t count, std::uint8_t* const* rows) {
  for (std::uint32_t bit = 0; bit < 8; ++bit) {
    for (std::size_t x = 0; x < count; ++x) {
      unsigned number = absent != nullptr && (absent[x] >> bit & 1U) != 0 ? 255 : 0;
      for (std::uint32_t j = 0; j < plane_count; ++j) number |= (planes[j][x] >> bit & 1U) << j;
      rows[bit][x] = static_cast<std::uint8_t>(number);
    }
  }
}

template <typename Hop>
Hop emit_one(std::uint32_t in_walk, std::uint32_t column_add, bool lacking, const Emit& emit) {
  constexpr std::uint32_t farther = static_cast<Hop>(~Hop{0});
  const std::uint32_t hops = std::min(in_walk + emit.add + column_add, farther);
  const bool cut = hops > emit.limit || (lacking && hops >= 2) || column_add == unreachable;
  return static_cast<Hop>(cut ? farther : hops);
}

void emit_bytes(const std::uint8_t* low, const std::uint8_t* column_add, std::size_t count,
                const Emit& emit, std::uint8_t* to) {
  for (std::size_t x = 0; x < count; ++x) {
    const bool lacking = emit.lacking != nullptr && emit.lacking[x] != 0;
    to[x] = emit_one<std::uint8_t>(low[x], column_add[x], lacking, emit);
  }
}

void emit_words(const std::uint8_t* low, const std::uint8_t* high, const std::uint8_t* column_add,
                std::size_t count, const Emit& emit, std::uint16_t* to) {
  for (std::size_t x = 0; x < count; ++x) {
    const bool lacking = emit.lacking != nullptr && emit.lacking[x] != 0;
    to[x] = emit_one<std::uint16_t>(low[x] + 256U * high[x], column_add[x], lacking, emit);
  }
}

template <typename Column>
std::size_t collect_columns(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                            Column* columns) {
  std::size_t found = 0;
  for (std::size_t x = 0; x < count; ++x) {
    if (row[x] == hop) columns[found++] = static_cast<Column>(x);
  }
  return found;
}

std::uint32_t count_hops(const HopRows& rows, std::uint8_t first, std::uint64_t* found) {
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t x = rows.begin + i * rows.shift; x < rows.columns; ++x) {
      const std::uint32_t hop = rows.values[i * rows.stride + x];
      if (hop == unreachable) continue;
      end = std::max(end, hop + 1);
      if (hop >= first && hop - first < hops_together) ++found[hop - first];
    }
  }
  return end;
}

#else

constexpr hn::CappedTag<std::uint8_t, 64> byte_tag;
using Bytes = hn::Vec<decltype(byte_tag)>;
constexpr std::size_t byte_lanes = hn::MaxLanes(byte_tag);

/// Interleaves lanes of `Lane` of vectors that are `distance` apart: one of the four steps that
/// transpose 16 x 16 bytes in each block of 16.
template <typename Lane>
HWY_INLINE void interleave(Bytes (&rows)[16]) {
  const hn::Repartition<Lane, decltype(byte_tag)> tag;
  Bytes mixed[16];
  for (std::size_t i = 0; i < 8; ++i) {
    const auto a = hn::BitCast(tag, rows[i]);
    const auto b = hn::BitCast(tag, rows[i + 8]);
    mixed[2 * i] = hn::BitCast(byte_tag, hn::InterleaveLower(tag, a, b));
    mixed[2 * i + 1] = hn::BitCast(byte_tag, hn::InterleaveUpper(tag, a, b));
  }
  for (std::size_t i = 0; i < 16; ++i) rows[i] = mixed[i];
}

constexpr std::size_t block = 16;
using Transposed = std::uint8_t[block][byte_lanes];

/// Transposes sixteen lines, from byte `begin` on: row i gets byte i of all sixteen, then byte 16 +
/// i of them, and so on.
HWY_INLINE void transpose_block(const Line* lines, const NodeId* nodes, std::size_t begin,
                                Transposed& transposed) {
  Bytes rows[block];
  for (std::size_t i = 0; i < block; ++i) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(lines[nodes[i]].words.data());
    rows[i] = hn::Load(byte_tag, bytes + begin);
  }
  // Interleaving bytes of rows i and i + 8 four times over is a perfect shuffle: after it, row
  // i holds byte i of all sixteen.
  for (int step = 0; step < 4; ++step) interleave<std::uint8_t>(rows);
  for (std::size_t i = 0; i < block; ++i) hn::Store(rows[i], byte_tag, transposed[i]);
}

constexpr std::size_t blocks = column_step / block;

/// Adds what is in `above`, if there is such a table, at the same place.
template <typename Tag, typename Vector>
HWY_INLINE void store_with(Tag tag, Vector bytes, std::size_t place, const std::uint8_t* above,
                           std::uint8_t* table) {
  if (above != nullptr) bytes = hn::Xor(bytes, hn::Load(tag, above + place));
  hn::Store(bytes, tag, table + place);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

/// Writes 64 columns of all rows, from blocks of 16 columns.
HWY_INLINE void join_blocks(const Transposed (&transposed)[blocks], std::size_t /*begin*/,
                            std::size_t x, std::size_t stride, const std::uint8_t* above,
                            std::uint8_t* table) {
  for (std::size_t i = 0; i < block; ++i) {
    const Bytes a = hn::Load(byte_tag, transposed[0][i]);
    const Bytes b = hn::Load(byte_tag, transposed[1][i]);
    const Bytes c = hn::Load(byte_tag, transposed[2][i]);
    const Bytes d = hn::Load(byte_tag, transposed[3][i]);
    // Four blocks of four vectors are transposed like a matrix: first halves, then neighbours.
    const auto join_halves = [&](Bytes ac, Bytes bd, std::size_t k) HWY_ATTR {
      store_with(byte_tag, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(bd), ac), k * stride + x, above,
                 table);
      store_with(byte_tag, hn::OddEvenBlocks(bd, hn::SwapAdjacentBlocks(ac)),
                 (k + block) * stride + x, above, table);
    };
    join_halves(hn::ConcatLowerLower(byte_tag, c, a), hn::ConcatLowerLower(byte_tag, d, b), i);
    join_halves(hn::ConcatUpperUpper(byte_tag, c, a), hn::ConcatUpperUpper(byte_tag, d, b),
                i + 2 * block);
  }
}

#else

HWY_INLINE void join_blocks(const Transposed (&transposed)[blocks], std::size_t begin,
                            std::size_t x, std::size_t stride, const std::uint8_t* above,
                            std::uint8_t* table) {
  const hn::FixedTag<std::uint8_t, block> piece;
  for (std::size_t k = 0; k < byte_lanes; ++k) {
    // Whole cache lines of the table, one after the other.
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto bytes = hn::Load(piece, &transposed[b][k % block][k / block * block]);
      store_with(piece, bytes, (begin + k) * stride + x + b * block, above, table);
    }
  }
}

#endif

void transpose_bytes(const Line* lines, const NodeId* nodes, std::size_t count, std::uint8_t* table,
                     std::size_t stride, const std::uint8_t* above) {
  alignas(64) Transposed transposed[blocks];
  for (std::size_t x = 0; x < count; x += column_step) {
    // The next lines, which lie anywhere.
    if (x + column_step < count) {
      for (std::size_t i = 0; i < column_step; ++i) {
        hwy::Prefetch(&lines[nodes[x + column_step + i]]);
      }
    }
    for (std::size_t begin = 0; begin < line_bytes; begin += byte_lanes) {
      for (std::size_t b = 0; b < blocks; ++b) {
        transpose_block(lines, nodes + x + b * block, begin, transposed[b]);
      }
      join_blocks(transposed, begin, x, stride, above, table);
    }
  }
}

/// Bit `bit` of every byte, moved to place `place`; other places are arbitrary.
template <int bit, int place>
HWY_INLINE Bytes move_bit(Bytes bytes) {
  const hn::Repartition<std::uint16_t, decltype(byte_tag)> tag;
  if constexpr (bit > place) {
    return hn::BitCast(byte_tag, hn::ShiftRight<bit - place>(hn::BitCast(tag, bytes)));
  } else if constexpr (bit < place) {
    return hn::BitCast(byte_tag, hn::ShiftLeft<place - bit>(hn::BitCast(tag, bytes)));
  } else {
    return bytes;
  }
}

template <int bit, int... place>
HWY_INLINE Bytes numbers_of(const Bytes* planes, std::integer_sequence<int, place...> /*places*/) {
  Bytes number = hn::Zero(byte_tag);
  ((number = hn::OrAnd(number, move_bit<bit, place>(planes[place]),
                       hn::Set(byte_tag, static_cast<std::uint8_t>(1U << place)))),
   ...);
  return number;
}

template <int bit, int plane_count>
HWY_INLINE void expand_bit(const Bytes* planes, const std::uint8_t* absent, std::uint8_t* row) {
  Bytes number = numbers_of<bit>(planes, std::make_integer_sequence<int, plane_count>());
  if (absent != nullptr) {
    const auto is_absent = hn::TestBit(hn::Load(byte_tag, absent),
                                       hn::Set(byte_tag, static_cast<std::uint8_t>(1U << bit)));
    number = hn::IfThenElse(is_absent, hn::Set(byte_tag, std::uint8_t{255}), number);
  }
  hn::Store(number, byte_tag, row);
}

template <int plane_count>
void expand(const std::uint8_t* const* planes, const std::uint8_t* absent, std::size_t count,
            std::uint8_t* const* rows) {
  for (std::size_t x = 0; x < count; x += byte_lanes) {
    Bytes loaded[plane_count > 0 ? plane_count : 1];
    for (int j = 0; j < plane_count; ++j) loaded[j] = hn::Load(byte_tag, planes[j] + x);
    const std::uint8_t* const absent_here = absent != nullptr ? absent + x : nullptr;
    expand_bit<0, plane_count>(loaded, absent_here, rows[0] + x);
    expand_bit<1, plane_count>(loaded, absent_here, rows[1] + x);
    expand_bit<2, plane_count>(loaded, absent_here, rows[2] + x);
    expand_bit<3, plane_count>(loaded, absent_here, rows[3] + x);
    expand_bit<4, plane_count>(loaded, absent_here, rows[4] + x);
    expand_bit<5, plane_count>(loaded, absent_here, rows[5] + x);
    expand_bit<6, plane_count>(loaded, absent_here, rows[6] + x);
    expand_bit<7, plane_count>(loaded, absent_here, rows[7] + x);
  }
}

template <int... plane_count>
void expand_any(const std::uint8_t* const* planes, std::uint32_t count_of_planes,
                const std::uint8_t* absent, std::size_t count, std::uint8_t* const* rows,
                std::integer_sequence<int, plane_count...> /*counts*/) {
  ((count_of_planes == plane_count ? expand<plane_count>(planes, absent, count, rows)
                                   : static_cast<void>(0)),
   ...);
}

void expand_rows(const std::uint8_t* const* planes, std::uint32_t plane_count,
                 const std::uint8_t* absent, std::size_t count, std::uint8_t* const* rows) {
  expand_any(planes, plane_count, absent, count, rows, std::make_integer_sequence<int, 9>());
}

template <typename Tag, typename Vector, typename Lane>
HWY_INLINE void put(Tag tag, Vector value, bool stream, Lane* to) {
  if (stream) {
    hn::Stream(value, tag, to);
  } else {
    hn::StoreU(value, tag, to);
  }
}

/// Hops that are too many, or on too few paths, become "farther".
template <typename Tag, typename Vector>
HWY_INLINE Vector cut(Tag tag, Vector hops, const Emit& emit, Vector lacking) {
  using Hop = hn::TFromD<Tag>;
  constexpr Hop most = static_cast<Hop>(~Hop{0});
  const auto farther = hn::Set(tag, most);
  if (emit.limit < most) {
    const auto limit = hn::Set(tag, static_cast<Hop>(emit.limit));
    hops = hn::IfThenElse(hn::Eq(hn::Min(hops, limit), hops), hops, farther);
  }
  if (emit.lacking != nullptr) {
    const auto at_least_two = hn::Eq(hn::Max(hops, hn::Set(tag, Hop{2})), hops);
    const auto on_too_few = hn::TestBit(lacking, hn::Set(tag, Hop{1}));
    hops = hn::IfThenElse(hn::And(on_too_few, at_least_two), farther, hops);
  }
  return hops;
}

void emit_bytes(const std::uint8_t* low, const std::uint8_t* column_add, std::size_t count,
                const Emit& emit, std::uint8_t* to) {
  const auto add = hn::Set(byte_tag, static_cast<std::uint8_t>(emit.add));
  for (std::size_t x = 0; x < count; x += byte_lanes) {
    Bytes hops = hn::SaturatedAdd(hn::SaturatedAdd(hn::Load(byte_tag, low + x), add),
                                  hn::Load(byte_tag, column_add + x));
    const auto lacking =
        emit.lacking != nullptr ? hn::Load(byte_tag, emit.lacking + x) : hn::Zero(byte_tag);
    hops = cut(byte_tag, hops, emit, lacking);
    put(byte_tag, hops, emit.stream, to + x);
  }
}

void emit_words(const std::uint8_t* low, const std::uint8_t* high, const std::uint8_t* column_add,
                std::size_t count, const Emit& emit, std::uint16_t* to) {
  const hn::CappedTag<std::uint16_t, 32> tag;
  const hn::Rebind<std::uint8_t, decltype(tag)> half;
  const auto add = hn::Set(tag, static_cast<std::uint16_t>(emit.add));
  const auto widen = [&](const std::uint8_t* bytes)
                         HWY_ATTR { return hn::PromoteTo(tag, hn::LoadU(half, bytes)); };
  for (std::size_t x = 0; x < count; x += hn::Lanes(tag)) {
    const auto in_walk = hn::Or(widen(low + x), hn::ShiftLeft<8>(widen(high + x)));
    const auto at_column = widen(column_add + x);
    auto hops = hn::SaturatedAdd(hn::SaturatedAdd(in_walk, add), at_column);
    hops = hn::Or(hops, hn::VecFromMask(tag, hn::Eq(at_column, hn::Set(tag, unreachable))));
    const auto lacking = emit.lacking != nullptr ? widen(emit.lacking + x) : hn::Zero(tag);
    hops = cut(tag, hops, emit, lacking);
    put(tag, hops, emit.stream, to + x);
  }
}

/// Writes the columns x + i of the bits i that are set.
template <typename Column>
HWY_INLINE std::size_t collect_bits(std::uint64_t mask, std::size_t x, Column* columns) {
  std::size_t found = 0;
#if HWY_TARGET == HWY_AVX3_DL
  const hn::CappedTag<Column, 64 / sizeof(Column)> tag;
  for (std::size_t begin = 0; begin < byte_lanes; begin += hn::Lanes(tag)) {
    const auto here = hn::Iota(tag, static_cast<Column>(x + begin));
    const std::uint64_t bits = mask >> begin;
    const auto wanted = hn::LoadMaskBits(tag, reinterpret_cast<const std::uint8_t*>(&bits));
    hn::StoreU(hn::Compress(here, wanted), tag, columns + found);
    found += hn::CountTrue(tag, wanted);
  }
#else
  for (; mask != 0; mask &= mask - 1) {
    columns[found++] = static_cast<Column>(x + static_cast<std::size_t>(std::countr_zero(mask)));
  }
#endif
  return found;
}

template <typename Column>
std::size_t collect_columns(const std::uint8_t* row, std::size_t count, std::uint8_t hop,
                            Column* columns) {
  // Whether a vector holds any column is hard to predict; of several, most lists have one.
  constexpr std::size_t together = 4;
  const auto wanted = hn::Set(byte_tag, hop);
  std::size_t found = 0;
  for (std::size_t x = 0; x < count;) {
    const std::size_t vectors = std::min(together, (count - x) / byte_lanes);
    std::uint64_t masks[together] = {};
    std::uint64_t any = 0;
    for (std::size_t i = 0; i < vectors; ++i) {
      alignas(8) std::uint8_t bits[8 + 8] = {};
      const auto bytes = hn::Load(byte_tag, row + x + i * byte_lanes);
      hn::StoreMaskBits(byte_tag, hn::Eq(bytes, wanted), bits);
      std::memcpy(&masks[i], bits, byte_lanes / 8);
      any |= masks[i];
    }
    for (std::size_t i = 0; i < vectors && any != 0; ++i) {
      found += collect_bits(masks[i], x + i * byte_lanes, columns + found);
    }
    x += vectors * byte_lanes;
  }
  return found;
}

/// Counters of hops. A byte has two of four bits, for hops 2i and 2i + 1, so that one look-up
/// counts both; they are emptied before they overflow.
class HopCounters {
 public:
  explicit HopCounters(std::uint8_t first) : start_(first), first_(hn::Set(byte_tag, first)) {
    for (std::size_t i = 0; i < bytes; ++i) {
      alignas(16) std::uint8_t grow[hops_together] = {};
      grow[2 * i] = 1;
      grow[2 * i + 1] = 16;
      grow_[i] = hn::LoadDup128(byte_tag, grow);
      counts_[i] = hn::Zero(byte_tag);
    }
    for (auto& total : totals_) total = hn::Zero(word_tag);
  }

  HWY_INLINE void add(Bytes hops) {
    // 255 becomes 0, so that what cannot be reached is never the largest.
    largest_ = hn::Max(largest_, hn::Add(hops, hn::Set(byte_tag, std::uint8_t{1})));
    // Beyond sixteen hops the upper bit is set, and the look-up gives 0.
    const Bytes beyond = hn::SaturatedAdd(hn::Sub(hops, first_), hn::Set(byte_tag, 0x70));
    const Bytes place = hn::And(beyond, hn::Set(byte_tag, 0x8F));
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < bytes; ++i) {
      counts_[i] = hn::Add(counts_[i], hn::TableLookupBytesOr0(grow_[i], place));
    }
    if (++added_ == most_added) empty();
  }

  /// Adds what was counted to `found`, and returns the largest hop plus 1.
  std::uint32_t finish(std::uint64_t* found) {
    empty();
    for (std::size_t k = 0; k < hops_together && start_ + k < unreachable; ++k) {
      found[k] += hn::GetLane(hn::SumOfLanes(word_tag, totals_[k]));
    }
    alignas(64) std::uint8_t ends[byte_lanes];
    hn::Store(largest_, byte_tag, ends);
    return *std::max_element(ends, ends + byte_lanes);
  }

 private:
  static constexpr std::size_t bytes = hops_together / 2;
  static constexpr std::size_t most_added = 15;
  static constexpr hn::Repartition<std::uint64_t, decltype(byte_tag)> word_tag{};

  void empty() {
    const Bytes low = hn::Set(byte_tag, std::uint8_t{15});
    for (std::size_t i = 0; i < bytes; ++i) {
      const Bytes even = hn::And(counts_[i], low);
      const Bytes odd = hn::ShiftRight<4>(counts_[i]);
      totals_[2 * i] = hn::Add(totals_[2 * i], hn::SumsOf8(even));
      totals_[2 * i + 1] = hn::Add(totals_[2 * i + 1], hn::SumsOf8(odd));
      counts_[i] = hn::Zero(byte_tag);
    }
    added_ = 0;
  }

  std::size_t start_;
  Bytes first_;
  Bytes grow_[bytes];
  Bytes counts_[bytes];
  hn::Vec<decltype(word_tag)> totals_[hops_together];
  Bytes largest_ = hn::Zero(byte_tag);
  std::size_t added_ = 0;
};

std::uint32_t count_hops(const HopRows& rows, std::uint8_t first, std::uint64_t* found) {
  const auto farther = hn::Set(byte_tag, unreachable);
  HopCounters counters(first);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::uint8_t* const row = rows.values + i * rows.stride;
    const std::size_t begin = rows.begin + i * rows.shift;
    for (std::size_t x = begin / byte_lanes * byte_lanes; x < rows.columns; x += byte_lanes) {
      Bytes hops = hn::Load(byte_tag, row + x);
      if (x < begin) hops = hn::IfThenElse(hn::FirstN(byte_tag, begin - x), farther, hops);
      if (x + byte_lanes > rows.columns) {
        hops = hn::IfThenElse(hn::FirstN(byte_tag, rows.columns - x), hops, farther);
      }
      counters.add(hops);
    }
  }
  return counters.finish(found);
}

#endif

constexpr WalkRowKernels kernels{transpose_bytes,
                                 expand_rows,
                                 emit_bytes,
                                 emit_words,
                                 collect_columns<std::uint16_t>,
                                 collect_columns<std::uint32_t>,
                                 count_hops};
const WalkRowKernels& walk_rows_here() { return kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(walk_rows_here);

const WalkRowKernels& walk_rows() { return HWY_DYNAMIC_DISPATCH(walk_rows_here)(); }

}  // namespace ngf::kernels
#endif
