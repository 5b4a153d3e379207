#include "filter/hop_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"
#include "kernels/hops.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::parallel_for;
using kernels::block_hops;
using kernels::most_block_columns;
using Hops = HopMatrix<std::uint8_t>;
using Signals = SignalsView<float>;

/// The columns of signals in panels of nearly one width.
class BlockPanels {
 public:
  BlockPanels(const SignalsView<float>& x, int threads)
      : nodes_(static_cast<std::size_t>(x.rows())),
        columns_(static_cast<std::size_t>(x.cols())),
        count_((columns_ + most_block_columns - 1) / most_block_columns),
        data_(x.data()) {
    const auto stride = static_cast<std::size_t>(x.outerStride());
    if (count_ <= 1 && stride == columns_) return;
    copy_.resize(nodes_ * columns_);
    detail::parallel_ranges(nodes_, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        for (std::size_t panel = 0; panel < count_; ++panel) {
          std::copy_n(x.data() + v * stride + first(panel), width(panel),
                      copy_.data() + place(panel, v));
        }
      }
    });
    data_ = copy_.data();
  }

  std::size_t count() const { return count_; }
  std::size_t first(std::size_t panel) const { return columns_ * panel / count_; }
  std::size_t width(std::size_t panel) const { return first(panel + 1) - first(panel); }
  /// From node v on.
  const float* from(std::size_t panel, std::size_t v) const { return data_ + place(panel, v); }

 private:
  std::size_t place(std::size_t panel, std::size_t v) const {
    return first(panel) * nodes_ + v * width(panel);
  }

  std::size_t nodes_;
  std::size_t columns_;
  std::size_t count_;
  const float* data_;
  detail::BriefVector<float> copy_;
};

/// Factors by hop: one table for all columns v, or one for each.
class BlockTables {
 public:
  /// With `scaled`, those of the shells are in them too.
  BlockTables(const ShellFactors<float>& factors, NodeId nodes, bool scaled)
      : step_(factors.by_column() ? kernels::block_table_entries : 0),
        entries_(step_ > 0 ? nodes * step_ : kernels::block_table_entries, 0.0F) {
    for (std::size_t v = 0; v < (step_ > 0 ? nodes : 1); ++v) {
      for (std::size_t k = 0; k < factors.scale.size(); ++k) {
        entries_[v * step_ + k] = (scaled ? factors.scale[k] : 1.0F) *
                                  (factors.right[k].empty() ? 1.0F : factors.right[k][v]);
      }
    }
  }

  std::size_t step() const { return step_; }
  const float* from(std::size_t v) const { return entries_.data() + v * step_; }

 private:
  std::size_t step_;
  AlignedVector<float> entries_;
};

/// Copies the blocks of 64 rows from `first` on, for the nodes v from `begin` on, one behind the
/// other.
void copy_blocks(const Hops& turned, std::size_t first, std::size_t begin, std::size_t count,
                 std::uint8_t* to) {
  for (std::size_t v = 0; v < count; ++v) {
    const std::uint8_t* const row = turned.row(static_cast<NodeId>(begin + v)).data();
    std::memcpy(to + v * block_hops, row + first, block_hops);
  }
}

/// Where those blocks are, `most` of them or as many as there are.
kernels::Lines blocks_from(const Hops& turned, std::size_t first, std::size_t begin,
                           std::size_t most) {
  if (begin >= turned.nodes()) return {};
  return {turned.row(static_cast<NodeId>(begin)).data() + first, turned.stride(),
          std::min<std::size_t>(most, turned.nodes() - begin)};
}

/// Calls body(first, rows) for each block, in parallel.
template <typename Body>
void for_each_block(NodeId nodes, int threads, const Body& body) {
  // Threads take every other one, so that blocks with less and less to do are shared evenly.
  const std::size_t count = (nodes + block_hops - 1) / block_hops;
  const std::size_t even = (count + 1) / 2;
  parallel_for(count, threads, [&](std::size_t i) {
    const std::size_t first = (i < even ? 2 * i : 2 * (i - even) + 1) * block_hops;
    body(first, std::min<std::size_t>(block_hops, nodes - first));
  });
}

