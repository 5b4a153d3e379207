// Products of hops of all pairs with signals: a tile of weights at a time, for every case, and
// blocks of 64 rows, in float, where the instruction set has what they need.

#include "filter/hop_products.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "filter/hop_blocks.hpp"
#include "filter/panels.hpp"
#include "kernels/filter.hpp"
#include "kernels/hops.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::BriefVector;
using detail::parallel_for;

/// Rows that the kernel takes at once; those that a thread takes at a time, at most; and columns
/// that become numbers at a time: tiles of both that stay in a core's caches.
constexpr std::size_t rows_at_once = 14;
constexpr std::size_t tile_rows = 6 * rows_at_once;
using kernels::tile_columns;

/// The weights of rows for some columns, from their hops.
template <typename Hop, typename Real>
class HopWeights {
 public:
  explicit HopWeights(const ShellFactors<Real>& factors)
      : factors_(factors),
        by_row_(factors.by_row()),
        by_column_(factors.by_column()),
        table_(std::size_t{HopMatrix<Hop>::farther} + 1, Real{0}),
        entries_(std::min(factors.scale.size(), std::size_t{HopMatrix<Hop>::farther})),
        right_(pointers(factors.right)) {
    std::copy_n(factors.scale.begin(), entries_, table_.begin());
  }

  bool by_column() const { return by_column_; }

  /// Of row u, whose hops are given from column `first` on.
  void write(NodeId u, const Hop* hops, std::size_t first, std::size_t count, Real* w) {
    const Real* const table = table_of(u);
    if constexpr (sizeof(Hop) == 1) {
      kernels::look_up(hops, count, table, entries_ - 1, w);
    } else {
      for (std::size_t v = 0; v < count; ++v) w[v] = table[hops[v]];
    }
    if (by_column_) weigh(hops, first, count, w);
  }

  /// Multiplies by the factors of the columns, from `first` on.
  void weigh(const Hop* hops, std::size_t first, std::size_t count, Real* w) const {
    if constexpr (sizeof(Hop) == 1) {
      kernels::weigh(hops, first, count, right_.data(), last_hop(), w);
    } else {
      for (std::size_t v = 0; v < count; ++v) {
        if (hops[v] <= last_hop() && right_[hops[v]] != nullptr) w[v] *= right_[hops[v]][first + v];
      }
    }
  }

  const Real* table_of(NodeId u) {
    for (std::size_t k = 0; by_row_ && k < entries_; ++k) table_[k] = factors_.of_row(k, u);
    return table_.data();
  }
  std::size_t last_hop() const { return entries_ - 1; }

 private:
  const ShellFactors<Real>& factors_;
  bool by_row_;
  bool by_column_;
  AlignedVector<Real> table_;
  std::size_t entries_;
  std::vector<const Real*> right_;  // by hop: factors of the columns; null stands for ones
};

/// Calls body(first, rows) for each tile of rows, in parallel. Threads have as many tiles each, of
/// nearly one size.
template <typename Body>
void for_each_tile(NodeId nodes, int threads, const Body& body) {
  const std::size_t groups = (nodes + rows_at_once - 1) / rows_at_once;
  const auto team = static_cast<std::size_t>(detail::thread_count(threads));
  const std::size_t most = team * (tile_rows / rows_at_once);
  const std::size_t tiles = (groups + most - 1) / most * team;
  const auto begin = [&](std::size_t tile) {
    return std::min<std::size_t>(nodes, groups * tile / tiles * rows_at_once);
  };
  parallel_for(tiles, threads, [&](std::size_t tile) {
    if (begin(tile) < begin(tile + 1)) body(begin(tile), begin(tile + 1) - begin(tile));
  });
}

/// Calls body(v, place) for each node v, with the place of its number among those that are laid out
/// for blocks.
template <typename Real, typename Body>
void for_each_place(std::size_t nodes, const Body& body) {
  constexpr std::size_t block = kernels::block_hops;
  for (std::size_t first = 0; first < nodes; first += block) {
    for (std::size_t i = 0; i < std::min(block, nodes - first); ++i) {
      body(first + i, first + kernels::place_in_block<Real>(i));
    }
  }
}

/// A signal laid out for the blocks that kernels take, with zeros behind it.
template <typename Real>
AlignedVector<Real> in_blocks(const Real* x, std::size_t nodes) {
  constexpr std::size_t block = kernels::block_hops;
  AlignedVector<Real> result((nodes + block - 1) / block * block, Real{0});
  for_each_place<Real>(nodes, [&](std::size_t v, std::size_t place) { result[place] = x[v]; });
  return result;
}

