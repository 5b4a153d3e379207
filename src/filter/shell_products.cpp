// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <variant>

#include "detail/parallel.hpp"
#include "kernels/filter.hpp"

namespace ngf::filter {

namespace {

using detail::AlignedVector;
using detail::parallel_for;

/// Rows that one thread takes at a time.
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

/// Calls visit(k, sum) for each hop of node u, 0 included, with sum = (A_k diag(right[k]) X)_u, of
/// which `sum` has room for one. columns_at(k) are the nodes at hop k.
template <typename Real, typename ColumnsAt, typename Visit>
void for_each_sum(const ShellFactors<Real>& factors, const PaddedSignals<Real>& x, NodeId u,
                  const ColumnsAt& columns_at, AlignedVector<Real>& sum, const Visit& visit) {
  if (factors.skipped[0] == 0) {
    std::fill(sum.begin(), sum.end(), Real{0});
    add_scaled(at(factors.right[0], u), x.row(u), x.width(), sum.data());
    visit(std::size_t{0}, sum.data());
  }
  for (std::uint32_t k = 1; k < factors.left.size(); ++k) {
    if (factors.skipped[k] != 0) continue;
    const auto columns = columns_at(k);
    if (columns.empty()) continue;
    kernels::sum_rows(columns.data(), columns.size(), data_or_null(factors.right[k]), x.data(),
                      x.width(), x.width(), sum.data());
    visit(std::size_t{k}, sum.data());
  }
}

/// Calls visit(u, columns_at, sum) for each node, in parallel, of lists that are held; `sum` is
/// room for a row of signals of this width.
template <typename Real, typename Column, typename Visit>
void for_each_row(const ColumnLists<Column>& lists, NodeId nodes, int threads, std::size_t width,
                  const Visit& visit) {
  parallel_for(blocks_of(nodes), threads, [&](std::size_t block) {
    AlignedVector<Real> sum(width);
    const std::size_t end = std::min<std::size_t>(nodes, (block + 1) * block_rows);
    for (auto u = static_cast<NodeId>(block * block_rows); u < end; ++u) {
      visit(
          u, [&](std::uint32_t k) { return lists.columns(u, k); }, sum);
    }
  });
}

/// The same for lists that are found on the way.
template <typename Real, typename Visit>
void for_each_row(const Graph& graph, const ShellOptions& options, std::size_t width,
                  const Visit& visit) {
  stream_shells(graph, options, [&](const ShellRows<NodeId>& rows) {
    AlignedVector<Real> sum(width);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const auto ends = rows.ends.subspan(i * options.hops, options.hops);
      const auto columns_at = [&](std::uint32_t k) {
        const std::size_t first = k == 1 ? 0 : ends[k - 2];
        return rows.columns.subspan(begin + first, ends[k - 1] - first);
      };
      visit(rows.rows[i], columns_at, sum);
      begin += options.hops > 0 ? ends.back() : 0;
    }
  });
}

/// The product by lists; each_row(visit) calls visit(u, columns_at, sum) for each node.
template <typename Real, typename EachRow>
PaddedSignals<Real> multiply_lists(const EachRow& each_row, const ShellFactors<Real>& factors,
                                   const PaddedSignals<Real>& x, PaddedSignals<Real> y) {
  each_row([&](NodeId u, const auto& columns_at, AlignedVector<Real>& sum) {
    for_each_sum(factors, x, u, columns_at, sum, [&](std::size_t k, const Real* values) {
      add_scaled(at(factors.left[k], u), values, x.width(), y.row(u));
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

/// Numbers of each node and hop, added up by group and hop in the order of the nodes, so that the
/// sums do not depend on the threads.
class NodeSums {
 public:
  NodeSums(NodeId nodes, const Taps& taps)
      : taps_(taps), values_(nodes * taps.count(), 0), nodes_(nodes) {}

  double& at(NodeId u, std::size_t k) { return values_[u * taps_.count() + k]; }
  std::vector<double> by_group() const {
    std::vector<double> result(taps_.values().size(), 0);
    for (NodeId u = 0; u < nodes_; ++u) {
      for (std::size_t k = 0; k < taps_.count(); ++k) {
        result[taps_.group(u) * taps_.count() + k] += values_[u * taps_.count() + k];
      }
    }
    return result;
  }

 private:
  const Taps& taps_;
  std::vector<double> values_;
  NodeId nodes_;
};

template <typename Real, typename EachRow>
std::vector<double> correlate_lists(const EachRow& each_row, NodeId nodes,
                                    const ShellFactors<Real>& factors, const PaddedSignals<Real>& x,
                                    const PaddedSignals<Real>& g, const Taps& taps,
                                    PaddedSignals<Real>* product) {
  NodeSums sums(nodes, taps);
  each_row([&](NodeId u, const auto& columns_at, AlignedVector<Real>& sum) {
    for_each_sum(factors, x, u, columns_at, sum, [&](std::size_t k, const Real* values) {
      const Real left = at(factors.left[k], u);
      sums.at(u, k) = static_cast<double>(left) * dot(values, g.row(u), x.width());
      if (product == nullptr) return;
      add_scaled(left * static_cast<Real>(taps(u, k)), values, x.width(), product->row(u));
    });
  });
  return sums.by_group();
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
  NodeSums sums(nodes, taps);
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
          for (std::size_t k = 0; k < bins.size(); ++k) {
            sums.at(u, k) +=
                static_cast<double>(bins[k]) * static_cast<double>(at(factors.left[k], u));
          }
        }
      }
    }
  });
  return sums.by_group();
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

/// Calls on_lists(each_row) or on_hops(matrix), whatever holds the shells.
template <typename Real, typename OnLists, typename OnHops>
auto by_form(const ShellSource& shells, std::size_t width, const OnLists& on_lists,
             const OnHops& on_hops) {
  return std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate>) {
          return on_lists([&](const auto& visit) {
            for_each_row<Real>(shells.graph, shells.options, width, visit);
          });
        } else if constexpr (requires { held.hops(); }) {
          return on_lists([&](const auto& visit) {
            for_each_row<Real>(held, shells.held.nodes(), shells.options.threads, width, visit);
          });
        } else {
          return on_hops(held);
        }
      },
      shells.held.held());
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
SignalsOf<Real> multiply(const ShellSource& shells, const ShellFactors<Real>& factors,
                         const SignalsOf<Real>& x) {
  const PaddedSignals<Real> padded(x);
  PaddedSignals<Real> y(x.rows(), x.cols());
  return by_form<Real>(
             shells, padded.width(),
             [&](const auto& each_row) {
               return multiply_lists(each_row, factors, padded, std::move(y));
             },
             [&](const auto& matrix) {
               return multiply_hops(matrix, factors, padded, std::move(y), shells.options.threads);
             })
      .unpadded();
}

