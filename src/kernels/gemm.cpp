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

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/gemm.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

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
    for (std::size_t j = 0; j < vectors; ++j) {
      sum[r][j] = hn::Zero(tag);
      hwy::Prefetch(c + r * c_step + j * lanes<Real>);
    }
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

/// Where the tile from row r on begins in a packed A of `count` columns.
template <bool interleaved>
constexpr std::size_t tile_at(std::size_t r, std::size_t count) {
  return r * (interleaved ? count : inner_block);
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
          multiply_tile<n, vectors, interleaved>(a + tile_at<interleaved>(r, count), b, b_step,
                                                 count, c + r * c_step, c_step, add);
        } else {
          multiply_edge<n, vectors, interleaved>(a + tile_at<interleaved>(r, count), b, count,
                                                 columns, c + r * c_step, c_step, add);
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

/// to[k * to_step + j] = from[j * from_step + k] for j, k < 4: pairs of numbers are interleaved,
/// then pairs of pairs.
#if HWY_TARGET != HWY_SCALAR
HWY_INLINE void transpose_four(const float* from, std::size_t from_step, float* to,
                               std::size_t to_step) {
  const hn::FixedTag<float, 4> tag;
  const hn::FixedTag<double, 2> pairs;
  const auto row0 = hn::LoadU(tag, from);
  const auto row1 = hn::LoadU(tag, from + from_step);
  const auto row2 = hn::LoadU(tag, from + 2 * from_step);
  const auto row3 = hn::LoadU(tag, from + 3 * from_step);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(tag, row0, row1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(tag, row2, row3));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row0, row1));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(tag, row2, row3));
  const auto store = [&](auto column, std::size_t k)
                         HWY_ATTR { hn::StoreU(hn::BitCast(tag, column), tag, to + k * to_step); };
  store(hn::InterleaveLower(pairs, low01, low23), 0);
  store(hn::InterleaveUpper(pairs, low01, low23), 1);
  store(hn::InterleaveLower(pairs, high01, high23), 2);
  store(hn::InterleaveUpper(pairs, high01, high23), 3);
}
#endif

/// to[k * to_step + j] = from[j * from_step + k] for j < rows and k < columns.
template <typename Real>
void copy_transposed(const Real* from, std::size_t from_step, std::size_t rows, std::size_t columns,
                     Real* to, std::size_t to_step) {
  std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Real) == 4) {
    for (; j + 4 <= rows; j += 4) {
      const Real* const row = from + j * from_step;
      std::size_t k = 0;
      for (; k + 4 <= columns; k += 4) {
        transpose_four(row + k, from_step, to + k * to_step + j, to_step);
      }
      for (; k < columns; ++k) {
        for (std::size_t i = 0; i < 4; ++i) to[k * to_step + j + i] = row[i * from_step + k];
      }
    }
  }
#endif
  for (; j < rows; ++j) {
    for (std::size_t k = 0; k < columns; ++k) to[k * to_step + j] = from[j * from_step + k];
  }
}

/// Copies whole vectors without asking how many.
template <std::size_t width, typename Real>
HWY_INLINE void copy_vectors(const Real* from, Real* to) {
  for (std::size_t j = 0; j < width; j += lanes<Real>) {
    hn::StoreU(hn::LoadU(Tag<Real>(), from + j), Tag<Real>(), to + j);
  }
}

/// Copies rows first..first+rows-1 of `count` columns of A from column k on.
template <std::size_t most, bool interleaved, typename Real>
void pack_a(const Product<Real>& product, std::size_t first, std::size_t rows, std::size_t k,
            std::size_t count, Real* to) {
  for (std::size_t r = 0, size = 0; r < rows; r += size) {
    size = tile_rows(rows - r, most);
    const Real* const from = product.a + (first + r) * product.a_row + k * product.a_inner;
    Real* const tile = to + tile_at<interleaved>(r, count);
    if (!interleaved) {
      for (std::size_t i = 0; i < size; ++i) {
        std::copy_n(from + i * product.a_row, count, tile + i * inner_block);
      }
    } else if (product.a_inner == 1) {
      copy_transposed(from, product.a_row, size, count, tile, size);
    } else if (size == most) {
      // Of a size that the compiler knows.
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(tile + i * most, from + i * product.a_inner, most * sizeof(Real));
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(from + i * product.a_inner, size, tile + i * size);
      }
    }
  }
}