/// A single column in an undirected graph: each hop is looked up once for both of its nodes, so
/// that half of the matrix is read. Rows are cut into 64 at a time, which are dealt to a few shares
/// of nearly equal work; their number is that of no machine, so that sums have one order, and less
/// on small graphs, since each share has sums of its own for all nodes.
void multiply_half(const HopMatrix<std::uint8_t>& matrix, const std::vector<float>& scale,
                   const float* x, SignalsSlice<float>& y, int threads) {
  constexpr std::size_t block = kernels::block_hops;
  constexpr std::size_t rows = kernels::rows_of_both;
  constexpr std::size_t small = 8192;
  const std::size_t nodes = matrix.nodes();
  const std::size_t shares = nodes < small ? 4 : 8;
  const AlignedVector<float> signal = in_blocks(x, nodes);
  const std::size_t blocks = signal.size() / block;
  AlignedVector<float> table(kernels::table_entries, 0.0F);
  std::copy(scale.begin(), scale.end(), table.begin());
  // Of each share: what it adds to the nodes behind its own, then the dots of its own rows.
  BriefVector<float> sums(shares * signal.size());
  BriefVector<float> dots(signal.size(), 0.0F);
  const auto add_rows = [&](std::size_t b, float* to) {
    const std::size_t first = b * block;
    const std::size_t end = std::min(nodes, first + block);
    std::size_t u = first;
    for (; u + rows <= end; u += rows) {
      kernels::add_both(matrix.row(static_cast<NodeId>(u)).data() + first, matrix.stride(),
                        blocks - b, table.data(), scale.size() - 1, signal.data() + first, x + u,
                        dots.data() + u, to + first);
    }
    // Rows that are left over are the last of all, and have the block of the diagonal alone.
    for (; u < end; ++u) {
      dots[u] = kernels::look_up_dot(matrix.row(static_cast<NodeId>(u)).data() + first, 1,
                                     table.data(), scale.size() - 1, signal.data() + first);
    }
  };
  parallel_for(shares, threads, [&](std::size_t share) {
    float* const to = sums.data() + share * signal.size();
    std::fill_n(to, signal.size(), 0.0F);
    // There and back, since rows have the fewer blocks the later they come.
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t turn = b % (2 * shares);
      if (std::min(turn, 2 * shares - 1 - turn) == share) add_rows(b, to);
    }
  });
  for (std::size_t share = 1; share < shares; ++share) {
    const float* const from = sums.data() + share * signal.size();
    for (std::size_t i = 0; i < signal.size(); ++i) sums[i] += from[i];
  }
  for_each_place<float>(nodes, [&](std::size_t v, std::size_t place) {
    y(static_cast<Eigen::Index>(v), 0) = dots[v] + sums[place];
  });
}

/// A single column.
template <typename Hop, typename Real>
class HopDots {
 public:
  HopDots(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
          const SignalsView<Real>& x)
      : matrix_(matrix), factors_(factors), own_(x.outerStride() == 1 ? 0 : x.rows()) {
    for (Eigen::Index v = 0; v < own_.size(); ++v) own_[v] = x(v, 0);
    x_ = own_.size() > 0 ? own_.data() : x.data();
    const auto counts = [](Real scale) { return scale != Real{0}; };
    const auto first = std::find_if(factors.scale.begin(), factors.scale.end(), counts);
    only_ = static_cast<std::size_t>(first - factors.scale.begin());
    one_hop_ = sizeof(Hop) == 1 && !factors.by_column() && only_ < HopMatrix<Hop>::farther &&
               std::count_if(first, factors.scale.end(), counts) == 1;
    blocks_ = sizeof(Hop) == 1 && !factors.by_column() && !one_hop_;
  }

  /// `symmetric` where the matrix is.
  void run(SignalsSlice<Real>& y, bool symmetric, int threads) {
    if constexpr (std::is_same_v<Hop, std::uint8_t> && std::is_same_v<Real, float>) {
      if (symmetric && blocks_ && !factors_.by_row() &&
          kernels::has_block_products(factors_.scale.size() - 1)) {
        return multiply_half(matrix_, factors_.scale, x_, y, threads);
      }
    }
    if (blocks_) laid_out_ = in_blocks(x_, matrix_.nodes());
    const RowRange& range = matrix_.rows();
    for_each_tile(range.count(), threads, [&](std::size_t first, std::size_t rows) {
      HopWeights<Hop, Real> weights(factors_);
      AlignedVector<Real> w(tile_columns);
      for (std::size_t row = first; row < first + rows; ++row) {
        y(static_cast<Eigen::Index>(row), 0) =
            dot(weights, range.begin + static_cast<NodeId>(row), w.data());
      }
    });
  }

