// The inner loops of dense products, written once for every instruction set.
//
// A tile of C, some rows times some vectors of columns, stays in registers while k runs over a
// block of the inner dimension:
//
//   C[r, :] += A[r, k] * B[k, :]   for all r of the tile, with A[r, k] in all lanes
//
// A is copied so that the steps between the numbers of a tile are known when this is compiled. Rows
// that are contiguous in memory stay so; where columns are, a tile's rows are interleaved. Either
// way the copy moves whole runs.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/gemm.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, 64 / sizeof(Real)>;
template <typename Real>
using Wide = hn::Vec<Tag<Real>>;
template <typename Real>
constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());

constexpr std::size_t registers = HWY_MAX_BYTES == 64 ? 32 : 16;
/// As many rows of sums as there are registers for, with `vectors` vectors each.
constexpr std::size_t rows_in_registers(std::size_t vectors) { return (registers - 4) / vectors; }

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

/// Rows of the next tile, where `left` rows are left and tiles have `most` rows.
constexpr std::size_t tile_rows(std::size_t left, std::size_t most) {
  for (const std::size_t size : {most, std::size_t{7}, std::size_t{4}, std::size_t{2}}) {
    if (size <= most && size <= left) return size;
  }
  return 1;
}

template <std::size_t rows, std::size_t vectors, bool interleaved, typename Real>
void multiply_tile(const Real* HWY_RESTRICT a, const Real* HWY_RESTRICT b, std::size_t b_step,
                   std::size_t count, Real* HWY_RESTRICT c, std::size_t c_step, bool add) {
  constexpr std::size_t row_step = interleaved ? 1 : inner_block;
  constexpr std::size_t inner_step = interleaved ? rows : 1;
  const Tag<Real> tag;
  Wide<Real> sum[rows][vectors];
  HWY_UNROLL(28)
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) sum[r][j] = hn::Zero(tag);
  }
  for (std::size_t k = 0; k < count; ++k) {
    Wide<Real> values[vectors];
    for (std::size_t j = 0; j < vectors; ++j) {
      values[j] = hn::LoadU(tag, b + k * b_step + j * lanes<Real>);
    }
    HWY_UNROLL(28)
    for (std::size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(tag, a[r * row_step + k * inner_step]);
      for (std::size_t j = 0; j < vectors; ++j) {
        sum[r][j] = hn::MulAdd(factor, values[j], sum[r][j]);
      }
    }
  }
  HWY_UNROLL(28)
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < vectors; ++j) {
      Real* const to = c + r * c_step + j * lanes<Real>;
      hn::StoreU(add ? hn::Add(hn::LoadU(tag, to), sum[r][j]) : sum[r][j], tag, to);
    }
  }
}

/// A tile of fewer columns than the vectors have goes through memory.
template <std::size_t rows, std::size_t vectors, bool interleaved, typename Real>
void multiply_edge(const Real* a, const Real* b, std::size_t count, std::size_t columns, Real* c,
                   std::size_t c_step, bool add) {
  constexpr std::size_t width = vectors * lanes<Real>;
  alignas(64) Real tile[rows * width];
  multiply_tile<rows, vectors, interleaved>(a, b, width, count, tile, width, false);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t j = 0; j < columns; ++j) {
      c[r * c_step + j] = tile[r * width + j] + (add ? c[r * c_step + j] : Real{0});
    }
  }
}

/// Rows of packed A times a panel of B.
template <std::size_t most, std::size_t vectors, bool interleaved, typename Real>
void multiply_panel(const Real* a, std::size_t rows, const Real* b, std::size_t b_step,
                    std::size_t count, std::size_t columns, Real* c, std::size_t c_step, bool add) {
  for (std::size_t r = 0, size = 0; r < rows; r += size) {
    size = tile_rows(rows - r, most);
    const auto multiply = [&]<std::size_t n>() HWY_ATTR {
      if constexpr (n <= most) {
        if (columns == vectors * lanes<Real>) {
          multiply_tile<n, vectors, interleaved>(a + r * inner_block, b, b_step, count,
                                                 c + r * c_step, c_step, add);
        } else {
          multiply_edge<n, vectors, interleaved>(a + r * inner_block, b, count, columns,
                                                 c + r * c_step, c_step, add);
        }
      }
    };
    if (size == most) {
      multiply.template operator()<most>();
    } else if (size == 7) {
      multiply.template operator()<7>();
    } else if (size == 4) {
      multiply.template operator()<4>();
    } else if (size == 2) {
      multiply.template operator()<2>();
    } else {
      multiply.template operator()<1>();
    }
  }
}

