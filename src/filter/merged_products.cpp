#include "filter/merged_products.hpp"

#include <array>

#include "filter/class_signals.hpp"

namespace ngf::filter {

namespace {

/// One column, with factors that are the same for all nodes: by node, since a class is too little
/// work for a step of its own.
template <typename Real>
void multiply_merged_column(const ShellSource& shells, const Twins& twins,
                            const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                            SignalsSlice<Real>& y) {
  SignalRows<Real> of_classes_x(twins.classes(), 1);
  SignalRows<Real> of_classes_y(twins.classes(), 1);
  SignalsSlice<Real> sums = of_classes_x.signals();
  SignalsSlice<Real> products = of_classes_y.signals();
  const std::vector<NodeId>& class_of = twins.class_of;
  sums.setZero();
  for (std::size_t u = 0; u < class_of.size(); ++u) {
    sums(class_of[u], 0) += x(static_cast<Eigen::Index>(u), 0);
  }
  multiply_to<Real>(shells, of_classes(twins, factors), sums, products);
  // Twins are 1 hop or 2 apart; those that no path joins have nothing from each other.
  constexpr std::size_t no_path = 3;
  std::array<Real, no_path + 1> own{};
  std::copy_n(factors.scale.begin(), std::min(factors.scale.size(), no_path), own.begin());
  // So many nodes take longer than waking a thread.
  constexpr std::size_t step = 8192;
  const std::size_t steps = (class_of.size() + step - 1) / step;
  detail::parallel_for(steps, shells.options.threads, [&](std::size_t i) {
    for (std::size_t u = i * step; u < std::min(class_of.size(), (i + 1) * step); ++u) {
      const NodeId c = class_of[u];
      const Real x_u = x(static_cast<Eigen::Index>(u), 0);
      const std::size_t apart = std::min<std::size_t>(twins.apart[c], no_path);
      const Real of_twins = own[apart] * (sums(c, 0) - x_u);
      y(static_cast<Eigen::Index>(u), 0) = products(c, 0) + own[0] * x_u + of_twins;
    }
  });
}

}  // namespace

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y) {
  if (x.cols() == 1 && !factors.by_row() && !factors.by_column()) {
    return multiply_merged_column(shells, twins, factors, x, y);
  }
  const int threads = shells.options.threads;
  const RowRange classes{0, twins.classes()};
  SignalRows<Real> of_classes_x(classes.count(), x.cols());
  SignalRows<Real> of_classes_y(classes.count(), x.cols());
  SignalsSlice<Real> sums = of_classes_x.signals();
  SignalsSlice<Real> products = of_classes_y.signals();
  const NumberedRows<const Real> rows(x);
  for_each_class(classes, threads,
                 [&](NodeId c) { add_up(twins, c, rows, NumberedRows<Real>(sums)); });
  multiply_to<Real>(shells, of_classes(twins, factors), sums, products);
  for_each_class(classes, threads, [&](NodeId c) {
    spread(twins, c, factors, rows, NumberedRows<const Real>(sums), NumberedRows<Real>(products),
           NumberedRows<Real>(y));
  });
}

template <typename Real>
Matrix correlate_merged(const ShellSource& shells, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                        SignalsSlice<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  const RowRange classes{0, twins.classes()};
  // Side by side, as products of hops want them.
  SignalRows<Real> of_classes_both(classes.count(), x.cols(), 2);
  SignalsSlice<Real> sums = of_classes_both.signals(0);
  SignalsSlice<Real> sums_of_g = of_classes_both.signals(1);
  const NumberedRows<const Real> rows(x);
  const NumberedRows<const Real> rows_of_g(g);
  for_each_class(classes, threads, [&](NodeId c) {
    add_up(twins, c, rows, NumberedRows<Real>(sums));
    add_up(twins, c, rows_of_g, NumberedRows<Real>(sums_of_g));
  });
  SignalRows<Real> of_classes_y(classes.count(), product != nullptr ? x.cols() : 0);
  SignalsSlice<Real> products = of_classes_y.signals();
  const ShellFactors<Real> merged_of_product =
      of_classes(twins, product != nullptr ? *of_product : factors);
  Matrix dots =
      correlate<Real>(shells, of_classes(twins, factors), sums, sums_of_g, &merged_of_product,
                      product != nullptr ? &products : nullptr, totals);
  for_each_class(classes, threads, [&](NodeId c) {
    add_own(twins, c, factors, rows, rows_of_g, NumberedRows<const Real>(sums),
            NumberedRows<const Real>(sums_of_g), dots.data() + c * dots.cols());
    if (product == nullptr) return;
    spread(twins, c, *of_product, rows, NumberedRows<const Real>(sums),
           NumberedRows<Real>(products), NumberedRows<Real>(*product));
  });
  return dots;
}

#define NGF_INSTANTIATE(Real)                                                                   \
  template void multiply_merged(const ShellSource&, const Twins&, const ShellFactors<Real>&,    \
                                const SignalsView<Real>&, SignalsSlice<Real>);                  \
  template Matrix correlate_merged(const ShellSource&, const Twins&, const ShellFactors<Real>&, \
                                   const SignalsView<Real>&, const SignalsView<Real>&,          \
                                   const ShellFactors<Real>*, SignalsSlice<Real>*, bool);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
