// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"
#include "filter/panels.hpp"
#include "kernels/filter.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::parallel_for;

/// A signal's row of a panel, where the result of a kernel lies until it is copied to its matrix.
template <typename Real>
void copy_out(const Real* from, const PanelShape<Real>& shape, std::size_t panel, NodeId u,
              SignalsSlice<Real>& to) {
  std::copy_n(from, shape.columns_of(panel),
              to.data() + u * static_cast<std::size_t>(to.outerStride()) + panel * shape.width());
}

// ---- Lists ----

/// The row of one node, wherever its list is.
template <typename Column>
struct RowOfLists {
  NodeId node;
  const Column* columns;
  std::size_t begin;
  const std::uint32_t* ends;
};

/// For each block of nodes, in parallel, calls make() and then what that returns on each row, of
/// lists that are held.
template <typename Column, typename Make>
void for_each_row(const ColumnLists<Column>& lists, NodeId nodes, int threads, const Make& make) {
  constexpr std::size_t block_rows = 64;
  parallel_for((nodes + block_rows - 1) / block_rows, threads, [&](std::size_t block) {
    auto visit = make();
    const std::size_t end = std::min<std::size_t>(nodes, (block + 1) * block_rows);
    for (auto u = static_cast<NodeId>(block * block_rows); u < end; ++u) {
      const auto places = lists.places(u);
      visit(RowOfLists<Column>{u, lists.block(u), places.front(), places.data() + 1});
    }
  });
}

/// The same for lists that are found on the way.
template <typename Make>
void for_each_row(const Graph& graph, const ShellOptions& options, const Make& make) {
  stream_shells(graph, options, [&](const ShellRows<NodeId>& rows) {
    auto visit = make();
    std::size_t begin = 0;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const std::uint32_t* const ends = rows.ends.data() + i * options.hops;
      visit(RowOfLists<NodeId>{rows.rows[i], rows.columns.data() + begin, 0, ends});
      begin += options.hops > 0 ? ends[options.hops - 1] : 0;
    }
  });
}

/// The factors of one row after the other: of each shell, but for those of the columns.
template <typename Real>
class RowScale {
 public:
  explicit RowScale(const ShellFactors<Real>& factors)
      : factors_(factors), scale_(factors.scale), by_row_(factors.by_row()) {}

  const std::vector<Real>& of(NodeId u) {
    for (std::size_t k = 0; by_row_ && k < scale_.size(); ++k) scale_[k] = factors_.of_row(k, u);
    return scale_;
  }

 private:
  const ShellFactors<Real>& factors_;
  std::vector<Real> scale_;
  bool by_row_;
};

/// What the kernel needs to know of the factors.
template <typename Real>
class RowFactors {
 public:
  explicit RowFactors(const ShellFactors<Real>& factors) : scale_(factors) {
    for (const auto& right : factors.right) {
      right_.push_back(right.empty() ? nullptr : right.data());
    }
  }

  template <typename Column>
  kernels::ListedRow<Column, Real> listed(const RowOfLists<Column>& row) {
    const std::vector<Real>& scale = scale_.of(row.node);
    return {row.node,     row.columns,   row.begin, row.ends, scale.size() - 1,
            scale.data(), right_.data(), nullptr,   nullptr};
  }

 private:
  RowScale<Real> scale_;
  std::vector<const Real*> right_;
};

/// Panels for sums of listed rows: wide, unless the rows of a narrower one fit into the caches.
template <typename Real>
PanelShape<Real> shape_for_lists(Eigen::Index rows, Eigen::Index columns) {
  constexpr std::size_t in_caches = std::size_t{1} << 20;
  constexpr std::size_t narrow = kernels::most_sum_lines / 2;
  const bool fits = static_cast<std::size_t>(rows) * narrow * 64 <= in_caches;
  return {columns, fits ? narrow : kernels::most_sum_lines};
}

