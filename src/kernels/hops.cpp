// The inner loops of filters on hops, written once for every instruction set.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/hops.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/hops.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Numbers in a line, and in a vector.
template <typename Real>
constexpr std::size_t in_line = 64 / sizeof(Real);
template <typename Real>
using Tag = hn::CappedTag<Real, in_line<Real>>;
template <typename Real>
using Wide = hn::Vec<Tag<Real>>;
template <typename Real>
constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());

/// Hops as places in a table, one in the low bits of each word.
template <typename Real>
using Places = hn::Vec<hn::RebindToUnsigned<Tag<Real>>>;

/// As many hops as there are numbers in a vector, in their order.
template <typename Real>
HWY_INLINE Places<Real> places_at(const std::uint8_t* hops) {
  const hn::Rebind<std::uint32_t, Tag<Real>> tag;
  const auto places = hn::PromoteTo(tag, hn::LoadU(hn::Rebind<std::uint8_t, Tag<Real>>(), hops));
  if constexpr (sizeof(Real) == 4) {
    return places;
  } else {
    return hn::PromoteTo(hn::RebindToUnsigned<Tag<Real>>(), places);
  }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define NGF_TABLES_IN_REGISTERS 1
#else
#define NGF_TABLES_IN_REGISTERS 0
#endif

#if NGF_TABLES_IN_REGISTERS

/// A line of hops, seen as words.
template <typename Real>
HWY_INLINE Places<Real> words_at(const std::uint8_t* hops) {
  const hn::RebindToUnsigned<Tag<Real>> tag;
  return hn::BitCast(tag, hn::LoadU(hn::Repartition<std::uint8_t, decltype(tag)>(), hops));
}

/// The next byte of each word.
template <typename Real>
HWY_INLINE Places<Real> next_byte(Places<Real> words) {
  return hn::ShiftRight<8>(words);
}

/// A table of one vector, which some processors look up faster, or of two. The last entry is left
/// to "farther", whose low bits are all set.
template <typename Real, std::size_t vectors = 2>
class Table {
 public:
  static constexpr std::size_t entries = vectors * lanes<Real>;
  static bool holds(std::size_t last_hop) { return last_hop + 1 < entries; }

  HWY_INLINE explicit Table(const Real* table)
      : low_(hn::LoadU(Tag<Real>(), table)),
        high_(hn::LoadU(Tag<Real>(), table + (vectors - 1) * lanes<Real>)) {}

  /// The processor looks at the low bits of a place alone.
  HWY_INLINE Wide<Real> at(Places<Real> places) const {
    if constexpr (vectors == 1 && sizeof(Real) == 4) {
      return Wide<Real>{_mm512_permutexvar_ps(places.raw, low_.raw)};
    } else if constexpr (vectors == 1) {
      return Wide<Real>{_mm512_permutexvar_pd(places.raw, low_.raw)};
    } else if constexpr (sizeof(Real) == 4) {
      return Wide<Real>{_mm512_permutex2var_ps(low_.raw, places.raw, high_.raw)};
    } else {
      return Wide<Real>{_mm512_permutex2var_pd(low_.raw, places.raw, high_.raw)};
    }
  }

 private:
  Wide<Real> low_;
  Wide<Real> high_;
};

#endif

template <typename Real>
void look_up(const std::uint8_t* hops, std::size_t count, const Real* table,
             [[maybe_unused]] std::size_t last_hop, Real* w) {
  std::size_t v = 0;
#if NGF_TABLES_IN_REGISTERS
  if (Table<Real>::holds(last_hop)) {
    const Table<Real> entries(table);
    for (; v + lanes<Real> <= count; v += lanes<Real>) {
      hn::StoreU(entries.at(places_at<Real>(hops + v)), Tag<Real>(), w + v);
    }
  }
#endif
  for (; v < count; ++v) w[v] = table[hops[v]];
}

template <typename Real>
void weigh(const std::uint8_t* hops, std::size_t first, std::size_t count, const Real* const* right,
           std::size_t last_hop, Real* w) {
  const Tag<Real> tag;
  const hn::RebindToUnsigned<Tag<Real>> place_tag;
  // A few hops are told apart one by one.
  constexpr std::size_t few = 16;
  std::size_t v = 0;
  for (; last_hop <= few && v + lanes<Real> <= count; v += lanes<Real>) {
    const auto places = places_at<Real>(hops + v);
    auto factors = hn::Set(tag, Real{1});
    for (std::size_t k = 0; k <= last_hop; ++k) {
      if (right[k] == nullptr) continue;
      const auto at_hop = hn::Set(place_tag, static_cast<hn::TFromD<decltype(place_tag)>>(k));
      factors = hn::IfThenElse(hn::RebindMask(tag, hn::Eq(places, at_hop)),
                               hn::LoadU(tag, right[k] + first + v), factors);
    }
    hn::StoreU(hn::Mul(hn::LoadU(tag, w + v), factors), tag, w + v);
  }
  for (; v < count; ++v) {
    if (hops[v] <= last_hop && right[hops[v]] != nullptr) w[v] *= right[hops[v]][first + v];
  }
}

#if NGF_TABLES_IN_REGISTERS

template <typename Table, typename Real>
Real dot_by_table(const std::uint8_t* hops, std::size_t blocks, const Real* table, const Real* x) {
  const Table entries(table);
  Wide<Real> sums[4];
  for (auto& sum : sums) sum = hn::Zero(Tag<Real>());
  for (std::size_t b = 0; b < blocks; ++b) {
    hwy::Prefetch(hops + b * block_hops + 32 * block_hops);
    auto places = words_at<Real>(hops + b * block_hops);
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < sizeof(Real); ++j) {
      if (j > 0) places = next_byte<Real>(places);
      const auto values = hn::LoadU(Tag<Real>(), x + b * block_hops + j * in_line<Real>);
      sums[j % 4] = hn::MulAdd(entries.at(places), values, sums[j % 4]);
    }
  }
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(Tag<Real>(), sum));
}

