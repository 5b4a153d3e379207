// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "detail/fail.hpp"
#include "detail/parallel.hpp"
#include "kernels/filter.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::parallel_for;

/// Rows that one thread takes at a time. Sums over nodes are added up block by block in order, so
/// that they do not depend on the threads.
constexpr std::size_t block_rows = 64;

std::size_t blocks_of(NodeId nodes) { return (nodes + block_rows - 1) / block_rows; }

/// The factor at u; ones where there are none.
template <typename Real>
Real at(const std::vector<Real>& factors, std::size_t u) {
  return factors.empty() ? Real{1} : factors[u];
}

template <typename Real>
const Real* data_or_null(const std::vector<Real>& factors) {
  return factors.empty() ? nullptr : factors.data();
}

template <typename Real>
double dot(const Real* a, const Real* b, std::size_t width) {
  Real sum = 0;
  for (std::size_t f = 0; f < width; ++f) sum += a[f] * b[f];
  return static_cast<double>(sum);
}

template <typename Real>
void add_scaled(Real factor, const Real* from, std::size_t width, Real* to) {
  for (std::size_t f = 0; f < width; ++f) to[f] += factor * from[f];
}

/// Calls visit(u, k, sum) for each node and hop of a block, 0 included, with
/// sum = (A_k diag(right[k]) X)_u.
template <typename Column, typename Real, typename Visit>
void for_each_sum(const ColumnLists<Column>& lists, const ShellFactors<Real>& factors,
                  const PaddedSignals<Real>& x, NodeId begin, NodeId end, const Visit& visit) {
  AlignedVector<Real> sum(x.width());
  for (NodeId u = begin; u < end; ++u) {
    if (factors.skipped[0] == 0) {
      std::fill(sum.begin(), sum.end(), Real{0});
      add_scaled(at(factors.right[0], u), x.row(u), x.width(), sum.data());
      visit(u, std::size_t{0}, sum.data());
    }
    for (std::uint32_t k = 1; k <= lists.hops(); ++k) {
      if (factors.skipped[k] != 0) continue;
      const auto columns = lists.columns(u, k);
      if (columns.empty()) continue;
      kernels::sum_rows(columns.data(), columns.size(), data_or_null(factors.right[k]), x.data(),
                        x.width(), x.width(), sum.data());
      visit(u, std::size_t{k}, sum.data());
    }
  }
}

template <typename Column, typename Real>
PaddedSignals<Real> multiply_lists(const ColumnLists<Column>& lists, NodeId nodes,
                                   const ShellFactors<Real>& factors, const PaddedSignals<Real>& x,
                                   PaddedSignals<Real> y, int threads) {
  parallel_for(blocks_of(nodes), threads, [&](std::size_t block) {
    const auto begin = static_cast<NodeId>(block * block_rows);
    const auto end = static_cast<NodeId>(std::min<std::size_t>(nodes, begin + block_rows));
    for_each_sum(lists, factors, x, begin, end, [&](NodeId u, std::size_t k, const Real* sum) {
      add_scaled(at(factors.left[k], u), sum, x.width(), y.row(u));
    });
  });
  return y;
}

/// Columns of a matrix of hops that become numbers at a time.
constexpr std::size_t chunk = 512;

/// The weights of row u for some columns, from their hops.
template <typename Hop, typename Real>
class RowWeights {
 public:
  RowWeights(const ShellFactors<Real>& factors, NodeId u) : factors_(factors) {
    for (std::size_t k = 0; k < factors.left.size(); ++k) {
      table_.push_back(factors.skipped[k] != 0 ? Real{0} : at(factors.left[k], u));
      by_column_ = by_column_ || !factors.right[k].empty();
    }
  }

  void write(const Hop* hops, std::size_t first, std::size_t count, Real* w) const {
    if constexpr (sizeof(Hop) == 1) {
      kernels::look_up(hops, count, table_.data(), table_.size() - 1, w);
    } else {
      for (std::size_t v = 0; v < count; ++v) w[v] = hops[v] < table_.size() ? table_[hops[v]] : 0;
    }
    if (!by_column_) return;
    for (std::size_t v = 0; v < count; ++v) {
      if (hops[v] < table_.size()) w[v] *= at(factors_.right[hops[v]], first + v);
    }
  }

 private:
  const ShellFactors<Real>& factors_;
  std::vector<Real> table_;
  bool by_column_ = false;
};

