// The inner loops of filters, written once for every instruction set.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/filter.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "kernels/filter.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, lanes_of<Real>>;
template <typename Real>
using Wide = hn::Vec<Tag<Real>>;
template <typename Real>
constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());

/// Adds up `vectors` vectors of each row, which stay in registers.
template <std::size_t vectors, bool weighted, typename Column, typename Real>
HWY_INLINE void sum_block(const Column* columns, std::size_t count, const Real* weight,
                          const Real* x, std::size_t stride, Real* sum) {
  constexpr std::size_t ahead = 8;
  const Tag<Real> tag;
  Wide<Real> total[vectors];
  for (std::size_t j = 0; j < vectors; ++j) total[j] = hn::Zero(tag);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + ahead < count) hwy::Prefetch(x + columns[i + ahead] * stride);
    const Real* const row = x + columns[i] * stride;
    const auto factor = hn::Set(tag, weighted ? weight[columns[i]] : Real{1});
    for (std::size_t j = 0; j < vectors; ++j) {
      const auto values = hn::LoadU(tag, row + j * lanes<Real>);
      total[j] = weighted ? hn::MulAdd(factor, values, total[j]) : hn::Add(total[j], values);
    }
  }
  for (std::size_t j = 0; j < vectors; ++j) hn::StoreU(total[j], tag, sum + j * lanes<Real>);
}

template <bool weighted, typename Column, typename Real>
HWY_INLINE void sum_wide(const Column* columns, std::size_t count, const Real* weight,
                         const Real* x, std::size_t stride, std::size_t width, Real* sum) {
  std::size_t f = 0;
  for (; f + 8 * lanes<Real> <= width; f += 8 * lanes<Real>) {
    sum_block<8, weighted>(columns, count, weight, x + f, stride, sum + f);
  }
  for (; f + 4 * lanes<Real> <= width; f += 4 * lanes<Real>) {
    sum_block<4, weighted>(columns, count, weight, x + f, stride, sum + f);
  }
  for (; f < width; f += lanes<Real>) {
    sum_block<1, weighted>(columns, count, weight, x + f, stride, sum + f);
  }
}

/// One value a row. Several sums, since each addition waits for the one before it.
template <typename Column, typename Real>
HWY_INLINE Real sum_plainly(const Column* columns, std::size_t count, const Real* weight,
                            const Real* x, std::size_t stride) {
  Real sums[4] = {};
  std::size_t i = 0;
  const auto value = [&](std::size_t at) HWY_ATTR {
    const Column v = columns[at];
    return weight != nullptr ? weight[v] * x[v * stride] : x[v * stride];
  };
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += value(i + j);
  }
  for (; i < count; ++i) sums[0] += value(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename Column, typename Real>
HWY_INLINE Real sum_values(const Column* columns, std::size_t count, const Real* weight,
                           const Real* x, std::size_t stride) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
  if constexpr (std::is_same_v<Real, float>) {
    if (weight == nullptr && stride == 1) {
      const Tag<float> tag;
      const hn::RebindToSigned<Tag<float>> index_tag;
      const hn::Rebind<Column, Tag<float>> column_tag;
      const auto gather = [&](std::size_t at) HWY_ATTR {
        const auto found = hn::LoadU(column_tag, columns + at);
        if constexpr (sizeof(Column) == 2) {
          return hn::GatherIndex(tag, x, hn::PromoteTo(index_tag, found));
        } else {
          return hn::GatherIndex(tag, x, hn::BitCast(index_tag, found));
        }
      };
      auto even = hn::Zero(tag);
      auto odd = hn::Zero(tag);
      std::size_t i = 0;
      for (; i + 2 * lanes<float> <= count; i += 2 * lanes<float>) {
        even = hn::Add(even, gather(i));
        odd = hn::Add(odd, gather(i + lanes<float>));
      }
      const float sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
      return sum + sum_plainly(columns + i, count - i, weight, x, stride);
    }
  }
#endif
  return sum_plainly(columns, count, weight, x, stride);
}

template <typename Column, typename Real>
void sum_rows(const Column* columns, std::size_t count, const Real* weight, const Real* x,
              std::size_t stride, std::size_t width, Real* sum) {
  if (width == 1) {
    *sum = sum_values(columns, count, weight, x, stride);
  } else if (weight == nullptr) {
    sum_wide<false>(columns, count, weight, x, stride, width, sum);
  } else {
    sum_wide<true>(columns, count, weight, x, stride, width, sum);
  }
}