#endif

template <typename Real>
Real look_up_dot(const std::uint8_t* hops, std::size_t blocks, const Real* table,
                 [[maybe_unused]] std::size_t last_hop, const Real* x) {
  constexpr std::size_t words = in_line<Real>;
#if NGF_TABLES_IN_REGISTERS
  if (Table<Real, 1>::holds(last_hop)) {
    return dot_by_table<Table<Real, 1>>(hops, blocks, table, x);
  }
  if (Table<Real>::holds(last_hop)) return dot_by_table<Table<Real>>(hops, blocks, table, x);
#endif
  // Several sums, since each addition waits for the one before it.
  std::array<Real, sizeof(Real)> sums{};
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = 0; i < words; ++i) {
      for (std::size_t j = 0; j < sizeof(Real); ++j) {
        const std::size_t at = b * block_hops + j * words + i;
        sums[j] += table[hops[b * block_hops + i * sizeof(Real) + j]] * x[at];
      }
    }
  }
  Real sum = 0;
  for (const Real part : sums) sum += part;
  return sum;
}

template <typename Real>
Real sum_at_hop(const std::uint8_t* hops, std::size_t count, std::uint8_t hop, const Real* x) {
  Real sum = 0;
  std::size_t v = 0;
#if NGF_TABLES_IN_REGISTERS
  const hn::ScalableTag<std::uint8_t> byte_tag;
  const auto wanted = hn::Set(byte_tag, hop);
  constexpr std::size_t vectors = block_hops / lanes<Real>;
  Wide<Real> sums[vectors];
  for (auto& part : sums) part = hn::Zero(Tag<Real>());
  for (; v + block_hops <= count; v += block_hops) {
    const auto bits = hn::Eq(hn::LoadU(byte_tag, hops + v), wanted).raw;
    if (bits == 0) continue;
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < vectors; ++i) {
      using Mask = decltype(hn::MaskFromVec(sums[0]));
      const Mask mask{static_cast<decltype(Mask::raw)>(bits >> (i * lanes<Real>))};
      const auto values = hn::MaskedLoad(mask, Tag<Real>(), x + v + i * lanes<Real>);
      sums[i] = hn::Add(sums[i], values);
    }
  }
  for (std::size_t i = 1; i < vectors; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  sum = hn::GetLane(hn::SumOfLanes(Tag<Real>(), sums[0]));
#endif
  for (; v < count; ++v) sum += hops[v] == hop ? x[v] : Real{0};
  return sum;
}

