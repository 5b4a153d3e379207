// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <variant>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"
#include "filter/hop_products.hpp"
#include "filter/panels.hpp"
#include "kernels/filter.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::parallel_for;

// ---- Lists ----

/// So much of signals stays in a core's caches.
constexpr std::size_t list_tile_bytes = std::size_t{1} << 20;

/// The row of one node, or its parts in some tiles of columns, wherever its list is: as in
/// `kernels::ListedRow`.
template <typename Column>
struct RowOfLists {
  NodeId node;
  const Column* columns;
  const std::uint32_t* cuts;
  std::size_t step = 1;
  std::size_t parts = 1;
  std::size_t part_of_node = 0;
};

/// The first node of tile t, and the tile of node u.
std::size_t tile_begin(std::size_t t, std::size_t tiles, NodeId nodes) { return nodes * t / tiles; }
std::size_t tile_of(NodeId u, std::size_t tiles, NodeId nodes) {
  return ((u + std::size_t{1}) * tiles - 1) / nodes;
}

/// Tiles that are gone through at the same time; none stands for rows as they are.
struct Pass {
  std::size_t first = 0;
  std::size_t tiles = 0;
};

/// Rows of lists that are held.
template <typename Column>
class HeldRows {
 public:
  HeldRows(const ColumnLists<Column>& lists, const ListLayout& layout, NodeId nodes, int threads)
      : lists_(lists), layout_(layout), nodes_(nodes), threads_(threads) {}

  /// Panels are as wide as a tile of them still fits into the caches, but no narrower than a line.
  template <typename Real>
  PanelShape<Real> shape_for(Eigen::Index columns) const {
    std::size_t lines = kernels::most_sum_lines / 2;
    while (lines > 1 && nodes_ / layout_.tiles * lines * 64 > list_tile_bytes) lines /= 2;
    return {columns, lines};
  }

  /// All tiles together where that much fits too. A sum has the same order either way, so that it
  /// does not depend on how many columns there are beside it.
  template <typename Real>
  std::vector<Pass> passes(const PanelShape<Real>& shape) const {
    const std::size_t tiles = layout_.tiles;
    if (shape.lines() == 0 || tiles == 1) return {{}};
    if (nodes_ * shape.lines() * 64 <= list_tile_bytes * 3 / 2) return {{0, tiles}};
    std::vector<Pass> result;
    for (std::size_t t = 0; t < tiles; ++t) result.push_back({t, 1});
    return result;
  }

  /// For each block of nodes, in parallel, calls make() and then what that returns on each row.
  template <typename Make>
  void for_each(const Pass& pass, const Make& make) const {
    constexpr std::size_t block_rows = 64;
    parallel_for((nodes_ + block_rows - 1) / block_rows, threads_, [&](std::size_t block) {
      auto visit = make();
      const std::size_t end = std::min<std::size_t>(nodes_, (block + 1) * block_rows);
      for (auto u = static_cast<NodeId>(block * block_rows); u < end; ++u) visit(row(u, pass));
    });
  }

 private:
  RowOfLists<Column> row(NodeId u, const Pass& pass) const {
    if (pass.tiles == 0) return {u, lists_.block(u), lists_.places(u).data()};
    const std::size_t hops = lists_.hops();
    return {.node = u,
            .columns = lists_.block(u),
            .cuts = layout_.cuts.data() + (pass.first * nodes_ + u) * hops,
            .step = nodes_ * hops,
            .parts = pass.tiles,
            .part_of_node = tile_of(u, layout_.tiles, nodes_) - pass.first};
  }

  const ColumnLists<Column>& lists_;
  const ListLayout& layout_;
  NodeId nodes_;
  int threads_;
};

/// Rows that are found on the way. Panels are wide, since they are found again for each.
class FoundRows {
 public:
  FoundRows(const Graph& graph, const ShellOptions& options) : graph_(graph), options_(options) {}

  template <typename Real>
  static PanelShape<Real> shape_for(Eigen::Index columns) {
    return {columns, kernels::most_sum_lines};
  }
  template <typename Real>
  static std::vector<Pass> passes(const PanelShape<Real>& /*shape*/) {
    return {{}};
  }