template <typename Hop, typename Real>
PaddedSignals<Real> multiply_hops(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                                  const PaddedSignals<Real>& x, PaddedSignals<Real> y,
                                  int threads) {
  constexpr std::size_t together = kernels::rows_together;
  const NodeId nodes = matrix.nodes();
  parallel_for((nodes + together - 1) / together, threads, [&](std::size_t block) {
    const std::size_t first = block * together;
    const std::size_t rows = std::min<std::size_t>(together, nodes - first);
    std::vector<RowWeights<Hop, Real>> weights;
    for (std::size_t r = 0; r < rows; ++r) {
      weights.emplace_back(factors, static_cast<NodeId>(first + r));
    }
    AlignedVector<Real> w(together * chunk);
    for (std::size_t begin = 0; begin < nodes; begin += chunk) {
      const std::size_t count = std::min(chunk, nodes - begin);
      for (std::size_t r = 0; r < rows; ++r) {
        const Hop* const hops = matrix.row(static_cast<NodeId>(first + r)).data() + begin;
        weights[r].write(hops, begin, count, w.data() + r * chunk);
      }
      kernels::multiply_rows(w.data(), chunk, rows, x.row(begin), x.width(), count, x.width(),
                             y.row(first), y.width());
    }
  });
  return y;
}

/// Sums of each block of nodes, by group and hop, added up in the order of the blocks.
class BlockSums {
 public:
  BlockSums(NodeId nodes, std::size_t sums)
      : blocks_(blocks_of(nodes), std::vector<double>(sums, 0)) {}

  std::vector<double>& of(std::size_t block) { return blocks_[block]; }
  std::vector<double> total() const {
    std::vector<double> result(blocks_.empty() ? 0 : blocks_[0].size(), 0);
    for (const auto& block : blocks_) {
      for (std::size_t i = 0; i < result.size(); ++i) result[i] += block[i];
    }
    return result;
  }

 private:
  std::vector<std::vector<double>> blocks_;
};

template <typename Column, typename Real>
std::vector<double> correlate_lists(const ColumnLists<Column>& lists, NodeId nodes,
                                    const ShellFactors<Real>& factors, const PaddedSignals<Real>& x,
                                    const PaddedSignals<Real>& g, const Taps& taps, int threads,
                                    PaddedSignals<Real>* product) {
  BlockSums sums(nodes, taps.values().size());
  parallel_for(blocks_of(nodes), threads, [&](std::size_t block) {
    const auto begin = static_cast<NodeId>(block * block_rows);
    const auto end = static_cast<NodeId>(std::min<std::size_t>(nodes, begin + block_rows));
    for_each_sum(lists, factors, x, begin, end, [&](NodeId u, std::size_t k, const Real* sum) {
      const Real left = at(factors.left[k], u);
      sums.of(block)[taps.group(u) * taps.count() + k] +=
          static_cast<double>(left) * dot(sum, g.row(u), x.width());
      if (product != nullptr) {
        add_scaled(left * static_cast<Real>(taps(u, k)), sum, x.width(), product->row(u));
      }
    });
  });
  return sums.total();
}

/// <x_u, g_v> for all pairs, a tile at a time, added up by their hops.
template <typename Hop, typename Real>
std::vector<double> correlate_hops(const HopMatrix<Hop>& matrix, const ShellFactors<Real>& factors,
                                   const PaddedSignals<Real>& x, const PaddedSignals<Real>& g,
                                   const Taps& taps, int threads) {
  constexpr std::size_t together = kernels::rows_together;
  const NodeId nodes = matrix.nodes();
  // Columns of X side by side.
  const std::size_t padded = (nodes + chunk - 1) / chunk * chunk;
  AlignedVector<Real> turned(x.width() * padded, Real{0});
  for (std::size_t v = 0; v < nodes; ++v) {
    for (std::size_t f = 0; f < x.width(); ++f) turned[f * padded + v] = x.row(v)[f];
  }
  BlockSums sums(nodes, taps.values().size());
  parallel_for(blocks_of(nodes), threads, [&](std::size_t block) {
    AlignedVector<Real> products(together * chunk);
    std::vector<Real> bins(taps.count());
    for (std::size_t first = block * block_rows;
         first < std::min<std::size_t>(nodes, (block + 1) * block_rows); first += together) {
      const std::size_t rows = std::min<std::size_t>(together, nodes - first);
      for (std::size_t begin = 0; begin < nodes; begin += chunk) {
        std::fill(products.begin(), products.end(), Real{0});
        kernels::multiply_rows(g.row(first), g.width(), rows, turned.data() + begin, padded,
                               x.width(), chunk, products.data(), chunk);
        const std::size_t count = std::min(chunk, nodes - begin);
        for (std::size_t r = 0; r < rows; ++r) {
          const auto u = static_cast<NodeId>(first + r);
          const Hop* const hops = matrix.row(u).data() + begin;
          std::fill(bins.begin(), bins.end(), Real{0});
          for (std::size_t v = 0; v < count; ++v) {
            if (hops[v] >= bins.size()) continue;
            bins[hops[v]] += products[r * chunk + v] * at(factors.right[hops[v]], begin + v);
          }
          double* const to = sums.of(block).data() + taps.group(u) * taps.count();
          for (std::size_t k = 0; k < bins.size(); ++k) {
            to[k] += static_cast<double>(bins[k]) * static_cast<double>(at(factors.left[k], u));
          }
        }
      }
    }
  });
  return sums.total();
}

