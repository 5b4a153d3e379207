#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>

#include "kernels/line.hpp"
#include "ngf/node.hpp"

/// The inner loops of filters on lists. Signals come in panels: `lines` cache lines of columns of
/// each node, the nodes one behind the other. A single column, which needs no lines, is a panel of
/// 0 of them.
namespace ngf::kernels {

/// Panels for sums of listed rows have 1, 2, 4 or 8 lines.
inline constexpr std::size_t most_sum_lines = 8;

/// The row of one node in the shells, and what to do with it. Hop k is columns[places[k - 1]] up to
/// columns[places[k]]; hop 0 is the node itself.
template <typename Column, typename Real>
struct ListedRow {
  NodeId node = 0;
  const Column* columns = nullptr;
  const std::uint32_t* places = nullptr;
  std::size_t hops = 0;
  const Real* scale = nullptr;         ///< by hop, 0 included; where it is 0 the shell is skipped
  const Real* const* right = nullptr;  ///< by hop: factors of the columns; null stands for ones
  /// Where given, further factors: one for each of the columns from columns[places[0]] on. Hop 0
  /// has none.
  const float* values = nullptr;
  /// Where given, dots[k] grows by <g, sum over hop k of right * x>, a node's row of a panel.
  const Real* g = nullptr;
  double* dots = nullptr;
};

/// Stands for a row that is not there, and for columns that a row does not have.
inline constexpr NodeId no_row = std::numeric_limits<NodeId>::max();
inline constexpr std::uint8_t no_hop = std::numeric_limits<std::uint8_t>::max();

/// Columns that are at hop `first` of one row and at hop `second` of another: they end before
/// number `end`.
struct Segment {
  std::uint8_t first = no_hop;
  std::uint8_t second = no_hop;
  std::uint32_t end = 0;
};

/// Rows with more hops than this are not paired: they would have too many segments.
inline constexpr std::uint32_t most_paired_hops = 32;

/// Two rows, or parts of them, as segments that follow each other. What concerns one of them alone
/// is there twice; of a row that is not there, nothing is used.
template <typename Column, typename Real>
struct PairedRows {
  const Column* columns = nullptr;
  std::uint32_t begin = 0;  ///< of the first segment
  std::span<const Segment> segments;
  std::array<const Real*, 2> scale{};  ///< as in `ListedRow`
  const Real* const* right = nullptr;
  bool weighted = false;  ///< whether any of `right` is not null
  std::array<const Real*, 2> g{};
  std::array<double*, 2> dots{};
  std::array<Real*, 2> to{};  ///< where sums go, those of a row that is not there too

  Real scale_of(std::size_t side, std::uint8_t hop) const {
    return hop == no_hop ? Real{0} : scale[side][hop];
  }
};

/// The rows of some nodes in lists that are held, and the factors of their shells.
template <typename Column, typename Real>
struct ShortRows {
  struct Row {
    NodeId node = 0;
    const Column* columns = nullptr;
    const std::uint32_t* places = nullptr;  ///< hop k is columns[places[k - 1]] to [places[k]]
    const float* values = nullptr;          ///< as in `ListedRow`, of all rows or of none
  };
  const Row* rows = nullptr;
  std::size_t count = 0;
  NodeId first = 0;  ///< the node whose rows of y, g and dots are the first
  std::size_t hops = 0;
  const Real* scale = nullptr;        ///< by hop, 0 included
  const Real* const* left = nullptr;  ///< by hop: factors of rows and columns; null stands for ones
  const Real* const* right = nullptr;
  /// Where given: dots[(u - first) * (hops + 1) + k] grows by <g_u, sum over hop k of right * x>.
  const Real* g = nullptr;
  std::size_t g_stride = 0;
  double* dots = nullptr;

  Real scale_of(std::size_t k, NodeId u) const {
    return left[k] == nullptr ? scale[k] : scale[k] * left[k][u];
  }
};

template <typename Column, typename Real>
struct ListKernels {
  /// to[f] = sum over k of scale[k] * (sum over the columns v at hop k of right[k][v] * x_v[f]),
  /// each term times the value of its column where there are values.
  void (*sum_shells)(const ListedRow<Column, Real>& row, const Real* x, std::size_t lines,
                     Real* to);
  /// The same for both rows, in panels of 1, 2 or 4 lines. With `add`, sums are added to the
  /// current values.
  void (*sum_pairs)(const PairedRows<Column, Real>& rows, const Real* x, std::size_t lines,
                    bool add);
  /// The same for many rows of few columns each, of signals that stay where they are: the rows of y
  /// of their nodes.
  void (*sum_short_rows)(const ShortRows<Column, Real>& rows, const Real* x, std::size_t x_stride,
                         std::size_t width, Real* y, std::size_t y_stride);
};

using AllListKernels =
    std::tuple<ListKernels<std::uint16_t, float>, ListKernels<std::uint32_t, float>,
               ListKernels<std::uint16_t, double>, ListKernels<std::uint32_t, double>>;
/// The kernels of the instruction set in use.
const AllListKernels& all_list_kernels();

template <typename Column, typename Real>
const ListKernels<Column, Real>& list_kernels() {
  return std::get<ListKernels<Column, Real>>(all_list_kernels());
}

}  // namespace ngf::kernels