  template <typename Make>
  void for_each(const Pass& /*pass*/, const Make& make) const {
    stream_shells(graph_, options_, [&](const ShellRows<NodeId>& rows) {
      auto visit = make();
      std::vector<std::uint32_t> places(options_.hops + std::size_t{1}, 0);
      const NodeId* columns = rows.columns.data();
      for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        std::copy_n(rows.ends.data() + i * options_.hops, options_.hops, places.data() + 1);
        visit(RowOfLists<NodeId>{rows.rows[i], columns, places.data()});
        columns += places.back();
      }
    });
  }

 private:
  const Graph& graph_;
  const ShellOptions& options_;
};

/// Pointers to the factors that there are.
template <typename Real>
std::vector<const Real*> pointers(const std::vector<std::vector<Real>>& factors) {
  std::vector<const Real*> result;
  result.reserve(factors.size());
  for (const auto& of_hop : factors) result.push_back(of_hop.empty() ? nullptr : of_hop.data());
  return result;
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
  explicit RowFactors(const ShellFactors<Real>& factors)
      : scale_(factors), right_(pointers(factors.right)) {}

  template <typename Column>
  kernels::ListedRow<Column, Real> listed(const RowOfLists<Column>& row) {
    const std::vector<Real>& scale = scale_.of(row.node);
    return {.node = row.node,
            .columns = row.columns,
            .cuts = row.cuts,
            .step = row.step,
            .parts = row.parts,
            .part_of_node = row.part_of_node,
            .hops = scale.size() - 1,
            .scale = scale.data(),
            .right = right_.data()};
  }

 private:
  RowScale<Real> scale_;
  std::vector<const Real*> right_;
};

/// The product by rows of lists, and the dots of `correlate` where g and dots are given, without
/// the factors of rows.
template <typename Real, typename Rows>
void multiply_lists(const Rows& rows, const ShellFactors<Real>& factors, const Panels<Real>& x,
                    const Panels<Real>* g, double* dots, SignalsSlice<Real>* y) {
  const PanelShape<Real>& shape = x.shape();
  for (std::size_t panel = 0; panel < shape.count(); ++panel) {
    for (const Pass& pass : rows.passes(shape)) {
      rows.for_each(pass, [&] {
        return [&, of_rows = RowFactors<Real>(factors),
                sum = AlignedVector<Real>(shape.width())](const auto& row) mutable {
          auto listed = of_rows.listed(row);
          if (g != nullptr) {
            listed.g = g->row(panel, row.node);
            listed.dots = dots + row.node * factors.scale.size();
          }
          const bool add = pass.first > 0 && y != nullptr;
          if (add) copy_in(*y, shape, panel, row.node, sum.data());
          kernels::sum_shells(listed, x.row(panel, 0), shape.lines(), add, sum.data());
          if (y != nullptr) copy_out(sum.data(), shape, panel, row.node, *y);
        };
      });
    }
  }
}

/// The same for lists of short rows, which do not pay for panels. Where g is given, `dots` of each
/// node and shell grow by <g, (shell X)>, the shells without the factors of their rows.
template <typename Real, typename Column>
void multiply_short_lists(const ColumnLists<Column>& lists, std::span<const NodeId> order,
                          const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                          SignalsSlice<Real>& y, int threads, const SignalsView<Real>* g = nullptr,
                          double* dots = nullptr) {
  using Rows = kernels::ShortRows<Column, Real>;
  constexpr std::size_t block_rows = 64;
  const auto left = pointers(factors.left);
  const auto right = pointers(factors.right);
  parallel_for((order.size() + block_rows - 1) / block_rows, threads, [&](std::size_t block) {
    const std::size_t begin = block * block_rows;
    const std::size_t count = std::min(block_rows, order.size() - begin);
    std::array<typename Rows::Row, block_rows> rows;
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId u = order[begin + i];
      rows[i] = {u, lists.block(u), lists.places(u).data()};
    }
    kernels::sum_short_rows(
        Rows{rows.data(), count, lists.hops(), factors.scale.data(), left.data(), right.data(),
             g != nullptr ? g->data() : nullptr,
             g != nullptr ? static_cast<std::size_t>(g->outerStride()) : 0, dots},
        x.data(), static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(x.cols()),
        y.data(), static_cast<std::size_t>(y.outerStride()));
  });
}

