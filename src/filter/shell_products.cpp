// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
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

/// Pointers to the factors that there are.
template <typename Real>
std::vector<const Real*> pointers(const std::vector<std::vector<Real>>& factors) {
  std::vector<const Real*> result;
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
    return {row.node,     row.columns,   row.begin, row.ends, scale.size() - 1,
            scale.data(), right_.data(), nullptr,   nullptr};
  }

 private:
  RowScale<Real> scale_;
  std::vector<const Real*> right_;
};

/// Panels for sums of listed rows: as wide as their rows still fit into the caches, but no narrower
/// than a line.
template <typename Real>
PanelShape<Real> shape_for_lists(Eigen::Index rows, Eigen::Index columns) {
  constexpr std::size_t in_caches = std::size_t{1} << 20;
  std::size_t lines = kernels::most_sum_lines / 2;
  while (lines > 1 && static_cast<std::size_t>(rows) * lines * 64 > in_caches) lines /= 2;
  return {columns, lines};
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

/// The same for lists of short rows, which do not pay for panels. Where g is given, `dots` of each
/// node and shell grow by <g, (shell X)>, the shells without the factors of their rows.
template <typename Real, typename Column>
void multiply_short_lists(const ColumnLists<Column>& lists, std::span<const NodeId> order,
                          const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                          SignalsSlice<Real>& y, int threads, const SignalsOf<Real>* g = nullptr,
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
             g != nullptr ? g->data() : nullptr, static_cast<std::size_t>(x.cols()), dots},
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
  multiply_by_rows(factors, dots);
  return dots;
}

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

std::vector<NodeId> order_of_short_rows(const Shells& shells) {
  constexpr std::uint64_t few = 128;
  const std::vector<std::uint64_t> pairs = shells.pairs();
  const auto total = std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0});
  std::vector<NodeId> result;
  if (pairs.size() < 2 || total >= few * shells.nodes()) return result;
  on_lists(shells, [&](const auto& lists) { result = search_order(lists, shells.nodes()); });
  return result;
}

template <typename Real>
void multiply_to(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  if (x.cols() > 1 && !shells.order.empty()) {
    on_lists(shells.held, [&](const auto& lists) {
      multiply_short_lists<Real>(lists, shells.order, factors, x, y, threads);
    });
    return;
  }
  by_form(
      shells,
      [&](const auto& each_row) {
        const Panels<Real> panels(x, shape_for_lists<Real>(x.rows(), x.cols()), threads);
        multiply_lists(each_row, factors, panels, y);
      },
      [&](const auto& matrix) {
        multiply_hops<std::remove_cvref_t<decltype(matrix(0, 0))>, Real>(
            matrix, turned_of(matrix, shells), factors, x, y, threads);
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
  if (slice && x.cols() > 1 && !shells.order.empty()) {
    Matrix dots = Matrix::Zero(x.rows(), static_cast<Eigen::Index>(factors.scale.size()));
    on_lists(shells.held, [&](const auto& lists) {
      multiply_short_lists<Real>(lists, shells.order, *of_product, x, *slice, threads, &g,
                                 dots.data());
    });
    multiply_by_rows(factors, dots);
    return dots;
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
        const auto* const turned = turned_of(matrix, shells);
        using Hop = std::remove_cvref_t<decltype(matrix(0, 0))>;
        if (slice) multiply_hops<Hop, Real>(matrix, turned, *of_product, x, *slice, threads);
        const bool half = totals && !factors.by_row() && !factors.by_column();
        return correlate_hops(matrix, turned, factors, x, g, half, threads);
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