template <typename Real>
void add_by_hop(const std::uint8_t* hops, const Real* values, std::size_t count,
                std::size_t last_hop, Real* bins) {
  for (std::size_t v = 0; v < count; ++v) {
    if (hops[v] <= last_hop) bins[hops[v] * in_line<Real> + v % in_line<Real>] += values[v];
  }
}

#if NGF_TABLES_IN_REGISTERS

/// Vectors of a block.
constexpr std::size_t parts = block_hops / lanes<float>;

bool has_block_products_here(std::size_t last_hop) { return Table<float>::holds(last_hop); }

template <typename Table>
HWY_INLINE void add_both_by_table(const std::uint8_t* hops, std::size_t stride, std::size_t blocks,
                                  const float* table, const float* x, const float* own, float* dots,
                                  float* sums) {
  const Tag<float> tag;
  const Table entries(table);
  // Two sums a row, since each addition waits for the one before it.
  Wide<float> dot[rows_of_both][2];
  Wide<float> factor[rows_of_both];
  for (std::size_t r = 0; r < rows_of_both; ++r) {
    dot[r][0] = dot[r][1] = hn::Zero(tag);
    factor[r] = hn::Set(tag, own[r]);
  }
  const auto add_block = [&]<bool both>(std::size_t b) HWY_ATTR {
    Places<float> places[rows_of_both];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < rows_of_both; ++r) {
      hwy::Prefetch(hops + r * stride + (b + 16) * block_hops);
      places[r] = words_at<float>(hops + r * stride + b * block_hops);
    }
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < parts; ++j) {
      const std::size_t at = b * block_hops + j * lanes<float>;
      const auto values = hn::LoadU(tag, x + at);
      auto sum = both ? hn::LoadU(tag, sums + at) : hn::Zero(tag);
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < rows_of_both; ++r) {
        if (j > 0) places[r] = next_byte<float>(places[r]);
        const auto weights = entries.at(places[r]);
        dot[r][j % 2] = hn::MulAdd(weights, values, dot[r][j % 2]);
        if constexpr (both) sum = hn::MulAdd(weights, factor[r], sum);
      }
      if constexpr (both) hn::StoreU(sum, tag, sums + at);
    }
  };
  add_block.template operator()<false>(0);
  for (std::size_t b = 1; b < blocks; ++b) add_block.template operator()<true>(b);
  for (std::size_t r = 0; r < rows_of_both; ++r) {
    dots[r] += hn::GetLane(hn::SumOfLanes(tag, hn::Add(dot[r][0], dot[r][1])));
  }
}

void add_both_here(const std::uint8_t* hops, std::size_t stride, std::size_t blocks,
                   const float* table, std::size_t last_hop, const float* x, const float* own,
                   float* dots, float* sums) {
  if (Table<float, 1>::holds(last_hop)) {
    add_both_by_table<Table<float, 1>>(hops, stride, blocks, table, x, own, dots, sums);
  } else {
    add_both_by_table<Table<float>>(hops, stride, blocks, table, x, own, dots, sums);
  }
}

/// Sums of a block for each of some columns, all in registers.
template <std::size_t columns>
class BlockSums {
 public:
  /// Sums that begin with what is there, or with 0.
  HWY_INLINE BlockSums(float* at, bool add) : at_(at) {
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t j = 0; j < parts; ++j) {
        sum_[c][j] = add ? hn::LoadU(tag_, place(c, j)) : hn::Zero(tag_);
      }
    }
  }
  HWY_INLINE void add(std::size_t c, const Wide<float>* values, float factor) {
    const auto factors = hn::Set(tag_, factor);
    for (std::size_t j = 0; j < parts; ++j) {
      sum_[c][j] = hn::MulAdd(values[j], factors, sum_[c][j]);
    }
  }
  HWY_INLINE void store() const {
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t j = 0; j < parts; ++j) hn::StoreU(sum_[c][j], tag_, place(c, j));
    }
  }

 private:
  HWY_INLINE float* place(std::size_t c, std::size_t j) const {
    return at_ + c * block_hops + j * lanes<float>;
  }

  static constexpr Tag<float> tag_{};
  float* at_;
  Wide<float> sum_[columns][parts];
};

