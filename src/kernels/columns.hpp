#pragma once

#include <cstddef>

#include "ngf/node.hpp"

/// The inner loops of features of shells: signals in panels, as those of `kernels/lists.hpp`.
namespace ngf::kernels {

/// Panels have 1, 2, 4 or 8 lines, or 0 for a single column.
inline constexpr std::size_t most_column_lines = 8;

/// Columns that are summed in float before the sum is added to one in double.
inline constexpr std::size_t columns_summed = 64;

struct ColumnKernels {
  /// to[f] += the sum over `count` columns v of x_v[f], in the order of the columns. `to` has room
  /// for a row of the panel.
  void (*sum)(const NodeId* columns, std::size_t count, const float* x, std::size_t lines,
              double* to);
  /// to[f] = the largest x_v[f] of `count` columns v, of which there is at least one.
  void (*max)(const NodeId* columns, std::size_t count, const float* x, std::size_t lines,
              float* to);
};

/// The kernels of the instruction set in use.
const ColumnKernels& column_kernels();

}  // namespace ngf::kernels
