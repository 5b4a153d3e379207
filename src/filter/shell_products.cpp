// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <variant>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
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

/// Panels are as wide as a tile of them still fits into the caches, but no narrower than a line.
template <typename Real>
PanelShape<Real> shape_of_tiles(Eigen::Index columns, std::size_t nodes, std::size_t tiles) {
  std::size_t lines = kernels::most_sum_lines / 2;
  while (lines > 1 && nodes / tiles * lines * 64 > list_tile_bytes) lines /= 2;
  return {columns, lines};
}

/// The row of one node, wherever its list is: as in `kernels::ListedRow`.
template <typename Column>
struct RowOfLists {
  NodeId node;
  const Column* columns;
  const std::uint32_t* places;
};

/// Rows of lists that are held.
template <typename Column>
class HeldRows {
 public:
  HeldRows(const ColumnLists<Column>& lists, NodeId nodes, int threads)
      : lists_(lists), nodes_(nodes), threads_(threads) {}

  NodeId first() const { return lists_.rows().begin; }

  template <typename Real>
  PanelShape<Real> shape_for(Eigen::Index columns) const {
    return shape_of_tiles<Real>(columns, nodes_, 1);
  }

  /// For each block of nodes, in parallel, calls make() and then what that returns on each row.
  template <typename Make>
  void for_each(const Make& make) const {
    constexpr std::size_t block_rows = 64;
    const RowRange& rows = lists_.rows();
    parallel_for((rows.count() + block_rows - 1) / block_rows, threads_, [&](std::size_t block) {
      auto visit = make();
      const std::size_t begin = rows.begin + block * block_rows;
      const std::size_t end = std::min<std::size_t>(rows.end, begin + block_rows);
      for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
        visit(RowOfLists<Column>{u, lists_.block(u), lists_.places(u).data()});
      }
    });
  }

 private:
  const ColumnLists<Column>& lists_;
  NodeId nodes_;
  int threads_;
};

/// Rows that are found on the way. Panels are wide, since they are found again for each.
class FoundRows {
 public:
  FoundRows(const Graph& graph, const ShellOptions& options) : graph_(graph), options_(options) {}

  NodeId first() const { return options_.rows.begin; }

  template <typename Real>
  static PanelShape<Real> shape_for(Eigen::Index columns) {
    return {columns, kernels::most_sum_lines};
  }
  template <typename Make>
  void for_each(const Make& make) const {
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
            .places = row.places,
            .hops = scale.size() - 1,
            .scale = scale.data(),
            .right = right_.data()};
  }

 private:
  RowScale<Real> scale_;
  std::vector<const Real*> right_;
};

/// What sums of lists are for: the product, the dots of `correlate` without the factors of rows, or
/// both. All have the rows that there are of the shells.
template <typename Real>
struct Wanted {
  SignalsSlice<Real>* product = nullptr;
  const SignalsView<Real>* g = nullptr;
  double* dots = nullptr;
};

/// What is wanted, by rows of lists.
template <typename Real, typename Rows>
void multiply_lists(const Rows& rows, const ShellFactors<Real>& factors, PanelByPanel<Real> x,
                    const Wanted<Real>& wanted) {
  const PanelShape<Real>& shape = x.shape();
  for (std::size_t panel = 0; panel < shape.count(); ++panel) {
    const Real* const signals = x.take(panel);
    rows.for_each([&] {
      return [&, of_rows = RowFactors<Real>(factors), sum = AlignedVector<Real>(shape.width()),
              padded = AlignedVector<Real>(shape.width())](const auto& row) mutable {
        auto listed = of_rows.listed(row);
        const NodeId place = row.node - rows.first();
        if (wanted.g != nullptr) {
          listed.g = row_of_panel(*wanted.g, shape, panel, place, padded.data());
          listed.dots = wanted.dots + place * factors.scale.size();
        }
        const bool apart = wanted.product == nullptr || shape.is_padded(panel);
        Real* const to = apart ? sum.data() : where_row_lies(*wanted.product, shape, panel, place);
        kernels::sum_shells(listed, signals, shape.lines(), to);
        if (apart && wanted.product != nullptr) copy_out(to, shape, panel, place, *wanted.product);
      };
    });
  }
}

/// Tiles that are gone through at the same time.
struct Pass {
  std::size_t first;
  std::size_t tiles;
};

