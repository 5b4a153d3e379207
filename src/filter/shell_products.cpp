// Products of shells with signals, for lists of columns and for matrices of hops.

#include "filter/shell_products.hpp"

#include <algorithm>
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

/// Pairs in the shells, as planned.
std::uint64_t planned_pairs(const ShellSource& shells) {
  const std::vector<std::uint64_t>& pairs = shells.held.plan().pairs;
  return std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0});
}

/// Signals for sums of listed rows. Where few of them are read, copies would cost more than they
/// save: rows of signals that lie far apart get into each other's way in the caches.
template <typename Real>
Panels<Real> panels_for_lists(const ShellSource& shells, const SignalsView<Real>& x) {
  constexpr std::uint64_t few = 64;
  const bool in_place =
      shells.held.storage() == Storage::sparse && planned_pairs(shells) < few * shells.held.nodes();
  return {x, shape_for_lists<Real>(x.rows(), x.cols()), shells.options.threads, in_place};
}

/// The product by lists; each_row(make) is one of the above.
template <typename Real, typename EachRow>
void multiply_lists(const EachRow& each_row, const ShellFactors<Real>& factors,
                    const Panels<Real>& x, SignalsSlice<Real>& y) {
  for (std::size_t panel = 0; panel < x.shape().count(); ++panel) {
    each_row([&] {
      return [&, of_rows = RowFactors<Real>(factors),
              sum = AlignedVector<Real>(x.shape().width())](const auto& row) mutable {
        kernels::sum_shells(of_rows.listed(row), x.row(panel, 0), x.row_step(), x.shape().lines(),
                            sum.data());
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
        kernels::sum_shells(listed, x.row(panel, 0), x.row_step(), x.shape().lines(), sum.data());
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

}  // namespace

template <typename Real>
void multiply_to(const ShellSource& shells, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  by_form(
      shells,
      [&](const auto& each_row) {
        const Panels<Real> panels = panels_for_lists<Real>(shells, x);
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
  return by_form(
      shells,
      [&](const auto& each_row) {
        const Panels<Real> panels = panels_for_lists<Real>(shells, x);
        const Panels<Real> panels_of_g = panels_for_lists<Real>(shells, g);
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
