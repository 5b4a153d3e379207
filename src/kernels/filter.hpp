#pragma once

#include <cstddef>
#include <cstdint>

#include "ngf/graph.hpp"

/// The inner loops of filters. Signals come in panels: `lines` cache lines of columns of each node,
/// the nodes one behind the other. A single column, which needs no lines, is a panel of 0 of them.
namespace ngf::kernels {

/// Columns in a cache line.
template <typename Real>
inline constexpr std::size_t columns_in_line = 64 / sizeof(Real);

/// So many lines panels have at most: 1, 2, 4 or 8 for sums of listed rows, 1 or 2 for products.
inline constexpr std::size_t most_sum_lines = 8;
inline constexpr std::size_t most_product_lines = 2;

/// The row of one node in the shells, and what to do with it. Hop k is columns[ends[k - 2]] up to
/// columns[ends[k - 1]], the first of them from columns[begin]; hop 0 is the node itself.
template <typename Column, typename Real>
struct ListedRow {
  NodeId node = 0;
  const Column* columns = nullptr;
  std::size_t begin = 0;
  const std::uint32_t* ends = nullptr;
  std::size_t hops = 0;
  const Real* scale = nullptr;         ///< by hop, 0 included; where it is 0 the shell is skipped
  const Real* const* right = nullptr;  ///< by hop: factors of the columns; null stands for ones
  /// Where given, dots[k] grows by <g, sum over hop k of right * x>, a node's row of a panel.
  const Real* g = nullptr;
  double* dots = nullptr;
};

/// to[f] = sum over k of scale[k] * (sum over the columns v at hop k of right[k][v] * x_v[f]), with
/// x_v at x + v * x_stride.
template <typename Column, typename Real>
void sum_shells(const ListedRow<Column, Real>& row, const Real* x, std::size_t x_stride,
                std::size_t lines, Real* to);

/// Rows of a tile of weights are so far apart.
inline constexpr std::size_t tile_columns = 256;

/// to[r * to_stride + f] += sum over v < count of w[r * tile_columns + v] * x_v[f], for all
/// r < rows.
template <typename Real>
void multiply_rows(const Real* w, std::size_t rows, const Real* x, std::size_t count,
                   std::size_t lines, Real* to, std::size_t to_stride);

}  // namespace ngf::kernels