/// Tile by tile, or all together where that much fits into the caches too. A sum has the same order
/// either way, so that it does not depend on how many columns there are beside it.
template <typename Real>
std::vector<Pass> passes(const PanelShape<Real>& shape, std::size_t nodes, std::size_t tiles) {
  if (nodes * shape.lines() * 64 <= list_tile_bytes * 3 / 2) return {{0, tiles}};
  std::vector<Pass> result;
  for (std::size_t t = 0; t < tiles; ++t) result.push_back({t, 1});
  return result;
}

/// Sums pairs of rows, one after the other, in one panel.
template <typename Column, typename Real>
class PairSums {
 public:
  PairSums(const ShellFactors<Real>& factors, const PanelShape<Real>& shape, std::size_t panel,
           const Wanted<Real>& wanted, NodeId first)
      : shape_(shape),
        panel_(panel),
        wanted_(wanted),
        apart_(wanted.product == nullptr || shape.is_padded(panel)),
        first_(first),
        scales_{RowScale<Real>(factors), RowScale<Real>(factors)},
        right_(pointers(factors.right)),
        sums_(2 * shape.width()),
        padded_(2 * shape.width()) {
    rows_.right = right_.data();
    rows_.weighted = factors.by_column();
  }

  /// `signals` are those of the panel; `add` tells of tiles that were summed before.
  void sum(const Real* signals, const typename PairedLists<Column>::Pair& pair, bool add) {
    rows_.columns = pair.columns;
    rows_.begin = pair.begin;
    rows_.segments = pair.segments;
    for (std::size_t side = 0; side < 2; ++side) {
      begin(side, pair.nodes[side], add);
      if (pair.next[side] != kernels::no_row) prefetch_rows(pair.next[side] - first_);
    }
    kernels::sum_pairs(rows_, signals, shape_.lines(), add);
    for (std::size_t side = 0; side < 2 && apart_ && wanted_.product != nullptr; ++side) {
      if (pair.nodes[side] == kernels::no_row) continue;
      copy_out(rows_.to[side], shape_, panel_, pair.nodes[side] - first_, *wanted_.product);
    }
  }

 private:
  void prefetch_rows(NodeId place) const {
    const std::size_t count = shape_.columns_of(panel_);
    if (wanted_.product != nullptr) {
      prefetch(where_row_lies(*wanted_.product, shape_, panel_, place), count);
    }
    if (wanted_.g != nullptr) prefetch(where_row_lies(*wanted_.g, shape_, panel_, place), count);
  }

  void begin(std::size_t side, NodeId u, bool add) {
    Real* const own = sums_.data() + side * shape_.width();
    rows_.to[side] = own;
    if (u == kernels::no_row) return;
    const NodeId place = u - first_;
    const std::vector<Real>& scale = scales_[side].of(u);
    rows_.scale[side] = scale.data();
    if (!apart_) {
      rows_.to[side] = where_row_lies(*wanted_.product, shape_, panel_, place);
    } else if (add && wanted_.product != nullptr) {
      copy_in(*wanted_.product, shape_, panel_, place, own);
    }
    if (wanted_.g == nullptr) return;
    Real* const padded = padded_.data() + side * shape_.width();
    rows_.g[side] = row_of_panel(*wanted_.g, shape_, panel_, place, padded);
    rows_.dots[side] = wanted_.dots + place * scale.size();
  }

  const PanelShape<Real>& shape_;
  std::size_t panel_;
  const Wanted<Real>& wanted_;
  bool apart_;    // whether sums are not written where they are wanted
  NodeId first_;  // whose rows come first in what is wanted
  std::array<RowScale<Real>, 2> scales_;
  std::vector<const Real*> right_;
  AlignedVector<Real> sums_;                  // of the two rows
  AlignedVector<Real> padded_;                // rows of g
  kernels::PairedRows<Column, Real> rows_{};  // set once: it is longer than a short pair's work
};

/// Some panels, and of them every `step`-th block of pairs from `block` on, for so many threads.
struct Share {
  std::size_t first_panel;
  std::size_t last_panel;
  std::size_t block;
  std::size_t step;
  int threads;
};

