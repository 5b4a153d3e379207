#include "filter/merged_products.hpp"

#include "filter/class_signals.hpp"

namespace ngf::filter {

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y) {
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