/// Copies `count` columns of A from column k on. Tiles lie inner_block numbers a row apart.
template <std::size_t most, bool interleaved, typename Real>
void pack_a(const Product<Real>& product, std::size_t k, std::size_t count, Real* to) {
  for (std::size_t r = 0, size = 0; r < product.rows; r += size) {
    size = tile_rows(product.rows - r, most);
    const Real* const from = product.a + r * product.a_row + k * product.a_inner;
    Real* const tile = to + r * inner_block;
    if constexpr (interleaved) {
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(from + i * product.a_inner, size, tile + i * size);
      }
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        std::copy_n(from + i * product.a_row, count, tile + i * inner_block);
      }
    }
  }
}

/// Copies `columns` columns of B, a panel, and fills it with zeros up to `width`.
template <std::size_t width, typename Real>
void pack_b(const Real* from, std::size_t inner_step, std::size_t column_step, std::size_t count,
            std::size_t columns, Real* to) {
  if (columns < width) std::fill_n(to, count * width, Real{0});
  if (column_step == 1) {
    for (std::size_t k = 0; k < count; ++k) {
      if (columns == width) {
        std::copy_n(from + k * inner_step, width, to + k * width);
      } else {
        std::copy_n(from + k * inner_step, columns, to + k * width);
      }
    }
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = 0; j < columns; ++j) {
        to[k * width + j] = from[k * inner_step + j * column_step];
      }
    }
  }
}

/// Calls body(begin, count, first) for the blocks of the inner dimension, which differ by one at
/// most. There is one, of nothing, where the dimension is 0.
template <typename Body>
HWY_INLINE void for_inner_blocks(std::size_t inner, std::size_t longest, const Body& body) {
  const std::size_t blocks = std::max<std::size_t>(1, (inner + longest - 1) / longest);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = inner * i / blocks;
    body(begin, inner * (i + 1) / blocks - begin, i == 0);
  }
}

template <bool interleaved, typename Real>
void multiply_packed_as(const Product<Real>& product, Real* scratch) {
  constexpr std::size_t vectors = 2;
  constexpr std::size_t width = vectors * lanes<Real>;
  constexpr std::size_t most = rows_in_registers(vectors);
  Real* const packed_a = scratch;
  Real* const packed_b = scratch + most_packed_rows * inner_block;
  for_inner_blocks(
      product.inner, inner_block, [&](std::size_t begin, std::size_t count, bool first) HWY_ATTR {
        const bool add = product.add || !first;
        pack_a<most, interleaved>(product, begin, count, packed_a);
        for (std::size_t j = 0; j < product.columns; j += width) {
          const std::size_t columns = std::min(width, product.columns - j);
          const Real* const b = product.b + begin * product.b_inner + j * product.b_column;
          Real* const c = product.c + j;
          if (columns <= lanes<Real>) {
            pack_b<lanes<Real>>(b, product.b_inner, product.b_column, count, columns, packed_b);
            multiply_panel<most, 1, interleaved>(packed_a, product.rows, packed_b, lanes<Real>,
                                                 count, columns, c, product.c_row, add);
          } else {
            pack_b<width>(b, product.b_inner, product.b_column, count, columns, packed_b);
            multiply_panel<most, vectors, interleaved>(packed_a, product.rows, packed_b, width,
                                                       count, columns, c, product.c_row, add);
          }
        }
      });
}

template <typename Real>
void packed_product(const Product<Real>& product, Real* scratch) {
  if (product.a_inner == 1) {
    multiply_packed_as<false>(product, scratch);
  } else {
    multiply_packed_as<true>(product, scratch);
  }
}

template <typename Real>
void pack_left_factor(const Product<Real>& product, Real* to) {
  constexpr std::size_t most = rows_in_registers(2);
  for_inner_blocks(product.inner, inner_block,
                   [&](std::size_t begin, std::size_t count, bool /*first*/) HWY_ATTR {
                     pack_a<most, false>(product, begin, count, to);
                     to += product.rows * inner_block;
                   });
}