/// Rows from their layout in a block: `turned` holds the first column of all of them, then the
/// second, and so on.
void turn_back(const float* turned, std::size_t first, std::size_t rows, SignalsSlice<float>& y) {
  // So many columns that what is read again stays in the nearest cache.
  constexpr std::size_t together = 64;
  const auto columns = static_cast<std::size_t>(y.cols());
  for (std::size_t begin = 0; begin < columns; begin += together) {
    const std::size_t end = std::min(columns, begin + together);
    for (std::size_t i = 0; i < rows; ++i) {
      const float* const from = turned + kernels::place_in_block<float>(i);
      float* const to = y.data() + (first + i) * static_cast<std::size_t>(y.outerStride());
      for (std::size_t f = begin; f < end; ++f) to[f] = from[f * block_hops];
    }
  }
}

/// The first column of some rows, then the second, and so on.
void turn(const Signals& x, std::size_t first, std::size_t rows, float* turned) {
  const auto columns = static_cast<std::size_t>(x.cols());
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const from = row(x, first + i);
    for (std::size_t f = 0; f < columns; ++f) turned[f * block_hops + i] = from[f];
  }
}

bool lie_side_by_side(const Signals& a, const Signals& b) {
  return b.data() == a.data() + a.cols() && a.outerStride() == b.outerStride() &&
         a.outerStride() == a.cols() + b.cols();
}

/// The columns of a and b side by side.
detail::BriefVector<float> join(const Signals& a, const Signals& b, int threads) {
  detail::BriefVector<float> result(static_cast<std::size_t>(a.size() + b.size()));
  Eigen::Map<SignalsOf<float>> joined(result.data(), a.rows(), a.cols() + b.cols());
  detail::parallel_ranges(static_cast<std::size_t>(a.rows()), threads,
                          [&](std::size_t begin, std::size_t end) {
                            const auto first = static_cast<Eigen::Index>(begin);
                            const auto count = static_cast<Eigen::Index>(end - begin);
                            auto rows = joined.middleRows(first, count);
                            rows.leftCols(a.cols()) = a.middleRows(first, count);
                            rows.rightCols(b.cols()) = b.middleRows(first, count);
                          });
  return result;
}

/// <g_u, x_v> for blocks of rows u and all v, added up by their hops.
///
/// With `half`, where only totals are wanted, a pair of blocks stands for both of its orders: with
/// columns of g behind those of x, and of x behind those of g, <x_u, g_v> counts too. A block with
/// itself has each pair twice already.
class BlockCorrelation {
 public:
  /// of_columns: x, or with `half` x beside g.
  BlockCorrelation(const Hops& turned, const ShellFactors<float>& factors, const Signals& x,
                   const Signals& g, const float* of_columns, bool half)
      : turned_(turned),
        factors_(factors),
        x_(x),
        g_(g),
        of_columns_(of_columns),
        half_(half),
        columns_(static_cast<std::size_t>(half ? 2 * x.cols() : x.cols())),
        stride_(half ? columns_ : static_cast<std::size_t>(x.outerStride())),
        tables_(factors, turned.nodes(), false) {}

  Matrix run(int threads) const {
    const NodeId nodes = turned_.nodes();
    const std::size_t hops = factors_.scale.size();
    Matrix dots(nodes, static_cast<Eigen::Index>(hops));
    for_each_block(nodes, threads, [&](std::size_t first, std::size_t rows) {
      AlignedVector<float> of_rows(columns_ * block_hops, 0.0F);
      turn(g_, first, rows, of_rows.data());
      if (half_) turn(x_, first, rows, of_rows.data() + of_rows.size() / 2);
      AlignedVector<float> bins(hops * block_hops, 0.0F);
      AlignedVector<float> products(nodes_together * block_hops);
      AlignedVector<float> weights(tables_.step() > 0 ? products.size() : 0);
      for (std::size_t begin = half_ ? first : 0; begin < nodes; begin += nodes_together) {
        const std::size_t count = std::min(nodes_together, nodes - begin);
        const kernels::Lines blocks = blocks_from(turned_, first, begin, count);
        find_products(of_rows.data(), begin, count, products.data(),
                      blocks_from(turned_, first, begin + count, nodes_together));
        if (half_) halve_own(first, begin, count, products.data());
        if (tables_.step() > 0) {
          kernels::look_up_block(blocks.first, blocks.stride, count, tables_.from(begin),
                                 tables_.step(), weights.data());
          for (std::size_t i = 0; i < count * block_hops; ++i) products[i] *= weights[i];
        }
        kernels::add_block_by_hop(blocks.first, blocks.stride, products.data(), count, hops - 1,
                                  bins.data());
      }
      for (std::size_t i = 0; i < rows; ++i) {
        const auto u = static_cast<NodeId>(first + i);
        for (std::size_t k = 0; k < hops; ++k) {
          const float sum = k == 0 ? own_product(u) : bins[k * block_hops + i];
          dots(u, static_cast<Eigen::Index>(k)) =
              static_cast<double>(sum) * static_cast<double>(factors_.of_row(k, u));
        }
      }
    });
    return dots;
  }