/// The product by lists; each_row(make) is one of the above.
template <typename Real, typename EachRow>
void multiply_lists(const EachRow& each_row, const ShellFactors<Real>& factors,
                    const Panels<Real>& x, SignalsSlice<Real>& y) {
  for (std::size_t panel = 0; panel < x.shape().count(); ++panel) {
    each_row([&] {
      return [&, of_rows = RowFactors<Real>(factors),
              sum = AlignedVector<Real>(x.shape().width())](const auto& row) mutable {
        kernels::sum_shells(of_rows.listed(row), x.row(panel, 0), x.shape().lines(), sum.data());
        copy_out(sum.data(), x.shape(), panel, row.node, y);
      };
    });
  }
}

/// As `correlate`. `of_product` are the factors themselves where no product is wanted.
template <typename Real, typename EachRow>
Matrix correlate_lists(const EachRow& each_row, const ShellFactors<Real>& factors,
                       const Panels<Real>& x, const Panels<Real>& g, NodeId nodes,
                       const ShellFactors<Real>& of_product, SignalsSlice<Real>* product) {
  const auto count = static_cast<Eigen::Index>(factors.scale.size());
  Matrix dots = Matrix::Zero(nodes, count);
  for (std::size_t panel = 0; panel < x.shape().count(); ++panel) {
    each_row([&] {
      return [&, of_rows = RowFactors<Real>(of_product),
              sum = AlignedVector<Real>(x.shape().width())](const auto& row) mutable {
        auto listed = of_rows.listed(row);
        listed.g = g.row(panel, row.node);
        listed.dots = dots.data() + row.node * count;
        kernels::sum_shells(listed, x.row(panel, 0), x.shape().lines(), sum.data());
        if (product != nullptr) copy_out(sum.data(), x.shape(), panel, row.node, *product);
      };
    });
  }
  for (NodeId u = 0; u < nodes; ++u) {
    for (Eigen::Index k = 0; k < count; ++k) {
      dots(u, k) *= static_cast<double>(factors.of_row(static_cast<std::size_t>(k), u));
    }
  }
  return dots;
}

// ---- Hops of all pairs ----

/// Rows that one thread takes at a time, and columns that become numbers at a time: tiles of both
/// that stay in a core's caches.
constexpr std::size_t tile_rows = 84;
using kernels::tile_columns;

/// The weights of rows for some columns, from their hops.
template <typename Hop, typename Real>
class HopWeights {
 public:
  explicit HopWeights(const ShellFactors<Real>& factors)
      : factors_(factors), scale_(factors), by_column_(factors.by_column()) {}

  bool by_column() const { return by_column_; }

  /// Of row u, whose hops are given from column `first` on.
  void write(NodeId u, const Hop* hops, std::size_t first, std::size_t count, Real* w) {
    const std::vector<Real>& table = scale_.of(u);
    if constexpr (sizeof(Hop) == 1) {
      kernels::look_up(hops, count, table.data(), table.size() - 1, w);
    } else {
      for (std::size_t v = 0; v < count; ++v) w[v] = hops[v] < table.size() ? table[hops[v]] : 0;
    }
    if (by_column_) weigh(hops, first, count, w);
  }

  /// Multiplies by the factors of the columns.
  void weigh(const Hop* hops, std::size_t first, std::size_t count, Real* w) const {
    for (std::size_t v = 0; v < count; ++v) {
      if (hops[v] >= factors_.right.size() || factors_.right[hops[v]].empty()) continue;
      w[v] *= factors_.right[hops[v]][first + v];
    }
  }

  /// The sum over all columns of the weights of row u times x.
  Real dot(NodeId u, std::span<const Hop> hops, const Real* x) {
    if constexpr (sizeof(Hop) == 1) {
      if (!by_column_) {
        const std::vector<Real>& table = scale_.of(u);
        return kernels::look_up_dot(hops.data(), hops.size(), table.data(), table.size() - 1, x);
      }
    }
    w_.resize(tile_columns);
    Real sum = 0;
    for (std::size_t begin = 0; begin < hops.size(); begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, hops.size() - begin);
      write(u, hops.data() + begin, begin, count, w_.data());
      kernels::multiply_rows(w_.data(), 1, x + begin, count, 0, &sum, 0);
    }
    return sum;
  }

 private:
  const ShellFactors<Real>& factors_;
  RowScale<Real> scale_;
  bool by_column_;
  AlignedVector<Real> w_;
};