template <typename Real>
std::vector<double> correlate(const ShellSource& shells, const ShellFactors<Real>& factors,
                              const SignalsOf<Real>& x, const SignalsOf<Real>& g, const Taps& taps,
                              SignalsOf<Real>* product) {
  const PaddedSignals<Real> padded(x);
  const PaddedSignals<Real> padded_g(g);
  const NodeId nodes = shells.held.nodes();
  return by_form<Real>(
      shells, padded.width(),
      [&](const auto& each_row) {
        PaddedSignals<Real> y(product != nullptr ? x.rows() : 0, x.cols());
        auto sums = correlate_lists(each_row, nodes, factors, padded, padded_g, taps,
                                    product != nullptr ? &y : nullptr);
        if (product != nullptr) *product = y.unpadded();
        return sums;
      },
      [&](const auto& matrix) {
        if (product != nullptr) {
          *product = multiply_hops(matrix, with_taps(factors, taps, nodes), padded,
                                   PaddedSignals<Real>(x.rows(), x.cols()), shells.options.threads)
                         .unpadded();
        }
        return correlate_hops(matrix, factors, padded, padded_g, taps, shells.options.threads);
      });
}

template class PaddedSignals<float>;
template class PaddedSignals<double>;
template SignalsOf<float> multiply(const ShellSource&, const ShellFactors<float>&,
                                   const SignalsOf<float>&);
template SignalsOf<double> multiply(const ShellSource&, const ShellFactors<double>&,
                                    const SignalsOf<double>&);
template std::vector<double> correlate(const ShellSource&, const ShellFactors<float>&,
                                       const SignalsOf<float>&, const SignalsOf<float>&,
                                       const Taps&, SignalsOf<float>*);
template std::vector<double> correlate(const ShellSource&, const ShellFactors<double>&,
                                       const SignalsOf<double>&, const SignalsOf<double>&,
                                       const Taps&, SignalsOf<double>*);

}  // namespace ngf::filter