/// The factors with the taps in the left ones.
template <typename Real>
ShellFactors<Real> with_taps(const ShellFactors<Real>& factors, const Taps& taps, NodeId nodes) {
  ShellFactors<Real> result = factors;
  for (std::size_t k = 0; k < taps.count(); ++k) {
    result.left[k].resize(nodes);
    for (NodeId u = 0; u < nodes; ++u) {
      result.left[k][u] = at(factors.left[k], u) * static_cast<Real>(taps(u, k));
    }
  }
  return result;
}

[[noreturn]] void refuse_stream() {
  detail::fail(
      "the shells do not fit into memory, and filters that stream them are not there yet; raise "
      "--memory or take fewer taps");
}

}  // namespace

template <typename Real>
PaddedSignals<Real>::PaddedSignals(Eigen::Index rows, Eigen::Index columns)
    : rows_(rows), columns_(columns) {
  constexpr std::size_t lanes = kernels::lanes_of<Real>;
  const auto wanted = static_cast<std::size_t>(columns);
  width_ = columns == 1 ? 1 : (wanted + lanes - 1) / lanes * lanes;
  values_.assign(static_cast<std::size_t>(rows) * width_, Real{0});
}

template <typename Real>
PaddedSignals<Real>::PaddedSignals(const SignalsOf<Real>& x) : PaddedSignals(x.rows(), x.cols()) {
  for (Eigen::Index u = 0; u < rows_; ++u) {
    std::copy_n(x.data() + u * columns_, columns_, row(static_cast<std::size_t>(u)));
  }
}

template <typename Real>
SignalsOf<Real> PaddedSignals<Real>::unpadded() const {
  SignalsOf<Real> result(rows_, columns_);
  for (Eigen::Index u = 0; u < rows_; ++u) {
    std::copy_n(row(static_cast<std::size_t>(u)), columns_, result.data() + u * columns_);
  }
  return result;
}

template <typename Real>
SignalsOf<Real> multiply(const Shells& shells, const ShellFactors<Real>& factors,
                         const SignalsOf<Real>& x, int threads) {
  const PaddedSignals<Real> padded(x);
  PaddedSignals<Real> y(x.rows(), x.cols());
  const auto product = [&](const auto& held) -> PaddedSignals<Real> {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, std::monostate>) {
      if (shells.nodes() > 0) refuse_stream();
      return std::move(y);
    } else if constexpr (requires { held.hops(); }) {
      return multiply_lists(held, shells.nodes(), factors, padded, std::move(y), threads);
    } else {
      return multiply_hops(held, factors, padded, std::move(y), threads);
    }
  };
  return std::visit(product, shells.held()).unpadded();
}

template <typename Real>
std::vector<double> correlate(const Shells& shells, const ShellFactors<Real>& factors,
                              const SignalsOf<Real>& x, const SignalsOf<Real>& g, const Taps& taps,
                              int threads, SignalsOf<Real>* product) {
  const PaddedSignals<Real> padded(x);
  const PaddedSignals<Real> padded_g(g);
  const auto sums = [&](const auto& held) -> std::vector<double> {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, std::monostate>) {
      if (shells.nodes() > 0) refuse_stream();
      return std::vector<double>(taps.values().size(), 0);
    } else if constexpr (requires { held.hops(); }) {
      if (product == nullptr) {
        return correlate_lists<std::remove_cvref_t<decltype(held.columns(0, 1)[0])>, Real>(
            held, shells.nodes(), factors, padded, padded_g, taps, threads, nullptr);
      }
      PaddedSignals<Real> y(x.rows(), x.cols());
      auto result =
          correlate_lists(held, shells.nodes(), factors, padded, padded_g, taps, threads, &y);
      *product = y.unpadded();
      return result;
    } else {
      if (product != nullptr) {
        *product = multiply_hops(held, with_taps(factors, taps, shells.nodes()), padded,
                                 PaddedSignals<Real>(x.rows(), x.cols()), threads)
                       .unpadded();
      }
      return correlate_hops(held, factors, padded, padded_g, taps, threads);
    }
  };
  return std::visit(sums, shells.held());
}

template class PaddedSignals<float>;
template class PaddedSignals<double>;
template SignalsOf<float> multiply(const Shells&, const ShellFactors<float>&,
                                   const SignalsOf<float>&, int);
template SignalsOf<double> multiply(const Shells&, const ShellFactors<double>&,
                                    const SignalsOf<double>&, int);
template std::vector<double> correlate(const Shells&, const ShellFactors<float>&,
                                       const SignalsOf<float>&, const SignalsOf<float>&,
                                       const Taps&, int, SignalsOf<float>*);
template std::vector<double> correlate(const Shells&, const ShellFactors<double>&,
                                       const SignalsOf<double>&, const SignalsOf<double>&,
                                       const Taps&, int, SignalsOf<double>*);

}  // namespace ngf::filter