/// `rows` rows times `vectors` vectors of columns, all sums in registers.
template <std::size_t rows, std::size_t vectors, typename Real>
HWY_INLINE void multiply_block(const Real* w, std::size_t w_stride, const Real* x,
                               std::size_t stride, std::size_t count, Real* to,
                               std::size_t to_stride) {
  const Tag<Real> tag;
  Wide<Real> total[rows][vectors];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) {
      total[r][j] = hn::LoadU(tag, to + r * to_stride + j * lanes<Real>);
    }
  }
  for (std::size_t v = 0; v < count; ++v) {
    Wide<Real> values[vectors];
    for (std::size_t j = 0; j < vectors; ++j) {
      values[j] = hn::LoadU(tag, x + v * stride + j * lanes<Real>);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(tag, w[r * w_stride + v]);
      for (std::size_t j = 0; j < vectors; ++j) {
        total[r][j] = hn::MulAdd(factor, values[j], total[r][j]);
      }
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) {
      hn::StoreU(total[r][j], tag, to + r * to_stride + j * lanes<Real>);
    }
  }
}

template <std::size_t rows, typename Real>
HWY_INLINE void multiply_wide(const Real* w, std::size_t w_stride, const Real* x,
                              std::size_t stride, std::size_t count, std::size_t width, Real* to,
                              std::size_t to_stride) {
  // As many sums as there are registers: 32 with AVX-512, 16 elsewhere.
  constexpr std::size_t vectors = rows * 2 < HWY_MAX_BYTES / 2 ? 2 : 1;
  std::size_t f = 0;
  for (; f + vectors * lanes<Real> <= width; f += vectors * lanes<Real>) {
    multiply_block<rows, vectors>(w, w_stride, x + f, stride, count, to + f, to_stride);
  }
  for (; f < width; f += lanes<Real>) {
    multiply_block<rows, 1>(w, w_stride, x + f, stride, count, to + f, to_stride);
  }
}

template <typename Real>
HWY_INLINE Real dot(const Real* a, const Real* x, std::size_t stride, std::size_t count) {
  const Tag<Real> tag;
  auto even = hn::Zero(tag);
  auto odd = hn::Zero(tag);
  std::size_t v = 0;
  if (stride == 1) {
    for (; v + 2 * lanes<Real> <= count; v += 2 * lanes<Real>) {
      even = hn::MulAdd(hn::LoadU(tag, a + v), hn::LoadU(tag, x + v), even);
      odd =
          hn::MulAdd(hn::LoadU(tag, a + v + lanes<Real>), hn::LoadU(tag, x + v + lanes<Real>), odd);
    }
  }
  Real sum = hn::GetLane(hn::SumOfLanes(tag, hn::Add(even, odd)));
  for (; v < count; ++v) sum += a[v] * x[v * stride];
  return sum;
}

template <typename Real>
void multiply_rows(const Real* w, std::size_t w_stride, std::size_t rows, const Real* x,
                   std::size_t stride, std::size_t count, std::size_t width, Real* to,
                   std::size_t to_stride) {
  if (width == 1) {
    for (std::size_t r = 0; r < rows; ++r) {
      to[r * to_stride] += dot(w + r * w_stride, x, stride, count);
    }
    return;
  }
  if (rows == rows_together) {
    multiply_wide<rows_together>(w, w_stride, x, stride, count, width, to, to_stride);
    return;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    multiply_wide<1>(w + r * w_stride, w_stride, x, stride, count, width, to + r * to_stride,
                     to_stride);
  }
}

template <typename Real>
void look_up_plainly(const std::uint8_t* hops, std::size_t count, const Real* table,
                     std::size_t last_hop, Real* w) {
  for (std::size_t v = 0; v < count; ++v) w[v] = hops[v] <= last_hop ? table[hops[v]] : Real{0};
}