/// What is wanted, by rows two by two, of one panel after the other.
template <typename Real, typename Column>
void multiply_panels(const PairedLists<Column>& pairs, const ShellFactors<Real>& factors,
                     PanelByPanel<Real> x, const Share& share, const Wanted<Real>& wanted) {
  const PanelShape<Real>& shape = x.shape();
  const std::size_t blocks = (pairs.blocks() + share.step - 1 - share.block) / share.step;
  for (std::size_t panel = share.first_panel; panel < share.last_panel; ++panel) {
    const Real* const signals = x.take(panel);
    for (const Pass& pass : passes(shape, x.rows(), pairs.tiles())) {
      parallel_for(blocks, share.threads, [&](std::size_t i) {
        PairSums<Column, Real> sums(factors, shape, panel, wanted, pairs.first_row());
        pairs.for_each(share.block + i * share.step, pass.first, pass.tiles,
                       [&](const auto& pair) { sums.sum(signals, pair, pass.first > 0); });
      });
    }
  }
}

/// All panels. Where there are several, each thread copies what it reads, so that it is in its own
/// caches: panels of its own, where they suffice for all; but dots add up over panels, so that rows
/// are dealt instead, to few threads, since each copies all panels.
template <typename Real, typename Column>
void multiply_pairs(const PairedLists<Column>& pairs, const ShellFactors<Real>& factors,
                    const SignalsView<Real>& x, int threads, const Wanted<Real>& wanted) {
  const auto shape =
      shape_of_tiles<Real>(x.cols(), static_cast<std::size_t>(x.rows()), pairs.tiles());
  const std::size_t panels = shape.count();
  const auto team = static_cast<std::size_t>(detail::thread_count(threads));
  const bool evenly = panels % team == 0 || panels >= 8 * team;
  constexpr std::size_t few = 4;
  const bool by_rows = wanted.g != nullptr;
  if (team == 1 || (by_rows ? panels == 1 || team > few : !evenly)) {
    multiply_panels<Real>(pairs, factors, {x, shape, threads}, {0, panels, 0, 1, threads}, wanted);
    return;
  }
  parallel_for(team, threads, [&](std::size_t t) {
    const Share share = by_rows ? Share{0, panels, t, team, 1}
                                : Share{panels * t / team, panels * (t + 1) / team, 0, 1, 1};
    multiply_panels<Real>(pairs, factors, {x, shape, 1}, share, wanted);
  });
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
        Rows{rows.data(), count, lists.rows().begin, lists.hops(), factors.scale.data(),
             left.data(), right.data(), g != nullptr ? g->data() : nullptr,
             g != nullptr ? static_cast<std::size_t>(g->outerStride()) : 0, dots},
        x.data(), static_cast<std::size_t>(x.outerStride()), static_cast<std::size_t>(x.cols()),
        y.data(), static_cast<std::size_t>(y.outerStride()));
  });
}

/// The rows as a search visits them that begins anew wherever it ends.
template <typename Column>
std::vector<NodeId> search_order(const ColumnLists<Column>& lists) {
  const RowRange& rows = lists.rows();
  std::vector<NodeId> order;
  order.reserve(rows.count());
  std::vector<char> seen(rows.count(), 0);
  const auto visit = [&](NodeId v) {
    if (!rows.contains(v) || seen[v - rows.begin] != 0) return;
    order.push_back(v);
    seen[v - rows.begin] = 1;
  };
  for (NodeId start = rows.begin; start < rows.end; ++start) {
    std::size_t next = order.size();
    visit(start);
    for (; next < order.size(); ++next) {
      for (const NodeId v : lists.columns(order[next], 1)) visit(v);
    }
  }
  return order;
}

/// So many tiles that one fits into the caches, unless rows would have too few columns in each:
/// then beginning with them takes too long.
std::size_t count_tiles(const Shells& shells, std::uint64_t pairs, std::uint32_t hops) {
  constexpr std::size_t fewest_columns = 64;
  constexpr std::size_t most_tiles = 1000;
  const std::size_t bytes = shells.nodes() * (kernels::most_sum_lines / 2) * 64;
  const std::size_t most = pairs / (std::uint64_t{shells.rows().count()} * hops * fewest_columns);
  const std::size_t wanted = (bytes + list_tile_bytes - 1) / list_tile_bytes;
  return std::clamp<std::size_t>(wanted, 1, std::clamp<std::size_t>(most, 1, most_tiles));
}

