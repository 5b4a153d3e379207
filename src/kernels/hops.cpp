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

#include "kernels/hop_table-inl.hpp"
#include "kernels/hops.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

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
      const auto values = hn::LoadU(Tag<Real>(), x + b * block_hops + j * columns_in_line<Real>);
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
  constexpr std::size_t words = columns_in_line<Real>;
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
    if (hops[v] <= last_hop)
      bins[hops[v] * columns_in_line<Real> + v % columns_in_line<Real>] += values[v];
  }
}

/// `rows` rows times `vectors` vectors of columns, all sums in registers.
template <std::size_t rows, std::size_t vectors, typename Real>
HWY_INLINE void multiply_block(const Real* w, const Real* x, std::size_t count, Real* to,
                               std::size_t to_stride) {
  const Tag<Real> tag;
  Wide<Real> total[rows][vectors];
  HWY_UNROLL(28)
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) {
      total[r][j] = hn::LoadU(tag, to + r * to_stride + j * lanes<Real>);
    }
  }
  for (std::size_t v = 0; v < count; ++v) {
    Wide<Real> values[vectors];
    for (std::size_t j = 0; j < vectors; ++j) {
      values[j] = hn::LoadU(tag, x + (v * vectors + j) * lanes<Real>);
    }
    HWY_UNROLL(28)
    for (std::size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(tag, w[r * tile_columns + v]);
      for (std::size_t j = 0; j < vectors; ++j) {
        total[r][j] = hn::MulAdd(factor, values[j], total[r][j]);
      }
    }
  }
  HWY_UNROLL(28)
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) {
      hn::StoreU(total[r][j], tag, to + r * to_stride + j * lanes<Real>);
    }
  }
}

template <std::size_t rows_at_once, std::size_t vectors, typename Real>
HWY_INLINE void multiply_blocks(const Real* w, std::size_t rows, const Real* x, std::size_t count,
                                Real* to, std::size_t to_stride) {
  std::size_t r = 0;
  for (; r + rows_at_once <= rows; r += rows_at_once) {
    multiply_block<rows_at_once, vectors>(w + r * tile_columns, x, count, to + r * to_stride,
                                          to_stride);
  }
  for (; r < rows; ++r) {
    multiply_block<1, vectors>(w + r * tile_columns, x, count, to + r * to_stride, to_stride);
  }
}

template <typename Real>
HWY_INLINE Real dot(const Real* a, const Real* b, std::size_t count) {
  const Tag<Real> tag;
  auto even = hn::Zero(tag);
  auto odd = hn::Zero(tag);
  std::size_t v = 0;
  for (; v + 2 * lanes<Real> <= count; v += 2 * lanes<Real>) {
    even = hn::MulAdd(hn::LoadU(tag, a + v), hn::LoadU(tag, b + v), even);
    odd = hn::MulAdd(hn::LoadU(tag, a + v + lanes<Real>), hn::LoadU(tag, b + v + lanes<Real>), odd);
  }
  Real sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
  for (; v < count; ++v) sum += a[v] * b[v];
  return sum;
}

template <typename Real>
void multiply_rows(const Real* w, std::size_t rows, const Real* x, std::size_t count,
                   std::size_t lines, Real* to, std::size_t to_stride) {
  constexpr std::size_t one = columns_in_line<Real> / lanes<Real>;
  constexpr std::size_t two = most_product_lines * one;
  if (lines == 0) {
    for (std::size_t r = 0; r < rows; ++r) to[r * to_stride] += dot(w + r * tile_columns, x, count);
  } else if (lines == 1) {
    constexpr std::size_t at_once = rows_in_registers(one);
    multiply_blocks<at_once, one>(w, rows, x, count, to, to_stride);
  } else {
    multiply_blocks<rows_in_registers(two), two>(w, rows, x, count, to, to_stride);
  }
}

template <typename Real>
constexpr HopKernels<Real> kernels_of{look_up<Real>,    weigh<Real>,      look_up_dot<Real>,
                                      sum_at_hop<Real>, add_by_hop<Real>, multiply_rows<Real>};
constexpr AllHopKernels all_hop_kernels{kernels_of<float>, kernels_of<double>};
const AllHopKernels& hop_kernels_here() { return all_hop_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(hop_kernels_here);

const AllHopKernels& all_hop_kernels() { return HWY_DYNAMIC_DISPATCH(hop_kernels_here)(); }

}  // namespace ngf::kernels
#endif
