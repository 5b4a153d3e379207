#pragma once

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "filter/costs.hpp"
#include "filter/shell_products.hpp"
#include "kernels/hops.hpp"

/// Hops become weights: what products of hops share.
namespace ngf::filter {

using kernels::tile_columns;

/// Rows that the kernel takes at once, and those that a thread takes at a time, at most.
inline constexpr std::size_t kernel_rows = 14;
inline constexpr std::size_t tile_rows = costs::tile_groups * kernel_rows;

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
      kernels_.look_up(hops, count, table, entries_ - 1, w);
    } else {
      for (std::size_t v = 0; v < count; ++v) w[v] = table[hops[v]];
    }
    if (by_column_) weigh(hops, first, count, w);
  }

  /// Multiplies by the factors of the columns, from `first` on.
  void weigh(const Hop* hops, std::size_t first, std::size_t count, Real* w) const {
    if constexpr (sizeof(Hop) == 1) {
      kernels_.weigh(hops, first, count, right_.data(), last_hop(), w);
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
  const kernels::HopKernels<Real>& kernels_ = kernels::hop_kernels<Real>();
  const ShellFactors<Real>& factors_;
  bool by_row_;
  bool by_column_;
  AlignedVector<Real> table_;
  std::size_t entries_;
  std::vector<const Real*> right_;  // by hop: factors of the columns; null stands for ones
};

/// Calls body(first, rows) for each tile of rows, in parallel. Threads have the same number of
/// tiles, of nearly one size.
template <typename Body>
void for_each_tile(NodeId nodes, int threads, const Body& body) {
  const std::size_t groups = (nodes + kernel_rows - 1) / kernel_rows;
  const auto workers = static_cast<std::size_t>(thread_count(threads));
  const std::size_t most = workers * (tile_rows / kernel_rows);
  const std::size_t tiles = (groups + most - 1) / most * workers;
  const auto begin = [&](std::size_t tile) {
    return std::min<std::size_t>(nodes, groups * tile / tiles * kernel_rows);
  };
  parallel_for(tiles, threads, [&](std::size_t tile) {
    if (begin(tile) < begin(tile + 1)) body(begin(tile), begin(tile + 1) - begin(tile));
  });
}

/// Calls body(matrix) on shells that are held as hops.
template <typename Body>
void on_hops(const Shells& shells, const Body& body) {
  std::visit(
      [&](const auto& held) {
        if constexpr (requires { held.stride(); }) body(held);
      },
      shells.held());
}

}  // namespace ngf::filter
