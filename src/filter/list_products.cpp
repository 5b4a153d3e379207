#include "filter/list_products.hpp"

#include <array>
#include <optional>

#include "base/aligned.hpp"
#include "filter/pair_rows.hpp"

namespace ngf::filter {

namespace {

/// The row of one node, wherever its list is: as in `kernels::ListedRow`.
template <typename Column>
struct RowOfLists {
  NodeId node;
  const Column* columns;
  const std::uint32_t* places;
  const float* values;
};

/// Calls body(begin, count) for each block of rows, in parallel.
template <typename Body>
void for_each_row_block(std::size_t rows, int threads, const Body& body) {
  constexpr std::size_t step = costs::rows_at_once;
  parallel_for((rows + step - 1) / step, threads,
               [&](std::size_t block) { body(block * step, std::min(step, rows - block * step)); });
}

const float* values_of(const PairValues* values, NodeId u) {
  return values == nullptr ? nullptr : values->row(u);
}

template <typename Column>
class HeldRows {
 public:
  HeldRows(const ColumnLists<Column>& lists, const ShellSource& source)
      : lists_(lists),
        values_(source.values),
        nodes_(source.shells.nodes()),
        threads_(source.threads()) {}

  NodeId first() const { return lists_.rows().begin; }

  template <typename Real>
  PanelShape<Real> shape_for(Eigen::Index columns) const {
    return shape_of_tiles<Real>(columns, nodes_, 1);
  }

  /// For each block of nodes, in parallel, calls make() and then what that returns on each row.
  template <typename Make>
  void for_each(const Make& make) const {
    const RowRange& rows = lists_.rows();
    for_each_row_block(rows.count(), threads_, [&](std::size_t begin, std::size_t count) {
      auto visit = make();
      for (std::size_t i = begin; i < begin + count; ++i) {
        const NodeId u = rows.begin + static_cast<NodeId>(i);
        visit(
            RowOfLists<Column>{u, lists_.block(u), lists_.places(u).data(), values_of(values_, u)});
      }
    });
  }

 private:
  const ColumnLists<Column>& lists_;
  const PairValues* values_;
  NodeId nodes_;
  int threads_;
};

/// Rows that are found on the way. Panels are wide, since rows are found again for each.
class FoundRows {
 public:
  explicit FoundRows(const ShellSource& source)
      : shells_(source.shells), stream_(source.stream), progress_(source.progress) {}

  NodeId first() const { return shells_.rows().begin; }

  template <typename Real>
  static PanelShape<Real> shape_for(Eigen::Index columns) {
    return {columns, kernels::most_sum_lines};
  }
  template <typename Make>
  void for_each(const Make& make) const {
    const std::uint32_t hops = shells_.hops();
    const auto take = [&](const ShellRows<NodeId>& rows) {
      auto visit = make();
      std::vector<std::uint32_t> places(hops + std::size_t{1}, 0);
      std::optional<FoundWeights> weights;
      if (stream_ != nullptr) weights.emplace(*stream_);
      const NodeId* columns = rows.columns.data();
      for (std::size_t i = 0; i < rows.rows.size(); ++i) {
        const NodeId u = rows.rows[i];
        std::copy_n(rows.ends.data() + i * hops, hops, places.data() + 1);
        const float* const values = weights ? weights->of(u, {columns, places.back()}) : nullptr;
        visit(RowOfLists<NodeId>{u, columns, places.data(), values});
        columns += places.back();
      }
    };
    stream_shells(shells_.graph(), shells_.plan(), take, progress_);
  }

 private:
  const Shells& shells_;
  const PairStream* stream_;
  Progress* progress_;
};

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
            .right = right_.data(),
            .values = row.values};
  }

 private:
  RowScale<Real> scale_;
  std::vector<const Real*> right_;
};

