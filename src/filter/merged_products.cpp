#include "filter/merged_products.hpp"

#include <algorithm>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"

namespace ngf::filter {

namespace {

/// A row of signals for each class of twins.
template <typename Real>
class ClassSignals {
 public:
  ClassSignals(const Twins& twins, Eigen::Index columns)
      : classes_(twins.classes()),
        columns_(columns),
        values_(static_cast<std::size_t>(classes_ * columns)) {}

  Eigen::Map<SignalsOf<Real>> signals() { return {values_.data(), classes_, columns_}; }

 private:
  Eigen::Index classes_;
  Eigen::Index columns_;
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
void add_up(const Twins& twins, NodeId c, const SignalsView<Real>& x, SignalsSlice<Real> sums) {
  sums.row(c) = x.row(twins.first(c));
  for (const NodeId u : twins.of_class(c).subspan(1)) sums.row(c) += x.row(u);
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
            const SignalsView<Real>& x, const SignalsView<Real>& sums,
            const SignalsView<Real>& products, SignalsSlice<Real> y) {
  const Real own = factor_at(factors, 0, twins.first(c));
  const Real of_twins = factor_at(factors, twins.apart[c], twins.first(c));
  for (const NodeId u : twins.of_class(c)) {
    if (of_twins == Real{0}) {
      y.row(u) = products.row(c) + own * x.row(u);
    } else {
      y.row(u) = products.row(c) + own * x.row(u) + of_twins * (sums.row(c) - x.row(u));
    }
  }
}

/// Adds to the dots of class c, where shell 0 does not count, what nodes have from themselves and
/// their twins.
template <typename Real>
void add_own(const Twins& twins, NodeId c, const ShellFactors<Real>& factors,
             const SignalsView<Real>& x, const SignalsView<Real>& g, const SignalsView<Real>& sums,
             const SignalsView<Real>& sums_of_g, Matrix& dots) {
  double own = 0;
  for (const NodeId u : twins.of_class(c)) own += static_cast<double>(g.row(u).dot(x.row(u)));
  dots(c, 0) = own * static_cast<double>(factor_at(factors, 0, twins.first(c)));
  const std::uint32_t apart = twins.apart[c];
  if (apart >= factors.scale.size()) return;
  const auto all = static_cast<double>(sums_of_g.row(c).dot(sums.row(c)));
  dots(c, apart) += (all - own) * static_cast<double>(factor_at(factors, apart, twins.first(c)));
}

}  // namespace

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  ClassSignals<Real> sums(twins, x.cols());
  ClassSignals<Real> products(twins, x.cols());
  for_each_class(twins, threads, [&](NodeId c) { add_up<Real>(twins, c, x, sums.signals()); });
  multiply_to<Real>(shells, of_classes(twins, factors), sums.signals(), products.signals());
  for_each_class(twins, threads, [&](NodeId c) {
    spread<Real>(twins, c, factors, x, sums.signals(), products.signals(), y);
  });
}

template <typename Real>
Matrix correlate_merged(const ShellSource& shells, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                        SignalsSlice<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  ClassSignals<Real> sums(twins, x.cols());
  ClassSignals<Real> sums_of_g(twins, x.cols());
  for_each_class(twins, threads, [&](NodeId c) {
    add_up<Real>(twins, c, x, sums.signals());
    add_up<Real>(twins, c, g, sums_of_g.signals());
  });
  ClassSignals<Real> products(twins, product != nullptr ? x.cols() : 0);
  SignalsSlice<Real> products_of_classes = products.signals();
  const ShellFactors<Real> merged_of_product =
      of_classes(twins, product != nullptr ? *of_product : factors);
  Matrix dots = correlate<Real>(shells, of_classes(twins, factors), sums.signals(),
                                sums_of_g.signals(), &merged_of_product,
                                product != nullptr ? &products_of_classes : nullptr, totals);
  for_each_class(twins, threads, [&](NodeId c) {
    add_own<Real>(twins, c, factors, x, g, sums.signals(), sums_of_g.signals(), dots);
    if (product == nullptr) return;
    spread<Real>(twins, c, *of_product, x, sums.signals(), products_of_classes, *product);
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