template <typename Real>
void look_up(const std::uint8_t* hops, std::size_t count, const Real* table, std::size_t last_hop,
             Real* w) {
  std::size_t v = 0;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // A table in one register.
  if constexpr (std::is_same_v<Real, float>) {
    if (last_hop < lanes<float>) {
      const Tag<float> tag;
      const hn::RebindToSigned<Tag<float>> index_tag;
      const hn::Rebind<std::uint8_t, Tag<float>> byte_tag;
      alignas(64) float entries[lanes<float>] = {};
      std::copy_n(table, last_hop + 1, entries);
      const auto held = hn::Load(tag, entries);
      const auto end = hn::Set(index_tag, static_cast<std::int32_t>(last_hop + 1));
      for (; v + lanes<float> <= count; v += lanes<float>) {
        const auto hop = hn::PromoteTo(index_tag, hn::LoadU(byte_tag, hops + v));
        const auto near = hn::Lt(hop, end);
        const auto index = hn::IndicesFromVec(tag, hn::IfThenElseZero(near, hop));
        const auto found = hn::TableLookupLanes(held, index);
        hn::StoreU(hn::IfThenElseZero(hn::RebindMask(tag, near), found), tag, w + v);
      }
    }
  }
#endif
  look_up_plainly(hops + v, count - v, table, last_hop, w + v);
}

#define NGF_FOR_EACH_REAL(define) define(float, f) define(double, d)
#define NGF_DEFINE(Real, letter)                                                                 \
  void sum_rows_16_##letter(const std::uint16_t* columns, std::size_t count, const Real* weight, \
                            const Real* x, std::size_t stride, std::size_t width, Real* sum) {   \
    sum_rows(columns, count, weight, x, stride, width, sum);                                     \
  }                                                                                              \
  void sum_rows_32_##letter(const std::uint32_t* columns, std::size_t count, const Real* weight, \
                            const Real* x, std::size_t stride, std::size_t width, Real* sum) {   \
    sum_rows(columns, count, weight, x, stride, width, sum);                                     \
  }                                                                                              \
  void multiply_rows_##letter(const Real* w, std::size_t w_stride, std::size_t rows,             \
                              const Real* x, std::size_t stride, std::size_t count,              \
                              std::size_t width, Real* to, std::size_t to_stride) {              \
    multiply_rows(w, w_stride, rows, x, stride, count, width, to, to_stride);                    \
  }                                                                                              \
  void look_up_##letter(const std::uint8_t* hops, std::size_t count, const Real* table,          \
                        std::size_t last_hop, Real* w) {                                         \
    look_up(hops, count, table, last_hop, w);                                                    \
  }
NGF_FOR_EACH_REAL(NGF_DEFINE)
#undef NGF_DEFINE

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

#define NGF_DISPATCH(Real, letter)                                                             \
  HWY_EXPORT(sum_rows_16_##letter);                                                            \
  HWY_EXPORT(sum_rows_32_##letter);                                                            \
  HWY_EXPORT(multiply_rows_##letter);                                                          \
  HWY_EXPORT(look_up_##letter);                                                                \
  template <>                                                                                  \
  void sum_rows(const std::uint16_t* columns, std::size_t count, const Real* weight,           \
                const Real* x, std::size_t stride, std::size_t width, Real* sum) {             \
    HWY_DYNAMIC_DISPATCH(sum_rows_16_##letter)(columns, count, weight, x, stride, width, sum); \
  }                                                                                            \
  template <>                                                                                  \
  void sum_rows(const std::uint32_t* columns, std::size_t count, const Real* weight,           \
                const Real* x, std::size_t stride, std::size_t width, Real* sum) {             \
    HWY_DYNAMIC_DISPATCH(sum_rows_32_##letter)(columns, count, weight, x, stride, width, sum); \
  }                                                                                            \
  template <>                                                                                  \
  void multiply_rows(const Real* w, std::size_t w_stride, std::size_t rows, const Real* x,     \
                     std::size_t stride, std::size_t count, std::size_t width, Real* to,       \
                     std::size_t to_stride) {                                                  \
    HWY_DYNAMIC_DISPATCH(multiply_rows_##letter)                                               \
    (w, w_stride, rows, x, stride, count, width, to, to_stride);                               \
  }                                                                                            \
  template <>                                                                                  \
  void look_up(const std::uint8_t* hops, std::size_t count, const Real* table,                 \
               std::size_t last_hop, Real* w) {                                                \
    HWY_DYNAMIC_DISPATCH(look_up_##letter)(hops, count, table, last_hop, w);                   \
  }
NGF_FOR_EACH_REAL(NGF_DISPATCH)
#undef NGF_DISPATCH

}  // namespace ngf::kernels
#endif