template <typename Real, typename Rows>
void multiply_lists(const Rows& rows, const ShellFactors<Real>& factors, PanelByPanel<Real> x,
                    const Wanted<Real>& wanted) {
  const PanelShape<Real>& shape = x.shape();
  const auto& kernels = kernels::all_list_kernels();
  for (std::size_t panel = 0; panel < shape.count(); ++panel) {
    const Real* const signals = x.take(panel);
    rows.for_each([&] {
      return [&, of_rows = RowFactors<Real>(factors), sum = AlignedVector<Real>(shape.width()),
              padded = AlignedVector<Real>(shape.width())]<typename Column>(
                 const RowOfLists<Column>& row) mutable {
        auto listed = of_rows.listed(row);
        const NodeId place = row.node - rows.first();
        if (wanted.g != nullptr) {
          listed.g = row_of_panel(*wanted.g, shape, panel, place, padded.data());
          listed.dots = wanted.dots + place * factors.scale.size();
        }
        const bool apart = wanted.product == nullptr || shape.is_padded(panel);
        Real* const to = apart ? sum.data() : where_row_lies(*wanted.product, shape, panel, place);
        std::get<kernels::ListKernels<Column, Real>>(kernels).sum_shells(listed, signals,
                                                                         shape.lines(), to);
        if (apart && wanted.product != nullptr) copy_out(to, shape, panel, place, *wanted.product);
      };
    });
  }
}

}  // namespace

template <typename Real>
void sum_lists(const ShellSource& source, const ShellFactors<Real>& factors,
               const SignalsView<Real>& x, const Wanted<Real>& wanted) {
  on_lists(source.shells, [&](const auto& lists) {
    const HeldRows rows(lists, source);
    multiply_lists<Real>(rows, factors,
                         {x, rows.template shape_for<Real>(x.cols()), source.threads()}, wanted);
  });
}

template <typename Real>
void sum_streamed_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                        const SignalsView<Real>& x, const Wanted<Real>& wanted) {
  const FoundRows rows(source);
  multiply_lists<Real>(rows, factors, {x, rows.shape_for<Real>(x.cols()), source.threads()},
                       wanted);
}

/// Rows are read in the order of the layout; panels would not pay.
template <typename Real>
void sum_short_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                     const SignalsView<Real>& x, const Wanted<Real>& wanted) {
  on_lists(source.shells, [&]<typename Column>(const ColumnLists<Column>& lists) {
    using Rows = kernels::ShortRows<Column, Real>;
    const auto left = pointers(factors.left);
    const auto right = pointers(factors.right);
    const SignalsView<Real>* const g = wanted.g;
    SignalsSlice<Real>& y = *wanted.product;
    const std::vector<NodeId>& order = source.layout.order;
    const auto sum_rows = kernels::list_kernels<Column, Real>().sum_short_rows;
    for_each_row_block(order.size(), source.threads(), [&](std::size_t begin, std::size_t count) {
      std::array<typename Rows::Row, costs::rows_at_once> rows;
      for (std::size_t i = 0; i < count; ++i) {
        const NodeId u = order[begin + i];
        rows[i] = {u, lists.block(u), lists.places(u).data(), values_of(source.values, u)};
      }
      sum_rows(Rows{rows.data(), count, lists.rows().begin, lists.hops(), factors.scale.data(),
                    left.data(), right.data(), g != nullptr ? g->data() : nullptr,
                    g != nullptr ? static_cast<std::size_t>(g->outerStride()) : 0, wanted.dots},
               x.data(), static_cast<std::size_t>(x.outerStride()),
               static_cast<std::size_t>(x.cols()), y.data(),
               static_cast<std::size_t>(y.outerStride()));
    });
  });
}

#define NGF_INSTANTIATE(Real)                                                                      \
  template void sum_lists(const ShellSource&, const ShellFactors<Real>&, const SignalsView<Real>&, \
                          const Wanted<Real>&);                                                    \
  template void sum_streamed_lists(const ShellSource&, const ShellFactors<Real>&,                  \
                                   const SignalsView<Real>&, const Wanted<Real>&);                 \
  template void sum_short_lists(const ShellSource&, const ShellFactors<Real>&,                     \
                                const SignalsView<Real>&, const Wanted<Real>&);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
