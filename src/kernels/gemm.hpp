#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

/// The inner loops of dense products, and of sparse matrices with dense ones.
namespace ngf::kernels {

/// C = A B, or C += A B, with A rows x inner, B inner x columns. An element (i, j) of a factor lies
/// at [i * row step + j * column step], and one of its steps is 1.
template <typename Real>
struct Product {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t inner = 0;
  const Real* a = nullptr;
  std::size_t a_row = 0;
  std::size_t a_inner = 0;
  const Real* b = nullptr;
  std::size_t b_inner = 0;
  std::size_t b_column = 0;
  Real* c = nullptr;
  std::size_t c_row = 0;
  std::size_t c_column = 0;
  bool add = false;
};

/// The inner dimension is cut into blocks of at most so many, the sums of which are added one after
/// the other. A panel of B, so long, stays in the nearest cache.
inline constexpr std::size_t inner_block = 256;

/// The rows that `multiply_packed` takes at a time, so that they stay in the second cache, and the
/// most columns of a call.
inline constexpr std::size_t packed_rows = 672;
inline constexpr std::size_t most_packed_columns = 1376;
/// The most rows and columns of a call of `multiply_few`.
inline constexpr std::size_t most_few_rows = 14;
inline constexpr std::size_t most_few_columns = 512;
/// The most columns of a call of `multiply_dots`.
inline constexpr std::size_t most_dots = 8;

/// The numbers that each of the calls may need in `scratch`, which lies on a cache line.
inline constexpr std::size_t product_scratch = inner_block * (packed_rows + most_packed_columns);

/// Calls body(begin, count, first) for the blocks of the inner dimension, which differ by one at
/// most. There is one, of nothing, where the dimension is 0.
template <typename Body>
void for_inner_blocks(std::size_t inner, std::size_t longest, const Body& body) {
  const std::size_t blocks = std::max<std::size_t>(1, (inner + longest - 1) / longest);
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = inner * i / blocks;
    body(begin, inner * (i + 1) / blocks - begin, i == 0);
  }
}

/// A left factor that is copied once, for products with many B: the numbers that its copy takes.
constexpr std::size_t packed_left_size(std::size_t rows, std::size_t inner) {
  return rows * ((inner + inner_block - 1) / inner_block) * inner_block;
}
/// The columns of `multiply_packed_left` are a multiple of this.
inline constexpr std::size_t packed_left_columns = 16;

template <typename Real>
struct ProductKernels {
  /// Both factors copied as the registers want them. Needs c_column == 1.
  void (*multiply_packed)(const Product<Real>& product, Real* scratch);
  /// Copies A, to a cache line. Needs a_inner == 1.
  void (*pack_left)(const Product<Real>& product, Real* to);
  /// The product with A as `pack_left` copied it; B is read where it lies. Needs b_column == 1 and
  /// c_column == 1.
  void (*multiply_packed_left)(const Product<Real>& product, const Real* packed);
  /// For few rows: B is read once, where it lies. Needs b_column == 1.
  void (*multiply_few)(const Product<Real>& product, Real* scratch);
};

/// A sum of rows of b, each with its value, times `scale`, and a row of its own beside it.
template <typename Real>
struct RowSum {
  const Real* values = nullptr;
  const std::int32_t* columns = nullptr;
  std::size_t count = 0;
  const Real* b = nullptr;
  std::size_t stride = 0;  ///< of b
  Real scale = 1;
  const Real* own = nullptr;  ///< may be where the sum is written; null stands for zeros
  Real own_scale = 1;
};

/// The kernels of gemm_narrow.cpp.
template <typename Real>
struct RowKernels {
  /// For few columns: products of rows of A with columns of B. Needs a_inner == 1.
  void (*multiply_dots)(const Product<Real>& product, Real* scratch);
  /// to[f] = own_scale * own[f] + scale * (sum over i < count of values[i] * b[columns[i] * stride
  /// + f]), for f < width.
  void (*sum_rows)(const RowSum<Real>& sum, std::size_t width, Real* to);
};

using AllProductKernels = std::tuple<ProductKernels<float>, ProductKernels<double>>;
using AllRowKernels = std::tuple<RowKernels<float>, RowKernels<double>>;
/// The kernels of the instruction set in use.
const AllProductKernels& all_product_kernels();
const AllRowKernels& all_row_kernels();

template <typename Real>
const ProductKernels<Real>& product_kernels() {
  return std::get<ProductKernels<Real>>(all_product_kernels());
}
template <typename Real>
const RowKernels<Real>& row_kernels() {
  return std::get<RowKernels<Real>>(all_row_kernels());
}

}  // namespace ngf::kernels
