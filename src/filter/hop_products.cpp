// Products of hops with panels of signals, a tile of weights at a time, and correlations.

#include "filter/hop_products.hpp"

#include "filter/hop_weights.hpp"
#include "filter/panels.hpp"

namespace ngf::filter {

namespace {

template <typename Hop, typename Real>
void multiply_tiles(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                    const Panels<Real>& x, SignalsSlice<Real>& y, int threads) {
  const NodeId nodes = matrix.nodes();
  const PanelShape<Real>& shape = x.shape();
  const auto multiply_rows = kernels::hop_kernels<Real>().multiply_rows;
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
        multiply_rows(w.data(), rows, x.row(panel, begin), count, shape.lines(),
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
    kernels::hop_kernels<Real>().add_by_hop(hops, products, count, last_hop, bins);
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

/// Transposed columns, in panels of nodes: a panel holds the first column of its nodes, then
/// the second, and so on.
template <typename Real>
class TransposedPanels {
 public:
  static constexpr std::size_t lines = kernels::most_product_lines;
  static constexpr std::size_t width = lines * kernels::columns_in_line<Real>;

  TransposedPanels(const Columns<Real>& x, NodeId nodes, int threads)
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

  /// Rows as the kernel takes them: in tiles of `tile_columns` columns.
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
      for (std::size_t v = 0; v < tile_width(at); v += TransposedPanels<Real>::width) {
        kernels::hop_kernels<Real>().multiply_rows(
            of_rows + f * tile_rows, rows, columns_.from(at + v, f),
            std::min(tile_columns, rows_.count() - f), TransposedPanels<Real>::lines, products + v,
            tile_columns);
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
  TransposedPanels<Real> columns_;
  HopWeights<Hop, Real> weights_;
};

}  // namespace

template <typename Real>
void multiply_hop_tiles(const ShellSource& source, const ShellFactors<Real>& factors,
                        const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  const Panels<Real> panels(x, {x.cols(), kernels::most_product_lines}, source.threads());
  on_hops(source.shells, [&](const auto& matrix) {
    multiply_tiles(matrix, factors, panels, y, source.threads());
  });
}

template <typename Real>
Matrix correlate_hops(const ShellSource& source, ProductForm form,
                      const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                      const SignalsView<Real>& g, bool half) {
  if constexpr (std::is_same_v<Real, float>) {
    if (form == ProductForm::hop_blocks) return correlate_hop_blocks(source, factors, x, g, half);
  }
  Matrix dots;
  on_hops(source.shells, [&]<typename Hop>(const HopMatrix<Hop>& matrix) {
    dots = HopCorrelation<Hop, Real>(matrix, factors, x, g, half, source.threads()).run();
  });
  return dots;
}

#define NGF_INSTANTIATE(Real)                                                                \
  template void multiply_hop_tiles(const ShellSource&, const ShellFactors<Real>&,            \
                                   const SignalsView<Real>&, SignalsSlice<Real>&);           \
  template Matrix correlate_hops(const ShellSource&, ProductForm, const ShellFactors<Real>&, \
                                 const SignalsView<Real>&, const SignalsView<Real>&, bool);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
