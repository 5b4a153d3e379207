// Products with few columns and sums of rows, written once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_narrow.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/gemm.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

/// The first `count` lanes, the others 0. What lies behind them is not touched.
template <typename Real>
HWY_INLINE Wide<Real> load_first(const Real* from, std::size_t count) {
  const Tag<Real> tag;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(tag, count), tag, from);
#else
  alignas(64) Real padded[lanes<Real>] = {};
  std::copy_n(from, count, padded);
  return hn::Load(tag, padded);
#endif
}

template <typename Real>
HWY_INLINE void store_first(Wide<Real> vector, Real* to, std::size_t count) {
  alignas(64) Real padded[lanes<Real>];
  hn::Store(vector, Tag<Real>(), padded);
  std::copy_n(padded, count, to);
}

/// Products of `rows` rows of A with `columns` columns of B, which is packed with columns
/// `b_step` apart and ends in zeros.
template <std::size_t rows, std::size_t columns, typename Real>
void dot_tile(const Real* HWY_RESTRICT a, std::size_t a_step, const Real* HWY_RESTRICT b,
              std::size_t b_step, std::size_t count, Real* HWY_RESTRICT c, std::size_t c_row,
              std::size_t c_column, bool add) {
  const Tag<Real> tag;
  Wide<Real> sum[rows][columns];
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < rows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < columns; ++j) sum[r][j] = hn::Zero(tag);
  }
  const auto step = [&](std::size_t k, const Wide<Real>* row) HWY_ATTR {
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < columns; ++j) {
      const auto column = hn::LoadU(tag, b + j * b_step + k);
      HWY_UNROLL(16)
      for (std::size_t r = 0; r < rows; ++r) sum[r][j] = hn::MulAdd(row[r], column, sum[r][j]);
    }
  };
  std::size_t k = 0;
  Wide<Real> row[rows];
  for (; k + lanes<Real> <= count; k += lanes<Real>) {
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < rows; ++r) row[r] = hn::LoadU(tag, a + r * a_step + k);
    step(k, row);
  }
  if (k < count) {
    HWY_UNROLL(16)
    for (std::size_t r = 0; r < rows; ++r) row[r] = load_first(a + r * a_step + k, count - k);
    step(k, row);
  }
  HWY_UNROLL(16)
  for (std::size_t r = 0; r < rows; ++r) {
    HWY_UNROLL(8)
    for (std::size_t j = 0; j < columns; ++j) {
      Real& to = c[r * c_row + j * c_column];
      to = hn::GetLane(hn::SumOfLanes(tag, sum[r][j])) + (add ? to : Real{0});
    }
  }
}

template <std::size_t columns, typename Real>
void multiply_dots_of(const Product<Real>& product, Real* scratch) {
  // Packed columns of B stay in the nearest cache.
  constexpr std::size_t longest = 1024;
  constexpr std::size_t at_once = std::max<std::size_t>(1, (registers - 1) / (columns + 1));
  for_inner_blocks(
      product.inner, longest, [&](std::size_t begin, std::size_t count, bool first) HWY_ATTR {
        const std::size_t step = (count + lanes<Real> - 1) / lanes<Real> * lanes<Real>;
        for (std::size_t j = 0; j < columns; ++j) {
          for (std::size_t k = 0; k < step; ++k) {
            scratch[j * step + k] =
                k < count ? product.b[(begin + k) * product.b_inner + j * product.b_column]
                          : Real{0};
          }
        }
        const Real* const a = product.a + begin;
        const bool add = product.add || !first;
        std::size_t r = 0;
        for (; r + at_once <= product.rows; r += at_once) {
          dot_tile<at_once, columns>(a + r * product.a_row, product.a_row, scratch, step, count,
                                     product.c + r * product.c_row, product.c_row, product.c_column,
                                     add);
        }
        for (; r < product.rows; ++r) {
          dot_tile<1, columns>(a + r * product.a_row, product.a_row, scratch, step, count,
                               product.c + r * product.c_row, product.c_row, product.c_column, add);
        }
      });
}

