// The inner loops of filters, written once for every instruction set.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/filter.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/filter.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, columns_in_line<Real>>;
template <typename Real>
using Wide = hn::Vec<Tag<Real>>;
template <typename Real>
constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());
/// Vectors in a line.
template <typename Real>
constexpr std::size_t parts = columns_in_line<Real> / lanes<Real>;

/// The sum over `count` columns of their rows in the panel, all in registers.
template <std::size_t vectors, bool weighted, typename Column, typename Real>
HWY_INLINE void sum_columns(const Column* columns, std::size_t count, const Real* right,
                            const Real* x, std::size_t x_stride, Wide<Real>* sum) {
  const Tag<Real> tag;
  for (std::size_t j = 0; j < vectors; ++j) sum[j] = hn::Zero(tag);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t v = columns[i];
    const Real* const row = x + v * x_stride;
    for (std::size_t j = 0; j < vectors; ++j) {
      const auto values = hn::LoadU(tag, row + j * lanes<Real>);
      if constexpr (weighted) {
        sum[j] = hn::MulAdd(hn::Set(tag, right[v]), values, sum[j]);
      } else {
        sum[j] = hn::Add(sum[j], values);
      }
    }
  }
}

template <std::size_t vectors, typename Real>
HWY_INLINE double dot_of(const Wide<Real>* sum, const Real* g) {
  const Tag<Real> tag;
  auto products = hn::Zero(tag);
  for (std::size_t j = 0; j < vectors; ++j) {
    products = hn::MulAdd(sum[j], hn::LoadU(tag, g + j * lanes<Real>), products);
  }
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(tag, products)));
}

template <std::size_t lines, typename Column, typename Real>
HWY_INLINE void sum_lines(const ListedRow<Column, Real>& row, const Real* x, std::size_t x_stride,
                          Real* to) {
  constexpr std::size_t vectors = lines * parts<Real>;
  const Tag<Real> tag;
  Wide<Real> sum[vectors];
  Wide<Real> total[vectors];
  for (std::size_t j = 0; j < vectors; ++j) total[j] = hn::Zero(tag);
  const auto add = [&](std::size_t k) HWY_ATTR {
    if (row.g != nullptr) row.dots[k] += dot_of<vectors>(sum, row.g);
    const auto scale = hn::Set(tag, row.scale[k]);
    for (std::size_t j = 0; j < vectors; ++j) total[j] = hn::MulAdd(scale, sum[j], total[j]);
  };
  const auto wanted = [&](std::size_t k)
                          HWY_ATTR { return row.scale[k] != Real{0} || row.g != nullptr; };
  const auto sum_hop = [&](std::size_t k, const auto* columns, std::size_t count) HWY_ATTR {
    if (row.right[k] == nullptr) {
      sum_columns<vectors, false>(columns, count, row.right[k], x, x_stride, sum);
    } else {
      sum_columns<vectors, true>(columns, count, row.right[k], x, x_stride, sum);
    }
    add(k);
  };
  if (wanted(0)) sum_hop(0, &row.node, 1);
  std::size_t begin = row.begin;
  for (std::size_t k = 1; k <= row.hops; ++k) {
    const std::size_t end = row.ends[k - 1];
    if (begin != end && wanted(k)) sum_hop(k, row.columns + begin, end - begin);
    begin = end;
  }
  for (std::size_t j = 0; j < vectors; ++j) hn::StoreU(total[j], tag, to + j * lanes<Real>);
}