/// Calls body(first, rows) for each tile of rows, in parallel.
template <typename Body>
void for_each_tile(NodeId nodes, int threads, const Body& body) {
  parallel_for((nodes + tile_rows - 1) / tile_rows, threads, [&](std::size_t tile) {
    const std::size_t first = tile * tile_rows;
    body(first, std::min<std::size_t>(tile_rows, nodes - first));
  });
}

template <typename Hop, typename Real>
void multiply_hops(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                   const Panels<Real>& x, SignalsSlice<Real>& y, int threads) {
  const NodeId nodes = matrix.nodes();
  const PanelShape<Real>& shape = x.shape();
  for_each_tile(nodes, threads, [&](std::size_t first, std::size_t rows) {
    HopWeights<Hop, Real> weights(factors);
    if (shape.lines() == 0) {
      for (std::size_t r = 0; r < rows; ++r) {
        const auto u = static_cast<NodeId>(first + r);
        y(u, 0) = weights.dot(u, matrix.row(u), x.row(0, 0));
      }
      return;
    }
    AlignedVector<Real> w(tile_rows * tile_columns);
    // The result, panel by panel.
    AlignedVector<Real> sums(shape.count() * tile_rows * shape.width(), Real{0});
    for (std::size_t begin = 0; begin < nodes; begin += tile_columns) {
      const std::size_t count = std::min(tile_columns, nodes - begin);
      for (std::size_t r = 0; r < rows; ++r) {
        const auto u = static_cast<NodeId>(first + r);
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
  const SignalsOf<Real>& first;
  const SignalsOf<Real>* second = nullptr;

  std::size_t count() const {
    return static_cast<std::size_t>(first.cols() + (second != nullptr ? second->cols() : 0));
  }
  /// Copies `length` values of row u from column f on.
  void copy(std::size_t u, std::size_t f, std::size_t length, Real* to) const {
    const auto of_first = static_cast<std::size_t>(first.cols());
    const std::size_t head = f < of_first ? std::min(length, of_first - f) : 0;
    std::copy_n(first.data() + u * of_first + f, head, to);
    if (head == length) return;
    std::copy_n(second->data() + u * (count() - of_first) + (f + head - of_first), length - head,
                to + head);
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
                 const SignalsOf<Real>& x, const SignalsOf<Real>& g, bool half, int threads)
      : matrix_(matrix),
        factors_(factors),
        half_(half),
        threads_(threads),
        rows_{g, half ? &x : nullptr},
        columns_({x, half ? &g : nullptr}, matrix.nodes(), threads),
        weights_(factors) {}

  Matrix run() const {
    Matrix dots(matrix_.nodes(), static_cast<Eigen::Index>(hops()));
    for_each_tile(matrix_.nodes(), threads_, [&](std::size_t first, std::size_t rows) {
      const AlignedVector<Real> of_rows = copy_rows(first, rows);
      AlignedVector<Real> products(tile_rows * tile_columns);
      AlignedVector<Real> bins(tile_rows * bins_of_row(), Real{0});
      const std::size_t begin = half_ ? first / tile_columns * tile_columns : 0;
      for (std::size_t at = begin; at < matrix_.nodes(); at += tile_columns) {
        multiply_tile(of_rows.data(), rows, at, products.data());
        add_tile(first, rows, at, products.data(), bins.data());
      }
      for (std::size_t r = 0; r < rows; ++r) {
        write_dots(static_cast<NodeId>(first + r), bins.data() + r * bins_of_row(), dots);
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
      const std::size_t u = first + r;
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

  void write_dots(NodeId u, const Real* bins, Matrix& dots) const {
    for (std::size_t k = 0; k < hops(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < line; ++i) sum += static_cast<double>(bins[k * line + i]);
      dots(u, static_cast<Eigen::Index>(k)) = sum * static_cast<double>(factors_.of_row(k, u));
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

/// Calls on_lists(each_row) or on_hops(matrix), whatever holds the shells.
template <typename OnLists, typename OnHops>
auto by_form(const ShellSource& shells, const OnLists& on_lists, const OnHops& on_hops) {
  return std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return on_lists(
              [&](const auto& make) { for_each_row(shells.graph, shells.options, make); });
        } else if constexpr (requires { held.hops(); }) {
          return on_lists([&](const auto& make) {
            for_each_row(held, shells.held.nodes(), shells.options.threads, make);
          });
        } else {
          return on_hops(held);
        }
      },
      shells.held.held());
}

}  // namespace

template <typename Real>
void multiply_to(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  by_form(
      shells,
      [&](const auto& each_row) {
        const Panels<Real> panels(x, shape_for_lists<Real>(x.rows(), x.cols()), threads);
        multiply_lists(each_row, factors, panels, y);
      },
      [&](const auto& matrix) {
        const Panels<Real> panels(x, {x.cols(), kernels::most_product_lines}, threads);
        multiply_hops(matrix, factors, panels, y, threads);
      });
}

template <typename Real>
SignalsOf<Real> multiply(const ShellSource& shells, const ShellFactors<Real>& factors,
                         const SignalsOf<Real>& x) {
  SignalsOf<Real> y(x.rows(), x.cols());
  multiply_to<Real>(shells, factors, x, y);
  return y;
}

template <typename Real>
Matrix correlate(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsOf<Real>& x, const SignalsOf<Real>& g,
                 const ShellFactors<Real>* of_product, SignalsOf<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  std::optional<SignalsSlice<Real>> slice;
  if (product != nullptr) {
    product->resize(x.rows(), x.cols());
    slice.emplace(*product);
  }
  return by_form(
      shells,
      [&](const auto& each_row) {
        const auto shape = shape_for_lists<Real>(x.rows(), x.cols());
        const Panels<Real> panels(x, shape, threads);
        const Panels<Real> panels_of_g(g, shape, threads);
        return correlate_lists(each_row, factors, panels, panels_of_g, shells.held.nodes(),
                               product != nullptr ? *of_product : factors,
                               slice ? &*slice : nullptr);
      },
      [&](const auto& matrix) {
        if (slice) {
          const Panels<Real> panels(x, {x.cols(), kernels::most_product_lines}, threads);
          multiply_hops(matrix, *of_product, panels, *slice, threads);
        }
        using Hop = std::remove_cvref_t<decltype(matrix(0, 0))>;
        // Adding up by hops is half the work where signals are narrow, and nothing where not.
        constexpr Eigen::Index narrow = 96;
        const bool half = totals && !factors.by_row() && !factors.by_column() && x.cols() < narrow;
        return HopCorrelation<Hop, Real>(matrix, factors, x, g, half, threads).run();
      });
}

template void multiply_to(const ShellSource&, const ShellFactors<float>&, const SignalsView<float>&,
                          SignalsSlice<float>);
template void multiply_to(const ShellSource&, const ShellFactors<double>&,
                          const SignalsView<double>&, SignalsSlice<double>);
template SignalsOf<float> multiply(const ShellSource&, const ShellFactors<float>&,
                                   const SignalsOf<float>&);
template SignalsOf<double> multiply(const ShellSource&, const ShellFactors<double>&,
                                    const SignalsOf<double>&);
template Matrix correlate(const ShellSource&, const ShellFactors<float>&, const SignalsOf<float>&,
                          const SignalsOf<float>&, const ShellFactors<float>*, SignalsOf<float>*,
                          bool);
template Matrix correlate(const ShellSource&, const ShellFactors<double>&, const SignalsOf<double>&,
                          const SignalsOf<double>&, const ShellFactors<double>*, SignalsOf<double>*,
                          bool);

}  // namespace ngf::filter