template <typename Table, std::size_t columns>
void multiply_columns(const std::uint8_t* hops, std::size_t count, const float* tables,
                      std::size_t table_step, const float* x, float* to, const Lines& ahead) {
  BlockSums<columns> sums(to, true);
  Table table(tables);
  for (std::size_t v = 0; v < count; ++v) {
    if (table_step > 0) table = Table(tables + v * table_step);
    if (v < ahead.count) hwy::Prefetch(ahead.first + v * ahead.stride);
    Wide<float> weights[parts];
    auto places = words_at<float>(hops + v * block_hops);
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < parts; ++j) {
      if (j > 0) places = next_byte<float>(places);
      weights[j] = table.at(places);
    }
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) sums.add(c, weights, x[v * columns + c]);
  }
  sums.store();
}

template <std::size_t columns>
void multiply_turned_columns(const float* g, const float* x, std::size_t x_stride,
                             std::size_t depth, bool add, float* products) {
  BlockSums<columns> sums(products, add);
  for (std::size_t f = 0; f < depth; ++f) {
    Wide<float> values[parts];
    for (std::size_t j = 0; j < parts; ++j) {
      values[j] = hn::LoadU(Tag<float>(), g + f * block_hops + j * lanes<float>);
    }
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) sums.add(c, values, x[c * x_stride + f]);
  }
  sums.store();
}

/// Calls body(the number, as a constant) for a number from 1 to `most`.
template <std::size_t most, typename Body>
HWY_INLINE void with_constant(std::size_t number, const Body& body) {
  if constexpr (most > 0) {
    if (number == most) {
      body(std::integral_constant<std::size_t, most>());
    } else {
      with_constant<most - 1>(number, body);
    }
  }
}

void multiply_block_here(const std::uint8_t* hops, std::size_t count, const float* tables,
                         std::size_t table_step, std::size_t last_hop, const float* x,
                         std::size_t columns, float* sums, const Lines& ahead) {
  with_constant<most_block_columns>(columns, [&](auto constant) HWY_ATTR {
    if (Table<float, 1>::holds(last_hop)) {
      multiply_columns<Table<float, 1>, constant()>(hops, count, tables, table_step, x, sums,
                                                    ahead);
    } else {
      multiply_columns<Table<float>, constant()>(hops, count, tables, table_step, x, sums, ahead);
    }
  });
}

void multiply_turned_here(const float* g, const float* x, std::size_t x_stride, std::size_t depth,
                          std::size_t columns, bool add, float* products) {
  with_constant<most_block_columns>(columns, [&](auto constant) HWY_ATTR {
    multiply_turned_columns<constant()>(g, x, x_stride, depth, add, products);
  });
}

void look_up_block_here(const std::uint8_t* hops, std::size_t stride, std::size_t count,
                        const float* tables, std::size_t table_step, float* w) {
  Table<float> table(tables);
  for (std::size_t v = 0; v < count; ++v) {
    if (table_step > 0) table = Table<float>(tables + v * table_step);
    for (std::size_t j = 0; j < parts; ++j) {
      const auto places = places_at<float>(hops + v * stride + j * lanes<float>);
      hn::StoreU(table.at(places), Tag<float>(), w + v * block_hops + j * lanes<float>);
    }
  }
}

/// For the hops first..first+together-1 of two parts of a block, whose sums stay in registers.
template <std::size_t together, std::size_t first_part>
void add_hops(const std::uint8_t* hops, std::size_t stride, const float* products,
              std::size_t count, std::size_t first, float* bins) {
  const Tag<float> tag;
  const auto place = [](std::size_t line, std::size_t part) {
    return line * block_hops + (first_part + part) * lanes<float>;
  };
  const hn::Rebind<std::uint8_t, Tag<float>> hop_tag;
  Wide<float> sums[together][2];
  HWY_UNROLL(10)
  for (std::size_t k = 0; k < together; ++k) {
    for (std::size_t j = 0; j < 2; ++j) sums[k][j] = hn::LoadU(tag, bins + place(k, j));
  }
  for (std::size_t v = 0; v < count; ++v) {
    HWY_UNROLL(2)
    for (std::size_t j = 0; j < 2; ++j) {
      // Bytes are compared faster than words.
      const auto hop = hn::LoadU(hop_tag, hops + v * stride + (first_part + j) * lanes<float>);
      const auto values = hn::LoadU(tag, products + place(v, j));
      HWY_UNROLL(10)
      for (std::size_t k = 0; k < together; ++k) {
        const auto wanted = hn::Set(hop_tag, static_cast<std::uint8_t>(first + k));
        sums[k][j] = Wide<float>{_mm512_mask_add_ps(
            sums[k][j].raw, _mm_cmpeq_epi8_mask(hop.raw, wanted.raw), sums[k][j].raw, values.raw)};
      }
    }
  }
  HWY_UNROLL(10)
  for (std::size_t k = 0; k < together; ++k) {
    for (std::size_t j = 0; j < 2; ++j) hn::StoreU(sums[k][j], tag, bins + place(k, j));
  }
}