template <typename Real>
void packed_left_product(const Product<Real>& product, const Real* packed) {
  constexpr std::size_t width = 2 * lanes<Real>;
  static_assert(packed_left_columns % lanes<Real> == 0);
  for_inner_blocks(
      product.inner, inner_block, [&](std::size_t begin, std::size_t count, bool first) HWY_ATTR {
        const bool add = product.add || !first;
        const Real* const b = product.b + begin * product.b_inner;
        std::size_t j = 0;
        for (; j + width <= product.columns; j += width) {
          multiply_panel<rows_in_registers(2), 2, false>(packed, product.rows, b + j,
                                                         product.b_inner, count, width,
                                                         product.c + j, product.c_row, add);
        }
        if (j < product.columns) {
          multiply_panel<rows_in_registers(1), 1, false>(packed, product.rows, b + j,
                                                         product.b_inner, count, lanes<Real>,
                                                         product.c + j, product.c_row, add);
        }
        packed += product.rows * inner_block;
      });
}

/// Puts sums that lie in rows `step` apart into C.
template <typename Real>
void put(const Product<Real>& product, const Real* sums, std::size_t step) {
  const auto put_one = [&](std::size_t r, std::size_t j) HWY_ATTR {
    Real& to = product.c[r * product.c_row + j * product.c_column];
    to = sums[r * step + j] + (product.add ? to : Real{0});
  };
  if (product.c_column == 1) {
    for (std::size_t r = 0; r < product.rows; ++r) {
      for (std::size_t j = 0; j < product.columns; ++j) put_one(r, j);
    }
  } else {
    for (std::size_t j = 0; j < product.columns; ++j) {
      for (std::size_t r = 0; r < product.rows; ++r) put_one(r, j);
    }
  }
}

template <std::size_t vectors, bool interleaved, typename Real>
void multiply_few_as(const Product<Real>& product, Real* scratch) {
  // B goes by in pieces of whole rows, which come from memory in order.
  constexpr std::size_t few_inner = 128;
  constexpr std::size_t width = vectors * lanes<Real>;
  constexpr std::size_t most = rows_in_registers(vectors);
  constexpr std::size_t step = most_few_columns;
  Real* const packed_a = scratch;
  Real* const edge_b = packed_a + most_few_rows * inner_block;
  Real* const sums = edge_b + inner_block * width;
  for_inner_blocks(product.inner, few_inner,
                   [&](std::size_t begin, std::size_t count, bool first) HWY_ATTR {
                     pack_a<most, interleaved>(product, begin, count, packed_a);
                     for (std::size_t j = 0; j < product.columns; j += width) {
                       const std::size_t columns = std::min(width, product.columns - j);
                       const Real* b = product.b + begin * product.b_inner + j;
                       std::size_t b_step = product.b_inner;
                       if (columns < width) {
                         pack_b<width>(b, product.b_inner, 1, count, columns, edge_b);
                         b = edge_b;
                         b_step = width;
                       }
                       multiply_panel<most, vectors, interleaved>(
                           packed_a, product.rows, b, b_step, count, width, sums + j, step, !first);
                     }
                   });
  put(product, sums, step);
}

