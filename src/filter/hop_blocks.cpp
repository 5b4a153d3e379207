#include "kernels/hop_blocks.hpp"

#include <cstring>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "filter/costs.hpp"
#include "filter/hop_products.hpp"
#include "filter/panels.hpp"

/// Products on blocks of 64 rows, where there are `kernels::hop_block_kernels()`. Row v of the
/// transposed graph's hops says, in 64 columns at a time, how far those nodes are from v.
namespace ngf::filter {

namespace {

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
    parallel_ranges(nodes_, threads, [&](std::size_t begin, std::size_t end) {
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
  BriefVector<float> copy_;
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
void copy_blocks(const Hops& transposed, std::size_t first, std::size_t begin, std::size_t count,
                 std::uint8_t* to) {
  for (std::size_t v = 0; v < count; ++v) {
    const std::uint8_t* const row = transposed.row(static_cast<NodeId>(begin + v)).data();
    std::memcpy(to + v * block_hops, row + first, block_hops);
  }
}

/// Where those blocks are: `most` of them, or fewer where the matrix ends.
kernels::Lines blocks_from(const Hops& transposed, std::size_t first, std::size_t begin,
                           std::size_t most) {
  if (begin >= transposed.nodes()) return {};
  return {transposed.row(static_cast<NodeId>(begin)).data() + first, transposed.stride(),
          std::min<std::size_t>(most, transposed.nodes() - begin)};
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

/// Rows from their layout in a block: `transposed` holds the first column of all of them, then the
/// second, and so on.
void transpose_back(const float* transposed, std::size_t first, std::size_t rows,
                    SignalsSlice<float>& y) {
  constexpr std::size_t together = costs::block_columns;
  const auto columns = static_cast<std::size_t>(y.cols());
  for (std::size_t begin = 0; begin < columns; begin += together) {
    const std::size_t end = std::min(columns, begin + together);
    for (std::size_t i = 0; i < rows; ++i) {
      const float* const from = transposed + kernels::place_in_block<float>(i);
      float* const to = y.data() + (first + i) * static_cast<std::size_t>(y.outerStride());
      for (std::size_t f = begin; f < end; ++f) to[f] = from[f * block_hops];
    }
  }
}

/// The first column of some rows, then the second, and so on.
void transpose_rows(const Signals& x, std::size_t first, std::size_t rows, float* transposed) {
  const auto columns = static_cast<std::size_t>(x.cols());
  for (std::size_t i = 0; i < rows; ++i) {
    const float* const from = row(x, first + i);
    for (std::size_t f = 0; f < columns; ++f) transposed[f * block_hops + i] = from[f];
  }
}

bool lie_side_by_side(const Signals& a, const Signals& b) {
  return b.data() == a.data() + a.cols() && a.outerStride() == b.outerStride() &&
         a.outerStride() == a.cols() + b.cols();
}

/// The columns of a and b side by side.
BriefVector<float> join(const Signals& a, const Signals& b, int threads) {
  BriefVector<float> result(static_cast<std::size_t>(a.size() + b.size()));
  Eigen::Map<SignalsOf<float>> joined(result.data(), a.rows(), a.cols() + b.cols());
  parallel_ranges(static_cast<std::size_t>(a.rows()), threads,
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
/// itself has both orders already.
class BlockCorrelation {
 public:
  /// of_columns: x, or with `half` x beside g.
  BlockCorrelation(const Hops& transposed, const ShellFactors<float>& factors, const Signals& x,
                   const Signals& g, const float* of_columns, bool half)
      : transposed_(transposed),
        factors_(factors),
        x_(x),
        g_(g),
        of_columns_(of_columns),
        half_(half),
        columns_(static_cast<std::size_t>(x.cols())),
        stride_(half ? 2 * columns_ : static_cast<std::size_t>(x.outerStride())),
        tables_(factors, transposed.nodes(), false) {}

  Matrix run(int threads) const {
    const std::size_t nodes = transposed_.nodes();
    Matrix dots(transposed_.nodes(), static_cast<Eigen::Index>(hops()));
    for_each_block(transposed_.nodes(), threads, [&](std::size_t first, std::size_t rows) {
      Block block(*this, first, rows);
      if (half_) {
        block.add(first, first + rows, columns_);
        block.add(first + rows, nodes, 2 * columns_);
      } else {
        block.add(0, nodes, columns_);
      }
      for (std::size_t i = 0; i < rows; ++i) {
        const auto u = static_cast<NodeId>(first + i);
        double* const of_node = dots.row(u).data();
        of_node[0] = own_product(u);
        for (std::size_t k = 1; k < hops(); ++k) {
          of_node[k] =
              static_cast<double>(block.bin(k, i)) * static_cast<double>(factors_.of_row(k, u));
        }
      }
    });
    return dots;
  }

 private:
  /// Nodes v, and columns, that are multiplied before others, and stay in the nearest cache.
  static constexpr std::size_t nodes_together = costs::correlated_nodes;
  static constexpr std::size_t columns_together = costs::block_columns;

  class Block {
   public:
    Block(const BlockCorrelation& all, std::size_t first, std::size_t rows)
        : all_(all),
          first_(first),
          of_rows_(all.columns_ * (all.half_ ? 2 : 1) * block_hops, 0.0F),
          bins_(all.hops() * block_hops, 0.0F),
          products_(nodes_together * block_hops),
          weights_(all.tables_.step() > 0 ? products_.size() : 0) {
      transpose_rows(all.g_, first, rows, of_rows_.data());
      if (all.half_) transpose_rows(all.x_, first, rows, of_rows_.data() + of_rows_.size() / 2);
    }

    /// Adds the products with the nodes begin..end-1, summed over `columns` columns.
    void add(std::size_t begin, std::size_t end, std::size_t columns) {
      for (; begin < end; begin += nodes_together) {
        const std::size_t count = std::min(nodes_together, end - begin);
        const kernels::Lines blocks = blocks_from(all_.transposed_, first_, begin, count);
        multiply(begin, count, columns);
        if (all_.tables_.step() > 0) weigh(blocks, begin);
        kernels::hop_block_kernels()->add_block_by_hop(
            blocks.first, blocks.stride, products_.data(), count, all_.hops() - 1, bins_.data());
      }
    }

    float bin(std::size_t k, std::size_t row) const { return bins_[k * block_hops + row]; }

   private:
    void multiply(std::size_t begin, std::size_t count, std::size_t columns) {
      const kernels::Lines ahead =
          blocks_from(all_.transposed_, first_, begin + count, nodes_together);
      for (std::size_t f = 0; f < columns; f += columns_together) {
        for (std::size_t v = 0; v < count; v += most_block_columns) {
          // A few lines at a time: more would have to wait for each other.
          for (std::size_t i = v; f == 0 && i < std::min(v + most_block_columns, ahead.count);
               ++i) {
            __builtin_prefetch(ahead.first + i * ahead.stride);
          }
          kernels::hop_block_kernels()->multiply_transposed(
              of_rows_.data() + f * block_hops, all_.of_columns_ + (begin + v) * all_.stride_ + f,
              all_.stride_, std::min(columns_together, columns - f),
              std::min(most_block_columns, count - v), f > 0, products_.data() + v * block_hops);
        }
      }
    }

    /// Multiplies by the factors of the nodes v.
    void weigh(const kernels::Lines& blocks, std::size_t begin) {
      kernels::hop_block_kernels()->look_up_block(blocks.first, blocks.stride, blocks.count,
                                                  all_.tables_.from(begin), all_.tables_.step(),
                                                  weights_.data());
      for (std::size_t i = 0; i < blocks.count * block_hops; ++i) products_[i] *= weights_[i];
    }

    const BlockCorrelation& all_;
    std::size_t first_;
    AlignedVector<float> of_rows_;
    AlignedVector<float> bins_;
    AlignedVector<float> products_;
    AlignedVector<float> weights_;
  };

  std::size_t hops() const { return factors_.scale.size(); }

  /// Of a node with itself, the only pair at hop 0, where that counts.
  double own_product(NodeId u) const {
    const float factor = factors_.of_row(0, u);
    if (factor == 0.0F) return 0;
    return static_cast<double>(g_.row(u).dot(x_.row(u)) * *tables_.from(u)) *
           static_cast<double>(factor);
  }

  const Hops& transposed_;
  const ShellFactors<float>& factors_;
  const Signals& x_;
  const Signals& g_;
  const float* of_columns_;
  bool half_;
  std::size_t columns_;
  std::size_t stride_;  // of `of_columns_`
  BlockTables tables_;
};

const Hops& transposed_hops(const ShellSource& source) {
  return std::get<Hops>(source.transposed->held());
}

}  // namespace

void multiply_hop_blocks(const ShellSource& source, const ShellFactors<float>& factors,
                         const SignalsView<float>& x, SignalsSlice<float>& y) {
  constexpr std::size_t nodes_together = costs::block_nodes;
  const Hops& transposed = transposed_hops(source);
  const NodeId nodes = transposed.nodes();
  const BlockPanels panels(x, source.threads());
  const BlockTables tables(factors, nodes, true);
  for_each_block(nodes, source.threads(), [&](std::size_t first, std::size_t rows) {
    AlignedVector<std::uint8_t> blocks(nodes_together * block_hops);
    AlignedVector<float> sums(static_cast<std::size_t>(x.cols()) * block_hops, 0.0F);
    for (std::size_t begin = 0; begin < nodes; begin += nodes_together) {
      const std::size_t count = std::min(nodes_together, nodes - begin);
      copy_blocks(transposed, first, begin, count, blocks.data());
      kernels::Lines ahead = blocks_from(transposed, first, begin + count, nodes_together);
      for (std::size_t panel = 0; panel < panels.count(); ++panel) {
        kernels::hop_block_kernels()->multiply_block(
            blocks.data(), count, tables.from(begin), tables.step(), factors.scale.size() - 1,
            panels.from(panel, begin), panels.width(panel),
            sums.data() + panels.first(panel) * block_hops, ahead);
        ahead = {};
      }
    }
    transpose_back(sums.data(), first, rows, y);
  });
}

Matrix correlate_hop_blocks(const ShellSource& source, const ShellFactors<float>& factors,
                            const Signals& x, const Signals& g, bool half) {
  const Hops& transposed = transposed_hops(source);
  if (!half || lie_side_by_side(x, g)) {
    return BlockCorrelation(transposed, factors, x, g, x.data(), half).run(source.threads());
  }
  const auto beside = join(x, g, source.threads());
  return BlockCorrelation(transposed, factors, x, g, beside.data(), half).run(source.threads());
}

}  // namespace ngf::filter