template <typename Real>
void dot_products(const Product<Real>& product, Real* scratch) {
  switch (product.columns) {
    case 1:
      return multiply_dots_of<1>(product, scratch);
    case 2:
      return multiply_dots_of<2>(product, scratch);
    case 3:
      return multiply_dots_of<3>(product, scratch);
    case 4:
      return multiply_dots_of<4>(product, scratch);
    case 5:
      return multiply_dots_of<5>(product, scratch);
    case 6:
      return multiply_dots_of<6>(product, scratch);
    case 7:
      return multiply_dots_of<7>(product, scratch);
    default:
      return multiply_dots_of<most_dots>(product, scratch);
  }
}

/// What a sum of rows comes to, beside its own row.
template <typename Real>
HWY_INLINE Wide<Real> with_own(const RowSum<Real>& sum, Wide<Real> of_rows, Wide<Real> own) {
  const Tag<Real> tag;
  return hn::MulAdd(hn::Set(tag, sum.scale), of_rows, hn::Mul(hn::Set(tag, sum.own_scale), own));
}

/// `vectors` vectors of columns of a sum of rows, from column f on, in registers.
template <std::size_t vectors, typename Real>
HWY_INLINE void sum_columns(const RowSum<Real>& sum, std::size_t f, Real* to) {
  const Tag<Real> tag;
  Wide<Real> of_rows[vectors];
  for (std::size_t j = 0; j < vectors; ++j) of_rows[j] = hn::Zero(tag);
  for (std::size_t i = 0; i < sum.count; ++i) {
    const auto factor = hn::Set(tag, sum.values[i]);
    const Real* const row = sum.b + static_cast<std::size_t>(sum.columns[i]) * sum.stride + f;
    for (std::size_t j = 0; j < vectors; ++j) {
      of_rows[j] = hn::MulAdd(factor, hn::LoadU(tag, row + j * lanes<Real>), of_rows[j]);
    }
  }
  for (std::size_t j = 0; j < vectors; ++j) {
    const std::size_t at = f + j * lanes<Real>;
    const auto own = sum.own == nullptr ? hn::Zero(tag) : hn::LoadU(tag, sum.own + at);
    hn::StoreU(with_own(sum, of_rows[j], own), tag, to + at);
  }
}

template <typename Real>
void sum_rows(const RowSum<Real>& sum, std::size_t width, Real* to) {
  constexpr std::size_t many = registers / 2;
  const Tag<Real> tag;
  std::size_t f = 0;
  for (; f + many * lanes<Real> <= width; f += many * lanes<Real>) sum_columns<many>(sum, f, to);
  for (; f + 4 * lanes<Real> <= width; f += 4 * lanes<Real>) sum_columns<4>(sum, f, to);
  for (; f + lanes<Real> <= width; f += lanes<Real>) sum_columns<1>(sum, f, to);
  if (f == width) return;
  const std::size_t rest = width - f;
  auto of_rows = hn::Zero(tag);
  for (std::size_t i = 0; i < sum.count; ++i) {
    const Real* const row = sum.b + static_cast<std::size_t>(sum.columns[i]) * sum.stride + f;
    of_rows = hn::MulAdd(hn::Set(tag, sum.values[i]), load_first(row, rest), of_rows);
  }
  const auto own = sum.own == nullptr ? hn::Zero(tag) : load_first(sum.own + f, rest);
  store_first(with_own(sum, of_rows, own), to + f, rest);
}

template <typename Real>
constexpr RowKernels<Real> kernels_of{dot_products<Real>, sum_rows<Real>};
constexpr AllRowKernels all_row_kernels{kernels_of<float>, kernels_of<double>};
const AllRowKernels& row_kernels_here() { return all_row_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(row_kernels_here);

const AllRowKernels& all_row_kernels() { return HWY_DYNAMIC_DISPATCH(row_kernels_here)(); }

}  // namespace ngf::kernels
#endif
