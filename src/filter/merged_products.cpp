#include "filter/merged_products.hpp"

#include <algorithm>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"

namespace ngf::filter {

namespace {

/// Rows of signals, one behind the other or apart.
template <typename Real>
struct Rows {
  Real* first;
  std::size_t stride;
  std::size_t columns;

  template <typename Signals>
  explicit Rows(Signals& of)
      : first(of.data()),
        stride(static_cast<std::size_t>(of.outerStride())),
        columns(static_cast<std::size_t>(of.cols())) {}

  Real* operator[](std::size_t u) const { return first + u * stride; }
};

/// One or more rows of signals for each class of twins, side by side.
template <typename Real>
class ClassSignals {
 public:
  ClassSignals(const Twins& twins, Eigen::Index columns, Eigen::Index side_by_side = 1)
      : classes_(twins.classes()),
        columns_(columns),
        stride_(columns * side_by_side),
        values_(static_cast<std::size_t>(classes_ * stride_)) {}

  SignalsSlice<Real> signals(Eigen::Index place = 0) {
    using Slice = Eigen::Map<SignalsOf<Real>, 0, Eigen::OuterStride<>>;
    return Slice(values_.data() + place * columns_, classes_, columns_,
                 Eigen::OuterStride<>(stride_));
  }

 private:
  Eigen::Index classes_;
  Eigen::Index columns_;
  Eigen::Index stride_;
  detail::BriefVector<Real> values_;
};

/// Calls body(class) for each class, in parallel.
template <typename Body>
void for_each_class(const Twins& twins, int threads, const Body& body) {
  detail::parallel_ranges(twins.classes(), threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) body(static_cast<NodeId>(c));
  });
}

/// Row c of the sums: the signals of class c, added up.
template <typename Real>
void add_up(const Twins& twins, NodeId c, const Rows<const Real>& x, const Rows<Real>& sums) {
  Real* const to = sums[c];
  std::copy_n(x[twins.first(c)], x.columns, to);
  for (const NodeId u : twins.of_class(c).subspan(1)) {
    const Real* const from = x[u];
    for (std::size_t f = 0; f < x.columns; ++f) to[f] += from[f];
  }
}

/// The factors of the classes, without shell 0: only a node by itself is at hop 0 of it.
template <typename Real>
ShellFactors<Real> of_classes(const Twins& twins, const ShellFactors<Real>& factors) {
  ShellFactors<Real> result = factors;
  for (auto* const sides : {&result.left, &result.right}) {
    for (std::vector<Real>& side : *sides) {
      if (side.empty()) continue;
      for (NodeId c = 0; c < twins.classes(); ++c) side[c] = side[twins.first(c)];
      side.resize(twins.classes());
    }
  }
  result.scale[0] = 0;
  return result;
}

/// The factor of a pair of node u and itself or a twin, `hops` apart.
template <typename Real>
Real factor_at(const ShellFactors<Real>& factors, std::uint32_t hops, NodeId u) {
  if (hops >= factors.scale.size()) return 0;
  const Real of_row = factors.of_row(hops, u);
  return factors.right[hops].empty() ? of_row : of_row * factors.right[hops][u];
}

/// The products of the nodes of class c from that of the class: what a node has from itself and its
/// twins is added.
template <typename Real>
void spread(const Twins& twins, NodeId c, const ShellFactors<Real>& factors,
            const Rows<const Real>& x, const Rows<Real>& sums, const Rows<Real>& products,
            const Rows<Real>& y) {
  const Real own = factor_at(factors, 0, twins.first(c));
  const bool alone = twins.of_class(c).size() == 1;
  const Real of_twins = alone ? Real{0} : factor_at(factors, twins.apart[c], twins.first(c));
  for (const NodeId u : twins.of_class(c)) {
    const Real *const x_u = x[u], *const sum = sums[c], *const product = products[c];
    Real* const y_u = y[u];
    if (of_twins == Real{0}) {
      for (std::size_t f = 0; f < x.columns; ++f) y_u[f] = product[f] + own * x_u[f];
    } else {
      for (std::size_t f = 0; f < x.columns; ++f) {
        y_u[f] = product[f] + own * x_u[f] + of_twins * (sum[f] - x_u[f]);
      }
    }
  }
}

template <typename Real>
double dot(const Real* a, const Real* b, std::size_t count) {
  using Column = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  const auto length = static_cast<Eigen::Index>(count);
  return static_cast<double>(Column(a, length).dot(Column(b, length)));
}

/// Adds to the dots of class c, where shell 0 does not count, what nodes have from themselves and
/// their twins.
template <typename Real>
void add_own(const Twins& twins, NodeId c, const ShellFactors<Real>& factors,
             const Rows<const Real>& x, const Rows<const Real>& g, const Rows<Real>& sums,
             const Rows<Real>& sums_of_g, Matrix& dots) {
  double own = 0;
  for (const NodeId u : twins.of_class(c)) own += dot(g[u], x[u], x.columns);
  dots(c, 0) = own * static_cast<double>(factor_at(factors, 0, twins.first(c)));
  const std::uint32_t apart = twins.apart[c];
  // A node without twins has nothing from them.
  if (apart >= factors.scale.size() || twins.of_class(c).size() == 1) return;
  const double all = dot(sums_of_g[c], sums[c], x.columns);
  dots(c, apart) += (all - own) * static_cast<double>(factor_at(factors, apart, twins.first(c)));
}

}  // namespace

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  ClassSignals<Real> of_classes_x(twins, x.cols());
  ClassSignals<Real> of_classes_y(twins, x.cols());
  SignalsSlice<Real> sums = of_classes_x.signals();
  SignalsSlice<Real> products = of_classes_y.signals();
  const Rows<const Real> rows(x);
  for_each_class(twins, threads, [&](NodeId c) { add_up(twins, c, rows, Rows<Real>(sums)); });
  multiply_to<Real>(shells, of_classes(twins, factors), sums, products);
  for_each_class(twins, threads, [&](NodeId c) {
    spread(twins, c, factors, rows, Rows<Real>(sums), Rows<Real>(products), Rows<Real>(y));
  });
}

template <typename Real>
Matrix correlate_merged(const ShellSource& shells, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                        SignalsSlice<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  // Side by side, as products of hops want them.
  ClassSignals<Real> of_classes_both(twins, x.cols(), 2);
  SignalsSlice<Real> sums = of_classes_both.signals(0);
  SignalsSlice<Real> sums_of_g = of_classes_both.signals(1);
  const Rows<const Real> rows(x);
  const Rows<const Real> rows_of_g(g);
  for_each_class(twins, threads, [&](NodeId c) {
    add_up(twins, c, rows, Rows<Real>(sums));
    add_up(twins, c, rows_of_g, Rows<Real>(sums_of_g));
  });
  ClassSignals<Real> of_classes_y(twins, product != nullptr ? x.cols() : 0);
  SignalsSlice<Real> products = of_classes_y.signals();
  const ShellFactors<Real> merged_of_product =
      of_classes(twins, product != nullptr ? *of_product : factors);
  Matrix dots =
      correlate<Real>(shells, of_classes(twins, factors), sums, sums_of_g, &merged_of_product,
                      product != nullptr ? &products : nullptr, totals);
  for_each_class(twins, threads, [&](NodeId c) {
    add_own(twins, c, factors, rows, rows_of_g, Rows<Real>(sums), Rows<Real>(sums_of_g), dots);
    if (product == nullptr) return;
    spread(twins, c, *of_product, rows, Rows<Real>(sums), Rows<Real>(products),
           Rows<Real>(*product));
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
