
#include "filter/checks.hpp"
#include "filter/shift_products.hpp"

namespace ngf {

namespace {

/// All rows are here.
struct SameRows {
  template <typename Signals>
  const Signals& operator()(const Signals& x) const {
    return x;
  }
};

template <typename Real>
filter::ShiftProducts<Real, SameRows> products(const PolynomialFilter& filter, Progress* progress) {
  return {filter.shift(), filter.taps(), SameRows(), progress};
}

}  // namespace

PolynomialFilter::PolynomialFilter(const Graph& graph, Taps taps, Shift shift, int threads,
                                   Progress* progress)
    : taps_(std::move(taps)) {
  filter::check_taps(taps_, graph.nodes());
  shift_ = std::make_shared<const ShiftOperator>(graph, shift, threads, RowRange(), progress);
}

void PolynomialFilter::set_taps(Taps taps) {
  filter::check_taps(taps, nodes());
  taps_ = std::move(taps);
}

double PolynomialFilter::flops(std::int64_t width) const {
  return filter::shift_flops(*shift_, taps_.count(), width);
}

template <typename Real>
void PolynomialFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  products<Real>(*this, progress).apply(x, y);
}

template <typename Real>
void PolynomialFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                          Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  products<Real>(*this, progress).apply_transpose(x, y);
}

template <typename Real>
std::vector<double> PolynomialFilter::gradients_to(const SignalsView<Real>& x,
                                                   const SignalsView<Real>& by_output,
                                                   SignalsSlice<Real> by_input,
                                                   Progress* progress) const {
  filter::check_gradients<Real>(x, by_output, by_input, nodes(), rows());
  return products<Real>(*this, progress).gradients(x, by_output, by_input);
}

NGF_DEFINE_FILTER(PolynomialFilter)

}  // namespace ngf