/// The nodes as a search visits them that begins anew wherever it ends.
template <typename Column>
std::vector<NodeId> search_order(const ColumnLists<Column>& lists, NodeId nodes) {
  std::vector<NodeId> order;
  order.reserve(nodes);
  std::vector<char> seen(nodes, 0);
  const auto visit = [&](NodeId v) {
    if (seen[v] == 0) order.push_back(v);
    seen[v] = 1;
  };
  for (NodeId start = 0; start < nodes; ++start) {
    std::size_t next = order.size();
    visit(start);
    for (; next < order.size(); ++next) {
      for (const NodeId v : lists.columns(order[next], 1)) visit(v);
    }
  }
  return order;
}

/// So many tiles that one fits into the caches, unless rows would have too few columns in each:
/// then beginning with them takes too long, and so do the cuts, of memory.
std::size_t count_tiles(NodeId nodes, std::uint64_t pairs, std::uint32_t hops) {
  constexpr std::size_t fewest_columns = 64;
  const std::size_t bytes = nodes * (kernels::most_sum_lines / 2) * 64;
  const std::size_t most = pairs / (std::uint64_t{nodes} * hops * fewest_columns);
  return std::max<std::size_t>(1, std::min(most, (bytes + list_tile_bytes - 1) / list_tile_bytes));
}

/// As `ListLayout` has them.
template <typename Column>
std::vector<std::uint32_t> cut_lists(const ColumnLists<Column>& lists, NodeId nodes,
                                     std::size_t tiles, int threads) {
  const std::size_t hops = lists.hops();
  std::vector<std::uint32_t> cuts((tiles + 1) * nodes * hops);
  detail::parallel_ranges(nodes, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * hops; i < end * hops; ++i) {
      const std::span<const Column> columns =
          lists.columns(static_cast<NodeId>(i / hops), static_cast<std::uint32_t>(i % hops + 1));
      const std::uint32_t first = lists.places(static_cast<NodeId>(i / hops))[i % hops];
      auto at = columns.begin();
      for (std::size_t t = 0; t <= tiles; ++t) {
        at = std::lower_bound(at, columns.end(), tile_begin(t, tiles, nodes));
        cuts[t * nodes * hops + i] = first + static_cast<std::uint32_t>(at - columns.begin());
      }
    }
  });
  return cuts;
}

/// Gives the dots of each node and shell the factors of their rows.
template <typename Real>
void multiply_by_rows(const ShellFactors<Real>& factors, Matrix& dots) {
  for (Eigen::Index u = 0; u < dots.rows(); ++u) {
    for (Eigen::Index k = 0; k < dots.cols(); ++k) {
      dots(u, k) *=
          static_cast<double>(factors.of_row(static_cast<std::size_t>(k), static_cast<NodeId>(u)));
    }
  }
}

/// Calls on_rows(rows of lists) or on_hops(matrix), whatever holds the shells.
template <typename OnRows, typename OnHops>
auto by_form(const ShellSource& shells, const OnRows& on_rows, const OnHops& on_hops) {
  return std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return on_rows(FoundRows(shells.graph, shells.options));
        } else if constexpr (requires { held.hops(); }) {
          return on_rows(
              HeldRows(held, shells.layout, shells.held.nodes(), shells.options.threads));
        } else {
          return on_hops(held);
        }
      },
      shells.held.held());
}

/// The hops the other way, in the same form; null where there are none.
template <typename Hop>
const HopMatrix<Hop>* turned_of(const HopMatrix<Hop>& /*of*/, const ShellSource& shells) {
  return std::get_if<HopMatrix<Hop>>(&shells.turned.held());
}