template <typename Real>
void few_product(const Product<Real>& product, Real* scratch) {
  const bool interleaved = product.a_inner != 1;
  if (product.rows <= rows_in_registers(4)) {
    interleaved ? multiply_few_as<4, true>(product, scratch)
                : multiply_few_as<4, false>(product, scratch);
  } else {
    interleaved ? multiply_few_as<2, true>(product, scratch)
                : multiply_few_as<2, false>(product, scratch);
  }
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

/// `vectors` vectors of columns of a sum of rows, in registers.
template <std::size_t vectors, typename Real>
HWY_INLINE void sum_columns(const Real* values, const std::int32_t* columns, std::size_t count,
                            const Real* b, std::size_t stride, Real* to, bool add) {
  const Tag<Real> tag;
  Wide<Real> sum[vectors];
  for (std::size_t j = 0; j < vectors; ++j) sum[j] = hn::Zero(tag);
  for (std::size_t i = 0; i < count; ++i) {
    const auto factor = hn::Set(tag, values[i]);
    const Real* const row = b + static_cast<std::size_t>(columns[i]) * stride;
    for (std::size_t j = 0; j < vectors; ++j) {
      sum[j] = hn::MulAdd(factor, hn::LoadU(tag, row + j * lanes<Real>), sum[j]);
    }
  }
  for (std::size_t j = 0; j < vectors; ++j) {
    Real* const at = to + j * lanes<Real>;
    hn::StoreU(add ? hn::Add(hn::LoadU(tag, at), sum[j]) : sum[j], tag, at);
  }
}

template <typename Real>
void sum_rows(const Real* values, const std::int32_t* columns, std::size_t count, const Real* b,
              std::size_t stride, std::size_t width, Real* to, bool add) {
  constexpr std::size_t many = registers / 2;
  const Tag<Real> tag;
  std::size_t f = 0;
  for (; f + many * lanes<Real> <= width; f += many * lanes<Real>) {
    sum_columns<many>(values, columns, count, b + f, stride, to + f, add);
  }
  for (; f + 4 * lanes<Real> <= width; f += 4 * lanes<Real>) {
    sum_columns<4>(values, columns, count, b + f, stride, to + f, add);
  }
  for (; f + lanes<Real> <= width; f += lanes<Real>) {
    sum_columns<1>(values, columns, count, b + f, stride, to + f, add);
  }
  if (f == width) return;
  auto sum = hn::Zero(tag);
  for (std::size_t i = 0; i < count; ++i) {
    const Real* const row = b + static_cast<std::size_t>(columns[i]) * stride + f;
    sum = hn::MulAdd(hn::Set(tag, values[i]), load_first(row, width - f), sum);
  }
  if (add) sum = hn::Add(load_first(to + f, width - f), sum);
  store_first(sum, to + f, width - f);
}

#define NGF_FOR_EACH_REAL(define) define(float, f) define(double, d)
#define NGF_DEFINE(Real, letter)                                                             \
  void multiply_packed_##letter(const Product<Real>& product, Real* scratch) {               \
    packed_product(product, scratch);                                                        \
  }                                                                                          \
  void pack_left_##letter(const Product<Real>& product, Real* to) {                          \
    pack_left_factor(product, to);                                                           \
  }                                                                                          \
  void multiply_packed_left_##letter(const Product<Real>& product, const Real* packed) {     \
    packed_left_product(product, packed);                                                    \
  }                                                                                          \
  void multiply_few_##letter(const Product<Real>& product, Real* scratch) {                  \
    few_product(product, scratch);                                                           \
  }                                                                                          \
  void multiply_dots_##letter(const Product<Real>& product, Real* scratch) {                 \
    dot_products(product, scratch);                                                          \
  }                                                                                          \
  void sum_rows_##letter(const Real* values, const std::int32_t* columns, std::size_t count, \
                         const Real* b, std::size_t stride, std::size_t width, Real* to,     \
                         bool add) {                                                         \
    sum_rows(values, columns, count, b, stride, width, to, add);                             \
  }
NGF_FOR_EACH_REAL(NGF_DEFINE)
#undef NGF_DEFINE

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

#define NGF_DISPATCH(Real, letter)                                                                 \
  HWY_EXPORT(multiply_packed_##letter);                                                            \
  HWY_EXPORT(pack_left_##letter);                                                                  \
  HWY_EXPORT(multiply_packed_left_##letter);                                                       \
  HWY_EXPORT(multiply_few_##letter);                                                               \
  HWY_EXPORT(multiply_dots_##letter);                                                              \
  HWY_EXPORT(sum_rows_##letter);                                                                   \
  template <>                                                                                      \
  void multiply_packed(const Product<Real>& product, Real* scratch) {                              \
    HWY_DYNAMIC_DISPATCH(multiply_packed_##letter)(product, scratch);                              \
  }                                                                                                \
  template <>                                                                                      \
  void pack_left(const Product<Real>& product, Real* to) {                                         \
    HWY_DYNAMIC_DISPATCH(pack_left_##letter)(product, to);                                         \
  }                                                                                                \
  template <>                                                                                      \
  void multiply_packed_left(const Product<Real>& product, const Real* packed) {                    \
    HWY_DYNAMIC_DISPATCH(multiply_packed_left_##letter)(product, packed);                          \
  }                                                                                                \
  template <>                                                                                      \
  void multiply_few(const Product<Real>& product, Real* scratch) {                                 \
    HWY_DYNAMIC_DISPATCH(multiply_few_##letter)(product, scratch);                                 \
  }                                                                                                \
  template <>                                                                                      \
  void multiply_dots(const Product<Real>& product, Real* scratch) {                                \
    HWY_DYNAMIC_DISPATCH(multiply_dots_##letter)(product, scratch);                                \
  }                                                                                                \
  template <>                                                                                      \
  void sum_rows(const Real* values, const std::int32_t* columns, std::size_t count, const Real* b, \
                std::size_t stride, std::size_t width, Real* to, bool add) {                       \
    HWY_DYNAMIC_DISPATCH(sum_rows_##letter)(values, columns, count, b, stride, width, to, add);    \
  }
NGF_FOR_EACH_REAL(NGF_DISPATCH)
#undef NGF_DISPATCH

}  // namespace ngf::kernels
#endif