void add_block_by_hop_here(const std::uint8_t* hops, std::size_t stride, const float* products,
                           std::size_t count, std::size_t last_hop, float* bins) {
  constexpr std::size_t most_together = 10;
  static_assert(parts == 4);
  // Turns of one size, more or less.
  const std::size_t turns = (last_hop + most_together - 1) / most_together;
  std::size_t first = 1;
  for (std::size_t turn = 1; turn <= turns; ++turn) {
    const std::size_t end = 1 + last_hop * turn / turns;
    with_constant<most_together>(end - first, [&](auto constant) HWY_ATTR {
      float* const to = bins + first * block_hops;
      add_hops<constant(), 0>(hops, stride, products, count, first, to);
      add_hops<constant(), 2>(hops, stride, products, count, first, to);
    });
    first = end;
  }
}

#else

bool has_block_products_here(std::size_t /*last_hop*/) { return false; }
void add_both_here(const std::uint8_t* /*hops*/, std::size_t /*stride*/, std::size_t /*blocks*/,
                   const float* /*table*/, std::size_t /*last_hop*/, const float* /*x*/,
                   const float* /*own*/, float* /*dots*/, float* /*sums*/) {}
void multiply_block_here(const std::uint8_t* /*hops*/, std::size_t /*count*/,
                         const float* /*tables*/, std::size_t /*table_step*/,
                         std::size_t /*last_hop*/, const float* /*x*/, std::size_t /*columns*/,
                         float* /*sums*/, const Lines& /*ahead*/) {}
void multiply_turned_here(const float* /*g*/, const float* /*x*/, std::size_t /*x_stride*/,
                          std::size_t /*depth*/, std::size_t /*columns*/, bool /*add*/,
                          float* /*products*/) {}
void look_up_block_here(const std::uint8_t* /*hops*/, std::size_t /*stride*/, std::size_t /*count*/,
                        const float* /*tables*/, std::size_t /*table_step*/, float* /*w*/) {}
void add_block_by_hop_here(const std::uint8_t* /*hops*/, std::size_t /*stride*/,
                           const float* /*products*/, std::size_t /*count*/,
                           std::size_t /*last_hop*/, float* /*bins*/) {}

#endif

#define NGF_FOR_EACH_REAL(define) define(float, f) define(double, d)
#define NGF_DEFINE(Real, letter)                                                             \
  void look_up_##letter(const std::uint8_t* hops, std::size_t count, const Real* table,      \
                        std::size_t last_hop, Real* w) {                                     \
    look_up(hops, count, table, last_hop, w);                                                \
  }                                                                                          \
  void weigh_##letter(const std::uint8_t* hops, std::size_t first, std::size_t count,        \
                      const Real* const* right, std::size_t last_hop, Real* w) {             \
    weigh(hops, first, count, right, last_hop, w);                                           \
  }                                                                                          \
  Real look_up_dot_##letter(const std::uint8_t* hops, std::size_t blocks, const Real* table, \
                            std::size_t last_hop, const Real* x) {                           \
    return look_up_dot(hops, blocks, table, last_hop, x);                                    \
  }                                                                                          \
  Real sum_at_hop_##letter(const std::uint8_t* hops, std::size_t count, std::uint8_t hop,    \
                           const Real* x) {                                                  \
    return sum_at_hop(hops, count, hop, x);                                                  \
  }                                                                                          \
  void add_by_hop_##letter(const std::uint8_t* hops, const Real* values, std::size_t count,  \
                           std::size_t last_hop, Real* bins) {                               \
    add_by_hop(hops, values, count, last_hop, bins);                                         \
  }