 private:
  Real dot(HopWeights<Hop, Real>& weights, NodeId u, Real* w) const {
    const std::span<const Hop> hops = matrix_.row(u);
    if constexpr (sizeof(Hop) == 1) {
      if (one_hop_) {
        const auto hop = static_cast<std::uint8_t>(only_);
        return factors_.of_row(only_, u) * kernels::sum_at_hop(hops.data(), hops.size(), hop, x_);
      }
      if (blocks_) {
        return kernels::look_up_dot(hops.data(), laid_out_.size() / kernels::block_hops,
                                    weights.table_of(u), weights.last_hop(), laid_out_.data());
      }
    }
    Real sum = 0;
    for (std::size_t begin = 0; begin < hops.size(); begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, hops.size() - begin);
      weights.write(u, hops.data() + begin, begin, count, w);
      kernels::multiply_rows(w, 1, x_ + begin, count, 0, &sum, 0);
    }
    return sum;
  }

  const HopMatrix<Hop>& matrix_;
  const ShellFactors<Real>& factors_;
  Eigen::Matrix<Real, Eigen::Dynamic, 1> own_;  // the column, where it lies scattered
  const Real* x_;
  std::size_t only_ = 0;  // the first hop that counts
  bool one_hop_ = false;
  bool blocks_ = false;
  AlignedVector<Real> laid_out_;
};

/// Tiles of weights, times panels of signals.
template <typename Hop, typename Real>
void multiply_tiles(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                    const Panels<Real>& x, SignalsSlice<Real>& y, int threads) {
  const NodeId nodes = matrix.nodes();
  const PanelShape<Real>& shape = x.shape();
  for_each_tile(matrix.rows().count(), threads, [&](std::size_t first, std::size_t rows) {
    HopWeights<Hop, Real> weights(factors);
    AlignedVector<Real> w(tile_rows * tile_columns);
    // The result, panel by panel.
    AlignedVector<Real> sums(shape.count() * tile_rows * shape.width(), Real{0});
    for (std::size_t begin = 0; begin < nodes; begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, nodes - begin);
      for (std::size_t r = 0; r < rows; ++r) {
        const NodeId u = matrix.rows().begin + static_cast<NodeId>(first + r);
        weights.write(u, matrix.row(u).data() + begin, begin, count, w.data() + r * tile_columns);
      }
      for (std::size_t panel = 0; panel < shape.count(); ++panel) {
        kernels::multiply_rows(w.data(), rows, x.row(panel, begin), count, shape.lines(),
                               sums.data() + panel * tile_rows * shape.width(), shape.width());
      }
    }
    for (std::size_t panel = 0; panel < shape.count(); ++panel) {
      for (std::size_t r = 0; r < rows; ++r) {
        copy_out(sums.data() + (panel * tile_rows + r) * shape.width(), shape, panel,
                 static_cast<NodeId>(first + r), y);
      }
    }
  });
}

/// Adds products of a row, for some columns, to the bins of their hops.
template <typename Hop, typename Real>
void add_to_bins(const Hop* hops, const Real* products, std::size_t count, std::size_t last_hop,
                 Real* bins) {
  if constexpr (sizeof(Hop) == 1) {
    kernels::add_by_hop(hops, products, count, last_hop, bins);
  } else {
    for (std::size_t v = 0; v < count; ++v) {
      if (hops[v] <= last_hop) bins[hops[v] * kernels::columns_in_line<Real>] += products[v];
    }
  }
}

/// The columns of one matrix, or of two side by side.
template <typename Real>
struct Columns {
  const SignalsView<Real>& first;
  const SignalsView<Real>* second = nullptr;

  std::size_t count() const {
    return static_cast<std::size_t>(first.cols() + (second != nullptr ? second->cols() : 0));
  }
  /// Copies `length` values of row u from column f on.
  void copy(std::size_t u, std::size_t f, std::size_t length, Real* to) const {
    const auto of_first = static_cast<std::size_t>(first.cols());
    const std::size_t head = f < of_first ? std::min(length, of_first - f) : 0;
    std::copy_n(row(first, u) + f, head, to);
    if (head == length) return;
    std::copy_n(row(*second, u) + (f + head - of_first), length - head, to + head);
  }
};