/// Copies `columns` columns of B, and fills them up with zeros to whole vectors. Panels, of `width`
/// columns each but for the last, lie one behind the other.
template <std::size_t width, typename Real>
void pack_b(const Real* from, std::size_t inner_step, std::size_t column_step, std::size_t count,
            std::size_t columns, Real* to) {
  const std::size_t whole = columns / width * width;
  const std::size_t left = columns - whole;
  const std::size_t last_width = left <= lanes<Real> ? lanes<Real> : width;
  if (left > 0) std::fill_n(to + whole * count, count * last_width, Real{0});
  // All panels together, since rows of B are contiguous.
  if (column_step == 1) {
    for (std::size_t k = 0; k < count; ++k) {
      const Real* const row = from + k * inner_step;
      for (std::size_t j = 0; j < whole; j += width) {
        copy_vectors<width>(row + j, to + j * count + k * width);
      }
      std::copy_n(row + whole, left, to + whole * count + k * last_width);
    }
    return;
  }
  for (std::size_t j = 0; j < columns; j += width) {
    const std::size_t step = j < whole ? width : last_width;
    copy_transposed(from + j * column_step, column_step, std::min(width, columns - j), count,
                    to + j * count, step);
  }
}

/// The last columns of B, filled up with zeros.
template <std::size_t width, typename Real>
void pack_edge(const Real* from, std::size_t inner_step, std::size_t count, std::size_t columns,
               Real* to) {
  std::fill_n(to, count * width, Real{0});
  for (std::size_t k = 0; k < count; ++k)
    std::copy_n(from + k * inner_step, columns, to + k * width);
}

template <bool interleaved, typename Real>
void multiply_packed_as(const Product<Real>& product, Real* scratch) {
  constexpr std::size_t vectors = 2;
  constexpr std::size_t width = vectors * lanes<Real>;
  constexpr std::size_t most = rows_in_registers(vectors);
  Real* const packed_a = scratch;
  Real* const packed_b = scratch + packed_rows * inner_block;
  for_inner_blocks(
      product.inner, inner_block, [&](std::size_t begin, std::size_t count, bool first) HWY_ATTR {
        const bool add = product.add || !first;
        pack_b<width>(product.b + begin * product.b_inner, product.b_inner, product.b_column, count,
                      product.columns, packed_b);
        for (std::size_t r = 0; r < product.rows; r += packed_rows) {
          const std::size_t rows = std::min(packed_rows, product.rows - r);
          pack_a<most, interleaved>(product, r, rows, begin, count, packed_a);
          for (std::size_t j = 0; j < product.columns; j += width) {
            const std::size_t columns = std::min(width, product.columns - j);
            const Real* const b = packed_b + j * count;
            Real* const c = product.c + r * product.c_row + j;
            if (columns <= lanes<Real>) {
              multiply_panel<most, 1, interleaved>(packed_a, rows, b, lanes<Real>, count, columns,
                                                   c, product.c_row, add);
            } else {
              multiply_panel<most, vectors, interleaved>(packed_a, rows, b, width, count, columns,
                                                         c, product.c_row, add);
            }
          }
        }
      });
}

template <typename Real>
void packed_product(const Product<Real>& product, Real* scratch) {
  // Rows of A that are short would lie too far apart.
  constexpr std::size_t shortest = 64;
  if (product.a_inner == 1 && product.inner >= shortest) {
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
                     pack_a<most, false>(product, 0, product.rows, begin, count, to);
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
                     pack_a<most, interleaved>(product, 0, product.rows, begin, count, packed_a);
                     for (std::size_t j = 0; j < product.columns; j += width) {
                       const std::size_t columns = std::min(width, product.columns - j);
                       const Real* b = product.b + begin * product.b_inner + j;
                       std::size_t b_step = product.b_inner;
                       if (columns < width) {
                         pack_edge<width>(b, product.b_inner, count, columns, edge_b);
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

template <typename Real>
constexpr ProductKernels<Real> kernels_of{packed_product<Real>, pack_left_factor<Real>,
                                          packed_left_product<Real>, few_product<Real>};
constexpr AllProductKernels all_product_kernels{kernels_of<float>, kernels_of<double>};
const AllProductKernels& product_kernels_here() { return all_product_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(product_kernels_here);

const AllProductKernels& all_product_kernels() {
  return HWY_DYNAMIC_DISPATCH(product_kernels_here)();
}

}  // namespace ngf::kernels
#endif