NGF_FOR_EACH_REAL(NGF_DEFINE)
#undef NGF_DEFINE
#undef NGF_TABLES_IN_REGISTERS

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

#define NGF_DISPATCH(Real, letter)                                                                \
  HWY_EXPORT(look_up_##letter);                                                                   \
  HWY_EXPORT(weigh_##letter);                                                                     \
  HWY_EXPORT(look_up_dot_##letter);                                                               \
  HWY_EXPORT(sum_at_hop_##letter);                                                                \
  HWY_EXPORT(add_by_hop_##letter);                                                                \
  template <>                                                                                     \
  void look_up(const std::uint8_t* hops, std::size_t count, const Real* table,                    \
               std::size_t last_hop, Real* w) {                                                   \
    HWY_DYNAMIC_DISPATCH(look_up_##letter)(hops, count, table, last_hop, w);                      \
  }                                                                                               \
  template <>                                                                                     \
  void weigh(const std::uint8_t* hops, std::size_t first, std::size_t count,                      \
             const Real* const* right, std::size_t last_hop, Real* w) {                           \
    HWY_DYNAMIC_DISPATCH(weigh_##letter)(hops, first, count, right, last_hop, w);                 \
  }                                                                                               \
  template <>                                                                                     \
  Real look_up_dot(const std::uint8_t* hops, std::size_t blocks, const Real* table,               \
                   std::size_t last_hop, const Real* x) {                                         \
    return HWY_DYNAMIC_DISPATCH(look_up_dot_##letter)(hops, blocks, table, last_hop, x);          \
  }                                                                                               \
  template <>                                                                                     \
  Real sum_at_hop(const std::uint8_t* hops, std::size_t count, std::uint8_t hop, const Real* x) { \
    return HWY_DYNAMIC_DISPATCH(sum_at_hop_##letter)(hops, count, hop, x);                        \
  }                                                                                               \
  template <>                                                                                     \
  void add_by_hop(const std::uint8_t* hops, const Real* values, std::size_t count,                \
                  std::size_t last_hop, Real* bins) {                                             \
    HWY_DYNAMIC_DISPATCH(add_by_hop_##letter)(hops, values, count, last_hop, bins);               \
  }
NGF_FOR_EACH_REAL(NGF_DISPATCH)
#undef NGF_DISPATCH

HWY_EXPORT(has_block_products_here);
HWY_EXPORT(add_both_here);
HWY_EXPORT(multiply_block_here);
HWY_EXPORT(multiply_turned_here);
HWY_EXPORT(look_up_block_here);
HWY_EXPORT(add_block_by_hop_here);

bool has_block_products(std::size_t last_hop) {
  return HWY_DYNAMIC_DISPATCH(has_block_products_here)(last_hop);
}
void add_both(const std::uint8_t* hops, std::size_t stride, std::size_t blocks, const float* table,
              std::size_t last_hop, const float* x, const float* own, float* dots, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_both_here)
  (hops, stride, blocks, table, last_hop, x, own, dots, sums);
}
void multiply_block(const std::uint8_t* hops, std::size_t count, const float* tables,
                    std::size_t table_step, std::size_t last_hop, const float* x,
                    std::size_t columns, float* sums, const Lines& ahead) {
  HWY_DYNAMIC_DISPATCH(multiply_block_here)
  (hops, count, tables, table_step, last_hop, x, columns, sums, ahead);
}
void multiply_turned(const float* g, const float* x, std::size_t x_stride, std::size_t depth,
                     std::size_t columns, bool add, float* products) {
  HWY_DYNAMIC_DISPATCH(multiply_turned_here)(g, x, x_stride, depth, columns, add, products);
}
void look_up_block(const std::uint8_t* hops, std::size_t stride, std::size_t count,
                   const float* tables, std::size_t table_step, float* w) {
  HWY_DYNAMIC_DISPATCH(look_up_block_here)(hops, stride, count, tables, table_step, w);
}
void add_block_by_hop(const std::uint8_t* hops, std::size_t stride, const float* products,
                      std::size_t count, std::size_t last_hop, float* bins) {
  HWY_DYNAMIC_DISPATCH(add_block_by_hop_here)(hops, stride, products, count, last_hop, bins);
}

}  // namespace ngf::kernels
#endif