/// Columns turned into rows, in panels of nodes: a panel holds the first column of its nodes, then
/// the second, and so on.
template <typename Real>
class TurnedPanels {
 public:
  static constexpr std::size_t lines = kernels::most_product_lines;
  static constexpr std::size_t width = lines * kernels::columns_in_line<Real>;

  TurnedPanels(const Columns<Real>& x, NodeId nodes, int threads)
      : columns_(x.count()), values_((nodes + width - 1) / width * width * columns_) {
    parallel_for((nodes + width - 1) / width, threads, [&](std::size_t panel) {
      AlignedVector<Real> row(columns_);
      Real* const to = values_.data() + panel * width * columns_;
      std::fill_n(to, width * columns_, Real{0});
      for (std::size_t i = 0; i < std::min(width, nodes - panel * width); ++i) {
        x.copy(panel * width + i, 0, columns_, row.data());
        for (std::size_t f = 0; f < columns_; ++f) to[f * width + i] = row[f];
      }
    });
  }

  /// From column f on, of the nodes from `node` on.
  const Real* from(std::size_t node, std::size_t f) const {
    return values_.data() + node * columns_ + f * width;
  }

 private:
  std::size_t columns_;
  AlignedVector<Real> values_;
};

/// <g_u, x_v> for all pairs, a tile at a time, added up by their hops.
///
/// Where hops are the same both ways and only totals are wanted, pairs u < v stand for v, u too:
/// their products are those of columns of G and X side by side with those of X and G.
template <typename Hop, typename Real>
class HopCorrelation {
 public:
  HopCorrelation(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, const SignalsView<Real>& g, bool half, int threads)
      : matrix_(matrix),
        factors_(factors),
        half_(half),
        threads_(threads),
        rows_{g, half ? &x : nullptr},
        columns_({x, half ? &g : nullptr}, matrix.nodes(), threads),
        weights_(factors) {}

  Matrix run() const {
    Matrix dots(matrix_.rows().count(), static_cast<Eigen::Index>(hops()));
    for_each_tile(matrix_.rows().count(), threads_, [&](std::size_t first, std::size_t rows) {
      const AlignedVector<Real> of_rows = copy_rows(first, rows);
      AlignedVector<Real> products(tile_rows * tile_columns);
      AlignedVector<Real> bins(tile_rows * bins_of_row(), Real{0});
      const std::size_t begin = half_ ? first / tile_columns * tile_columns : 0;
      for (std::size_t at = begin; at < matrix_.nodes(); at += tile_columns) {
        multiply_tile(of_rows.data(), rows, at, products.data());
        add_tile(first, rows, at, products.data(), bins.data());
      }
      for (std::size_t r = 0; r < rows; ++r) {
        write_dots(first + r, bins.data() + r * bins_of_row(), dots);
      }
    });
    return dots;
  }

 private:
  static constexpr std::size_t line = kernels::columns_in_line<Real>;
  std::size_t hops() const { return factors_.scale.size(); }
  std::size_t bins_of_row() const { return hops() * line; }
  std::size_t tile_width(std::size_t at) const {
    return std::min<std::size_t>(tile_columns, matrix_.nodes() - at);
  }