/// One value a column. Several sums, since each addition waits for the one before it; instructions
/// that gather values take longer.
template <typename Column, typename Real>
HWY_INLINE Real sum_plainly(const Column* columns, std::size_t count, const Real* right,
                            const Real* x) {
  Real sums[4] = {};
  std::size_t i = 0;
  const auto value = [&](std::size_t at) HWY_ATTR {
    const Column v = columns[at];
    return right != nullptr ? right[v] * x[v] : x[v];
  };
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += value(i + j);
  }
  for (; i < count; ++i) sums[0] += value(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename Column, typename Real>
HWY_INLINE void sum_single(const ListedRow<Column, Real>& row, const Real* x, Real* to) {
  Real total = 0;
  const auto add = [&](std::size_t k, Real sum) HWY_ATTR {
    if (row.g != nullptr) row.dots[k] += static_cast<double>(sum * *row.g);
    total += row.scale[k] * sum;
  };
  add(0, sum_plainly(&row.node, 1, row.right[0], x));
  std::size_t begin = row.begin;
  for (std::size_t k = 1; k <= row.hops; ++k) {
    const std::size_t end = row.ends[k - 1];
    if (row.scale[k] != Real{0} || row.g != nullptr) {
      add(k, sum_plainly(row.columns + begin, end - begin, row.right[k], x));
    }
    begin = end;
  }
  *to = total;
}

template <typename Column, typename Real>
void sum_listed(const ListedRow<Column, Real>& row, const Real* x, std::size_t x_stride,
                std::size_t lines, Real* to) {
  switch (lines) {
    case 0:
      return sum_single(row, x, to);
    case 1:
      return sum_lines<1>(row, x, x_stride, to);
    case 2:
      return sum_lines<2>(row, x, x_stride, to);
    case 4:
      return sum_lines<4>(row, x, x_stride, to);
    default:
      return sum_lines<most_sum_lines>(row, x, x_stride, to);
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

/// As many rows of sums as there are registers for, with `vectors` vectors each.
constexpr std::size_t rows_in_registers(std::size_t vectors) {
  constexpr std::size_t registers = HWY_MAX_BYTES == 64 ? 32 : 16;
  return std::max<std::size_t>(1, (registers - 4) / vectors);
}

template <typename Real>
void multiply_rows(const Real* w, std::size_t rows, const Real* x, std::size_t count,
                   std::size_t lines, Real* to, std::size_t to_stride) {
  constexpr std::size_t one = parts<Real>;
  constexpr std::size_t two = most_product_lines * parts<Real>;
  if (lines == 0) {
    for (std::size_t r = 0; r < rows; ++r) to[r * to_stride] += dot(w + r * tile_columns, x, count);
  } else if (lines == 1) {
    constexpr std::size_t at_once = rows_in_registers(one);
    multiply_blocks<at_once, one>(w, rows, x, count, to, to_stride);
  } else {
    multiply_blocks<rows_in_registers(two), two>(w, rows, x, count, to, to_stride);
  }
}

#define NGF_FOR_EACH_REAL(define) define(float, f) define(double, d)
#define NGF_DEFINE(Real, letter)                                                                 \
  void sum_shells_16_##letter(const ListedRow<std::uint16_t, Real>& row, const Real* x,          \
                              std::size_t x_stride, std::size_t lines, Real* to) {               \
    sum_listed(row, x, x_stride, lines, to);                                                     \
  }                                                                                              \
  void sum_shells_32_##letter(const ListedRow<std::uint32_t, Real>& row, const Real* x,          \
                              std::size_t x_stride, std::size_t lines, Real* to) {               \
    sum_listed(row, x, x_stride, lines, to);                                                     \
  }                                                                                              \
  void multiply_rows_##letter(const Real* w, std::size_t rows, const Real* x, std::size_t count, \
                              std::size_t lines, Real* to, std::size_t to_stride) {              \
    multiply_rows(w, rows, x, count, lines, to, to_stride);                                      \
  }
NGF_FOR_EACH_REAL(NGF_DEFINE)
#undef NGF_DEFINE

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

#define NGF_DISPATCH(Real, letter)                                                                \
  HWY_EXPORT(sum_shells_16_##letter);                                                             \
  HWY_EXPORT(sum_shells_32_##letter);                                                             \
  HWY_EXPORT(multiply_rows_##letter);                                                             \
  template <>                                                                                     \
  void sum_shells(const ListedRow<std::uint16_t, Real>& row, const Real* x, std::size_t x_stride, \
                  std::size_t lines, Real* to) {                                                  \
    HWY_DYNAMIC_DISPATCH(sum_shells_16_##letter)(row, x, x_stride, lines, to);                    \
  }                                                                                               \
  template <>                                                                                     \
  void sum_shells(const ListedRow<std::uint32_t, Real>& row, const Real* x, std::size_t x_stride, \
                  std::size_t lines, Real* to) {                                                  \
    HWY_DYNAMIC_DISPATCH(sum_shells_32_##letter)(row, x, x_stride, lines, to);                    \
  }                                                                                               \
  template <>                                                                                     \
  void multiply_rows(const Real* w, std::size_t rows, const Real* x, std::size_t count,           \
                     std::size_t lines, Real* to, std::size_t to_stride) {                        \
    HWY_DYNAMIC_DISPATCH(multiply_rows_##letter)                                                  \
    (w, rows, x, count, lines, to, to_stride);                                                    \
  }
NGF_FOR_EACH_REAL(NGF_DISPATCH)
#undef NGF_DISPATCH

}  // namespace ngf::kernels
#endif
