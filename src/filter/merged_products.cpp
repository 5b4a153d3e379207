// Products where twins are merged: the shells are those of a smaller graph.

#include <array>

#include "filter/class_signals.hpp"
#include "filter/costs.hpp"
#include "filter/shell_products.hpp"

namespace ngf::filter {

namespace {

/// One column, with factors that are the same for all nodes: by node, since a class is too little
/// work for a step of its own.
template <typename Real>
void multiply_merged_column(const ShellSource& source, ProductForm form, const Twins& twins,
                            const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                            SignalsSlice<Real>& y) {
  const RowRange classes = source.shells.rows();
  const RowRange nodes = twins.members_of(classes);
  SignalRows<Real> of_classes_x(twins.classes(), 1);
  SignalRows<Real> of_classes_y(classes.count(), 1);
  SignalsSlice<Real> sums = of_classes_x.signals();
  SignalsSlice<Real> products = of_classes_y.signals();
  const std::vector<NodeId>& class_of = twins.class_of;
  sums.setZero();
  for (std::size_t u = 0; u < class_of.size(); ++u) {
    sums(class_of[u], 0) += x(static_cast<Eigen::Index>(u), 0);
  }
  const ShellFactors<Real> merged = of_classes(twins, factors);
  multiply<Real>(source, form, merged, sums, products);
  // Twins are 1 hop or 2 apart; those that no path joins have nothing from each other.
  constexpr std::size_t no_path = 3;
  std::array<Real, no_path + 1> own{};
  std::copy_n(factors.scale.begin(), std::min(factors.scale.size(), no_path), own.begin());
  constexpr std::size_t step = costs::nodes_per_wake;
  const std::size_t steps = (nodes.count() + step - 1) / step;
  parallel_for(steps, source.threads(), [&](std::size_t i) {
    const std::size_t end = std::min<std::size_t>(nodes.end, nodes.begin + (i + 1) * step);
    for (std::size_t u = nodes.begin + i * step; u < end; ++u) {
      const NodeId c = class_of[u];
      const Real x_u = x(static_cast<Eigen::Index>(u), 0);
      const std::size_t apart = std::min<std::size_t>(twins.apart[c], no_path);
      const Real of_twins = own[apart] * (sums(c, 0) - x_u);
      y(static_cast<Eigen::Index>(u - nodes.begin), 0) =
          products(c - classes.begin, 0) + own[0] * x_u + of_twins;
    }
  });
}

}  // namespace

template <typename Real>
void multiply_merged(const ShellSource& source, ProductForm form, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real>& y) {
  if (x.cols() == 1 && !factors.by_row() && !factors.by_column()) {
    return multiply_merged_column(source, form, twins, factors, x, y);
  }
  const int threads = source.threads();
  const RowRange classes = source.shells.rows();
  SignalRows<Real> of_classes_x(twins.classes(), x.cols());
  SignalRows<Real> of_classes_y(classes.count(), x.cols());
  SignalsSlice<Real> sums = of_classes_x.signals();
  SignalsSlice<Real> products = of_classes_y.signals();
  const NumberedRows<const Real> rows(x);
  for_each_class({0, twins.classes()}, threads,
                 [&](NodeId c) { add_up(twins, c, rows, NumberedRows<Real>(sums)); });
  const ShellFactors<Real> merged = of_classes(twins, factors);
  multiply<Real>(source, form, merged, sums, products);
  const NodeId first = twins.members_of(classes).begin;
  for_each_class(classes, threads, [&](NodeId c) {
    spread(twins, c, factors, rows, NumberedRows<const Real>(sums),
           NumberedRows<Real>(products, classes.begin), NumberedRows<Real>(y, first));
  });
}

template <typename Real>
Matrix correlate_merged(const ShellSource& source, ProductForm form, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const AlsoProduct<Real>& product, bool totals) {
  const int threads = source.threads();
  const RowRange classes = source.shells.rows();
  const NodeId first = twins.members_of(classes).begin;
  const bool all = classes.count() == twins.classes();
  // Where all rows are here they lie side by side, as products of hops want them.
  SignalRows<Real> of_classes_x(twins.classes(), x.cols(), all ? 2 : 1);
  SignalRows<Real> of_classes_g(all ? 0 : classes.count(), x.cols());
  SignalsSlice<Real> sums = of_classes_x.signals(0);
  SignalsSlice<Real> sums_of_g = all ? of_classes_x.signals(1) : of_classes_g.signals();
  const NumberedRows<const Real> rows(x);
  const NumberedRows<const Real> rows_of_g(g, first);
  for_each_class({0, twins.classes()}, threads,
                 [&](NodeId c) { add_up(twins, c, rows, NumberedRows<Real>(sums)); });
  for_each_class(classes, threads, [&](NodeId c) {
    add_up(twins, c, rows_of_g, NumberedRows<Real>(sums_of_g, classes.begin));
  });
  const bool with_product = product.to != nullptr;
  SignalRows<Real> of_classes_y(with_product ? classes.count() : 0, x.cols());
  SignalsSlice<Real> products = of_classes_y.signals();
  const ShellFactors<Real> merged = of_classes(twins, factors);
  const ShellFactors<Real> merged_of_product =
      with_product ? of_classes(twins, *product.factors) : merged;
  Matrix dots = correlate<Real>(source, form, merged, sums, sums_of_g,
                                {&merged_of_product, with_product ? &products : nullptr}, totals);
  for_each_class(classes, threads, [&](NodeId c) {
    add_own(twins, c, factors, rows, rows_of_g, NumberedRows<const Real>(sums),
            NumberedRows<const Real>(sums_of_g, classes.begin),
            dots.data() + (c - classes.begin) * dots.cols());
    if (!with_product) return;
    spread(twins, c, *product.factors, rows, NumberedRows<const Real>(sums),
           NumberedRows<Real>(products, classes.begin), NumberedRows<Real>(*product.to, first));
  });
  return dots;
}

#define NGF_INSTANTIATE(Real)                                                           \
  template void multiply_merged(const ShellSource&, ProductForm, const Twins&,          \
                                const ShellFactors<Real>&, const SignalsView<Real>&,    \
                                SignalsSlice<Real>&);                                   \
  template Matrix correlate_merged(const ShellSource&, ProductForm, const Twins&,       \
                                   const ShellFactors<Real>&, const SignalsView<Real>&, \
                                   const SignalsView<Real>&, const AlsoProduct<Real>&, bool);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