/// Calls body(lists) where shells are held as lists.
template <typename Body>
void on_lists(const Shells& shells, const Body& body) {
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.block(0); }) body(held);
      },
      shells.held());
}

}  // namespace

ListLayout::ListLayout(const Shells& shells, int threads) {
  constexpr std::uint64_t few = 128;
  const NodeId nodes = shells.nodes();
  const std::vector<std::uint64_t> pairs = shells.pairs();
  if (pairs.size() < 2) return;
  const auto total = std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0});
  on_lists(shells, [&](const auto& lists) {
    if (total < few * nodes) {
      order = search_order(lists, nodes);
      return;
    }
    tiles = count_tiles(nodes, total, lists.hops());
    const std::uint64_t bytes = (tiles + 1) * nodes * lists.hops() * sizeof(cuts[0]);
    if (shells.bytes() + bytes > shells.plan().budget) tiles = 1;
    if (tiles > 1) cuts = cut_lists(lists, nodes, tiles, threads);
  });
}

template <typename Real>
void multiply_to(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  if (x.cols() > 1 && !shells.layout.order.empty()) {
    on_lists(shells.held, [&](const auto& lists) {
      multiply_short_lists<Real>(lists, shells.layout.order, factors, x, y, threads);
    });
    return;
  }
  by_form(
      shells,
      [&](const auto& rows) {
        const Panels<Real> panels(x, rows.template shape_for<Real>(x.cols()), threads);
        multiply_lists<Real>(rows, factors, panels, nullptr, nullptr, &y);
      },
      [&](const auto& matrix) {
        multiply_hops<std::remove_cvref_t<decltype(matrix(0, 0))>, Real>(
            matrix, turned_of(matrix, shells), factors, x, y, threads);
      });
}

template <typename Real>
Matrix correlate(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, const SignalsView<Real>& g,
                 const ShellFactors<Real>* of_product, SignalsSlice<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  const auto count = static_cast<Eigen::Index>(factors.scale.size());
  if (product != nullptr && x.cols() > 1 && !shells.layout.order.empty()) {
    Matrix dots = Matrix::Zero(x.rows(), count);
    on_lists(shells.held, [&](const auto& lists) {
      multiply_short_lists<Real>(lists, shells.layout.order, *of_product, x, *product, threads, &g,
                                 dots.data());
    });
    multiply_by_rows(factors, dots);
    return dots;
  }
  return by_form(
      shells,
      [&](const auto& rows) {
        const Panels<Real> panels(x, rows.template shape_for<Real>(x.cols()), threads);
        const Panels<Real> panels_of_g(g, panels.shape(), threads);
        Matrix dots = Matrix::Zero(x.rows(), count);
        multiply_lists(rows, product != nullptr ? *of_product : factors, panels, &panels_of_g,
                       dots.data(), product);
        multiply_by_rows(factors, dots);
        return dots;
      },
      [&](const auto& matrix) {
        const auto* const turned = turned_of(matrix, shells);
        using Hop = std::remove_cvref_t<decltype(matrix(0, 0))>;
        if (product != nullptr) {
          multiply_hops<Hop, Real>(matrix, turned, *of_product, x, *product, threads);
        }
        const bool half = totals && !factors.by_row() && !factors.by_column();
        return correlate_hops<Hop, Real>(matrix, turned, factors, x, g, half, threads);
      });
}

template void multiply_to(const ShellSource&, const ShellFactors<float>&, const SignalsView<float>&,
                          SignalsSlice<float>);
template void multiply_to(const ShellSource&, const ShellFactors<double>&,
                          const SignalsView<double>&, SignalsSlice<double>);
template Matrix correlate(const ShellSource&, const ShellFactors<float>&, const SignalsView<float>&,
                          const SignalsView<float>&, const ShellFactors<float>*,
                          SignalsSlice<float>*, bool);
template Matrix correlate(const ShellSource&, const ShellFactors<double>&,
                          const SignalsView<double>&, const SignalsView<double>&,
                          const ShellFactors<double>*, SignalsSlice<double>*, bool);

}  // namespace ngf::filter