/// Gives the dots of each node, from `first` on, and shell the factors of their rows.
template <typename Real>
void multiply_by_rows(const ShellFactors<Real>& factors, NodeId first, int threads, Matrix& dots) {
  const auto is_one = [](Real scale) { return scale == Real{1}; };
  if (!factors.by_row() && std::ranges::all_of(factors.scale, is_one)) return;
  const auto rows = static_cast<std::size_t>(dots.rows());
  detail::parallel_ranges(rows, threads, [&](std::size_t begin, std::size_t end) {
    RowScale<Real> scales(factors);
    for (std::size_t row = begin; row < end; ++row) {
      const std::vector<Real>& scale = scales.of(first + static_cast<NodeId>(row));
      double* const of_row = dots.data() + row * scale.size();
      for (std::size_t k = 0; k < scale.size(); ++k) of_row[k] *= static_cast<double>(scale[k]);
    }
  });
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
          return on_rows(HeldRows(held, shells.held.nodes(), shells.options.threads));
        } else {
          return on_hops(held);
        }
      },
      shells.held.held());
}

/// The hops the other way, in the same form; null where there are none, or not of all nodes.
template <typename Hop>
const HopMatrix<Hop>* turned_of(const HopMatrix<Hop>& of, const ShellSource& shells) {
  if (of.rows().count() < of.nodes()) return nullptr;
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

/// Calls body(pairs of rows) where there are such and they serve so many columns.
template <typename Body>
bool on_pairs(const ShellSource& shells, Eigen::Index columns, const Body& body) {
  if (columns == 1 || std::holds_alternative<std::monostate>(shells.layout.pairs)) return false;
  std::visit(
      [&](const auto& pairs) {
        if constexpr (requires { pairs.tiles(); }) body(pairs);
      },
      shells.layout.pairs);
  return true;
}

}  // namespace

ListLayout::ListLayout(const Shells& shells, int threads) {
  constexpr std::uint64_t few = 64;
  const NodeId rows = shells.rows().count();
  on_lists(shells, [&]<typename Column>(const ColumnLists<Column>& lists) {
    const std::vector<std::uint64_t> counts = shells.pairs();
    if (counts.size() < 2) return;
    const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const std::uint32_t hops = lists.hops();
    if (total >= few * rows && hops > kernels::most_paired_hops) return;
    order = search_order(lists);
    if (total < few * rows) return;
    const std::size_t tiles = count_tiles(shells, total, hops);
    const std::uint64_t bytes = most_paired_bytes(rows, total, hops, tiles, sizeof(Column));
    if (shells.plan().sparse_bytes + bytes <= shells.plan().budget) {
      pairs.emplace<PairedLists<Column>>(lists, shells.nodes(), order, tiles, threads);
    }
    order.clear();
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
  const bool paired = on_pairs(shells, x.cols(), [&](const auto& pairs) {
    multiply_pairs<Real>(pairs, factors, x, threads, {.product = &y});
  });
  if (paired) return;
  by_form(
      shells,
      [&](const auto& rows) {
        multiply_lists<Real>(rows, factors, {x, rows.template shape_for<Real>(x.cols()), threads},
                             {.product = &y});
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
  const NodeId first = shells.held.rows().begin;
  const auto count = static_cast<Eigen::Index>(factors.scale.size());
  Matrix dots = Matrix::Zero(g.rows(), count);
  if (product != nullptr && x.cols() > 1 && !shells.layout.order.empty()) {
    on_lists(shells.held, [&](const auto& lists) {
      multiply_short_lists<Real>(lists, shells.layout.order, *of_product, x, *product, threads, &g,
                                 dots.data());
    });
    multiply_by_rows(factors, first, threads, dots);
    return dots;
  }
  const ShellFactors<Real>& of_sums = product != nullptr ? *of_product : factors;
  const Wanted<Real> wanted{.product = product, .g = &g, .dots = dots.data()};
  const bool paired = on_pairs(shells, x.cols(), [&](const auto& pairs) {
    multiply_pairs<Real>(pairs, of_sums, x, threads, wanted);
    multiply_by_rows(factors, first, threads, dots);
  });
  if (paired) return dots;
  return by_form(
      shells,
      [&](const auto& rows) {
        multiply_lists<Real>(rows, of_sums, {x, rows.template shape_for<Real>(x.cols()), threads},
                             wanted);
        multiply_by_rows(factors, first, threads, dots);
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
