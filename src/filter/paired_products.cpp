#include <array>

#include "base/aligned.hpp"
#include "filter/list_products.hpp"

/// Products of rows two by two.
namespace ngf::filter {

namespace {

/// Tiles that are gone through at the same time.
struct Pass {
  std::size_t first;
  std::size_t tiles;
};

/// Tile by tile, or all together where that much fits into the caches too. A sum has the same order
/// either way, so that it does not depend on how many columns there are beside it.
template <typename Real>
std::vector<Pass> passes(const PanelShape<Real>& shape, std::size_t nodes, std::size_t tiles) {
  if (nodes * shape.lines() * 64 <= costs::panel_tile_bytes * 3 / 2) return {{0, tiles}};
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
    sum_pairs_(rows_, signals, shape_.lines(), add);
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

  decltype(kernels::ListKernels<Column, Real>::sum_pairs) sum_pairs_ =
      kernels::list_kernels<Column, Real>().sum_pairs;
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

/// A range of panels, and of them every `step`-th block of pairs from `block` on, for `threads`.
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
/// are shared out instead, to few threads, since each copies all panels.
template <typename Real, typename Column>
void multiply_pairs(const PairedLists<Column>& pairs, const ShellFactors<Real>& factors,
                    const SignalsView<Real>& x, int threads, const Wanted<Real>& wanted) {
  const auto shape =
      shape_of_tiles<Real>(x.cols(), static_cast<std::size_t>(x.rows()), pairs.tiles());
  const std::size_t panels = shape.count();
  const auto workers = static_cast<std::size_t>(thread_count(threads));
  const bool evenly = panels % workers == 0 || panels >= 8 * workers;
  const bool by_rows = wanted.g != nullptr;
  if (workers == 1 || (by_rows ? panels == 1 || workers > costs::threads_with_panels : !evenly)) {
    multiply_panels<Real>(pairs, factors, {x, shape, threads}, {0, panels, 0, 1, threads}, wanted);
    return;
  }
  parallel_for(workers, threads, [&](std::size_t t) {
    const Share share = by_rows ? Share{0, panels, t, workers, 1}
                                : Share{panels * t / workers, panels * (t + 1) / workers, 0, 1, 1};
    multiply_panels<Real>(pairs, factors, {x, shape, 1}, share, wanted);
  });
}

}  // namespace

template <typename Real>
void sum_paired_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                      const SignalsView<Real>& x, const Wanted<Real>& wanted) {
  std::visit(
      [&](const auto& pairs) {
        if constexpr (requires { pairs.tiles(); }) {
          multiply_pairs<Real>(pairs, factors, x, source.threads(), wanted);
        }
      },
      source.layout.pairs);
}

template void sum_paired_lists(const ShellSource&, const ShellFactors<float>&,
                               const SignalsView<float>&, const Wanted<float>&);
template void sum_paired_lists(const ShellSource&, const ShellFactors<double>&,
                               const SignalsView<double>&, const Wanted<double>&);

}  // namespace ngf::filter