  /// Rows as the kernel takes them: tiles of so many columns.
  AlignedVector<Real> copy_rows(std::size_t first, std::size_t rows) const {
    const std::size_t tiles = (rows_.count() + tile_columns - 1) / tile_columns;
    AlignedVector<Real> result(tiles * tile_rows * tile_columns);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const std::size_t f = tile * tile_columns;
      for (std::size_t r = 0; r < rows; ++r) {
        rows_.copy(first + r, f, std::min(tile_columns, rows_.count() - f),
                   result.data() + (tile * tile_rows + r) * tile_columns);
      }
    }
    return result;
  }

  void multiply_tile(const Real* of_rows, std::size_t rows, std::size_t at, Real* products) const {
    std::fill_n(products, rows * tile_columns, Real{0});
    for (std::size_t f = 0; f < rows_.count(); f += tile_columns) {
      for (std::size_t v = 0; v < tile_width(at); v += TurnedPanels<Real>::width) {
        kernels::multiply_rows(of_rows + f * tile_rows, rows, columns_.from(at + v, f),
                               std::min(tile_columns, rows_.count() - f), TurnedPanels<Real>::lines,
                               products + v, tile_columns);
      }
    }
  }

  void add_tile(std::size_t first, std::size_t rows, std::size_t at, Real* products,
                Real* bins) const {
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t u = matrix_.rows().begin + first + r;
      const Hop* const hops_of_row = matrix_.row(static_cast<NodeId>(u)).data() + at;
      Real* const of_row = products + r * tile_columns;
      if (half_ && u >= at) {
        // Pairs v < u stand with the rows v; u, u is there once, and has been multiplied twice.
        const std::size_t before = std::min(u - at, tile_columns);
        std::fill_n(of_row, before, Real{0});
        if (before < tile_columns) of_row[before] /= 2;
      }
      if (weights_.by_column()) weights_.weigh(hops_of_row, at, tile_width(at), of_row);
      add_to_bins(hops_of_row, of_row, tile_width(at), hops() - 1, bins + r * bins_of_row());
    }
  }

  void write_dots(std::size_t row, const Real* bins, Matrix& dots) const {
    const NodeId u = matrix_.rows().begin + static_cast<NodeId>(row);
    for (std::size_t k = 0; k < hops(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < line; ++i) sum += static_cast<double>(bins[k * line + i]);
      dots(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(k)) =
          sum * static_cast<double>(factors_.of_row(k, u));
    }
  }

  const HopMatrix<Hop>& matrix_;
  const ShellFactors<Real>& factors_;
  bool half_;
  int threads_;
  Columns<Real> rows_;
  TurnedPanels<Real> columns_;
  HopWeights<Hop, Real> weights_;
};

/// A column takes a quarter longer in blocks than in a full panel of tiles, but panels may be
/// padded with columns that nobody wants.
bool blocks_are_faster(Eigen::Index columns) {
  constexpr auto panel =
      static_cast<Eigen::Index>(kernels::most_product_lines * kernels::columns_in_line<float>);
  return 5 * columns <= 4 * ((columns + panel - 1) / panel * panel);
}

/// Whether blocks of rows can do it.
template <typename Hop, typename Real>
bool by_blocks(const HopMatrix<Hop>* turned, const ShellFactors<Real>& factors) {
  return std::is_same_v<Hop, std::uint8_t> && std::is_same_v<Real, float> && turned != nullptr &&
         kernels::has_block_products(factors.scale.size() - 1);
}

}  // namespace

template <typename Hop, typename Real>
void multiply_hops(const HopMatrix<Hop>& matrix, const HopMatrix<Hop>* turned,
                   const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                   SignalsSlice<Real>& y, int threads) {
  if (x.cols() == 1) {
    return HopDots<Hop, Real>(matrix, factors, x).run(y, turned == &matrix, threads);
  }
  if constexpr (std::is_same_v<Hop, std::uint8_t> && std::is_same_v<Real, float>) {
    if (by_blocks(turned, factors) && !factors.by_row() && blocks_are_faster(x.cols())) {
      return multiply_blocks(*turned, factors, x, y, threads);
    }
  }
  const Panels<Real> panels(x, {x.cols(), kernels::most_product_lines}, threads);
  multiply_tiles(matrix, factors, panels, y, threads);
}

template <typename Hop, typename Real>
Matrix correlate_hops(const HopMatrix<Hop>& matrix, const HopMatrix<Hop>* turned,
                      const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                      const SignalsView<Real>& g, bool half, int threads) {
  if constexpr (std::is_same_v<Hop, std::uint8_t> && std::is_same_v<Real, float>) {
    if (by_blocks(turned, factors)) {
      return correlate_blocks(*turned, factors, x, g, half, threads);
    }
  }
  return HopCorrelation<Hop, Real>(matrix, factors, x, g, half, threads).run();
}

#define NGF_INSTANTIATE(Hop, Real)                                                    \
  template void multiply_hops(const HopMatrix<Hop>&, const HopMatrix<Hop>*,           \
                              const ShellFactors<Real>&, const SignalsView<Real>&,    \
                              SignalsSlice<Real>&, int);                              \
  template Matrix correlate_hops(const HopMatrix<Hop>&, const HopMatrix<Hop>*,        \
                                 const ShellFactors<Real>&, const SignalsView<Real>&, \
                                 const SignalsView<Real>&, bool, int);
NGF_INSTANTIATE(std::uint8_t, float)
NGF_INSTANTIATE(std::uint8_t, double)
NGF_INSTANTIATE(std::uint16_t, float)
NGF_INSTANTIATE(std::uint16_t, double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