 private:
  /// Nodes v, and columns, that are multiplied before others: so many stay in the nearest cache.
  static constexpr std::size_t nodes_together = 8 * most_block_columns;
  static constexpr std::size_t columns_together = 64;

  void find_products(const float* of_rows, std::size_t begin, std::size_t count, float* products,
                     const kernels::Lines& ahead) const {
    for (std::size_t f = 0; f < columns_; f += columns_together) {
      for (std::size_t v = 0; v < count; v += most_block_columns) {
        // A few lines at a time: more would have to wait for each other.
        for (std::size_t i = v; f == 0 && i < std::min(v + most_block_columns, ahead.count); ++i) {
          __builtin_prefetch(ahead.first + i * ahead.stride);
        }
        kernels::multiply_turned(of_rows + f * block_hops, of_columns_ + (begin + v) * stride_ + f,
                                 stride_, std::min(columns_together, columns_ - f),
                                 std::min(most_block_columns, count - v), f > 0,
                                 products + v * block_hops);
      }
    }
  }

  /// Of a node with itself, the only pair at hop 0, where that counts.
  float own_product(NodeId u) const {
    if (factors_.scale[0] == 0.0F) return 0;
    return g_.row(u).dot(x_.row(u)) * *tables_.from(u);
  }

  /// The products of the block of rows with nodes of its own.
  static void halve_own(std::size_t first, std::size_t begin, std::size_t count, float* products) {
    if (begin >= first + block_hops) return;
    const std::size_t own = std::min(count, first + block_hops - begin);
    for (std::size_t i = 0; i < own * block_hops; ++i) products[i] /= 2;
  }

  const Hops& turned_;
  const ShellFactors<float>& factors_;
  const Signals& x_;
  const Signals& g_;
  const float* of_columns_;
  bool half_;
  std::size_t columns_;
  std::size_t stride_;  // of `of_columns_`
  BlockTables tables_;
};

}  // namespace

void multiply_blocks(const Hops& turned, const ShellFactors<float>& factors,
                     const SignalsView<float>& x, SignalsSlice<float>& y, int threads) {
  // Blocks of so many nodes v, and their signals, stay in the nearest cache.
  constexpr std::size_t nodes_together = 128;
  const NodeId nodes = turned.nodes();
  const BlockPanels panels(x, threads);
  const BlockTables tables(factors, nodes, true);
  for_each_block(nodes, threads, [&](std::size_t first, std::size_t rows) {
    AlignedVector<std::uint8_t> blocks(nodes_together * block_hops);
    AlignedVector<float> sums(static_cast<std::size_t>(x.cols()) * block_hops, 0.0F);
    for (std::size_t begin = 0; begin < nodes; begin += nodes_together) {
      const std::size_t count = std::min(nodes_together, nodes - begin);
      copy_blocks(turned, first, begin, count, blocks.data());
      kernels::Lines ahead = blocks_from(turned, first, begin + count, nodes_together);
      for (std::size_t panel = 0; panel < panels.count(); ++panel) {
        kernels::multiply_block(blocks.data(), count, tables.from(begin), tables.step(),
                                factors.scale.size() - 1, panels.from(panel, begin),
                                panels.width(panel), sums.data() + panels.first(panel) * block_hops,
                                ahead);
        ahead = {};
      }
    }
    turn_back(sums.data(), first, rows, y);
  });
}

Matrix correlate_blocks(const Hops& turned, const ShellFactors<float>& factors, const Signals& x,
                        const Signals& g, bool half, int threads) {
  if (!half || lie_side_by_side(x, g)) {
    return BlockCorrelation(turned, factors, x, g, x.data(), half).run(threads);
  }
  const auto beside = join(x, g, threads);
  return BlockCorrelation(turned, factors, x, g, beside.data(), half).run(threads);
}

}  // namespace ngf::filter
