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

/// The signals of each class, added up.
template <typename Real>
ClassSignals<Real> add_up(const Twins& twins, const SignalsView<Real>& x, int threads) {
  ClassSignals<Real> result(twins, x.cols());
  auto sums = result.signals();
  for_each_class(twins, threads, [&](NodeId c) {
    sums.row(c) = x.row(twins.first(c));
    for (const NodeId u : twins.of_class(c).subspan(1)) sums.row(c) += x.row(u);
  });
  return result;
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

/// The products of nodes from those of their classes: what a node has from itself and its twins is
/// added.
template <typename Real>
void spread(const Twins& twins, const ShellFactors<Real>& factors, const SignalsView<Real>& x,
            const SignalsView<Real>& sums, const SignalsView<Real>& products, SignalsSlice<Real> y,
            int threads) {
  for_each_class(twins, threads, [&](NodeId c) {
    const auto members = twins.of_class(c);
    const Real own = factor_at(factors, 0, members[0]);
    const Real of_twins = factor_at(factors, twins.apart[c], members[0]);
    for (const NodeId u : members) {
      if (of_twins == Real{0}) {
        y.row(u) = products.row(c) + own * x.row(u);
      } else {
        y.row(u) = products.row(c) + own * x.row(u) + of_twins * (sums.row(c) - x.row(u));
      }
    }
  });
}

/// Adds to the dots of classes, where shell 0 does not count, what nodes have from themselves and
/// their twins.
template <typename Real>
Matrix with_own(const Twins& twins, const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                const SignalsView<Real>& g, const SignalsView<Real>& sums,
                const SignalsView<Real>& sums_of_g, const Matrix& of_classes, int threads) {
  Matrix dots = Matrix::Zero(x.rows(), of_classes.cols());
  for_each_class(twins, threads, [&](NodeId c) {
    const NodeId first = twins.first(c);
    auto row = dots.row(first);
    row = of_classes.row(c);
    double own = 0;
    for (const NodeId u : twins.of_class(c)) own += static_cast<double>(g.row(u).dot(x.row(u)));
    row[0] = own * static_cast<double>(factor_at(factors, 0, first));
    if (twins.apart[c] >= factors.scale.size()) return;
    const double all = static_cast<double>(sums_of_g.row(c).dot(sums.row(c)));
    row[twins.apart[c]] +=
        (all - own) * static_cast<double>(factor_at(factors, twins.apart[c], first));
  });
  return dots;
}

}  // namespace

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y) {
  const int threads = shells.options.threads;
  ClassSignals<Real> sums = add_up(twins, x, threads);
  ClassSignals<Real> products(twins, x.cols());
  multiply_to<Real>(shells, of_classes(twins, factors), sums.signals(), products.signals());
  spread<Real>(twins, factors, x, sums.signals(), products.signals(), y, threads);
}

template <typename Real>
Matrix correlate_merged(const ShellSource& shells, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                        SignalsSlice<Real>* product, bool totals) {
  const int threads = shells.options.threads;
  ClassSignals<Real> sums = add_up(twins, x, threads);
  ClassSignals<Real> sums_of_g = add_up(twins, g, threads);
  const ShellFactors<Real> merged = of_classes(twins, factors);
  Matrix dots;
  if (product == nullptr) {
    dots = correlate<Real>(shells, merged, sums.signals(), sums_of_g.signals(), nullptr, nullptr,
                           totals);
  } else {
    const ShellFactors<Real> merged_of_product = of_classes(twins, *of_product);
    ClassSignals<Real> products(twins, x.cols());
    SignalsSlice<Real> of_classes = products.signals();
    dots = correlate<Real>(shells, merged, sums.signals(), sums_of_g.signals(), &merged_of_product,
                           &of_classes, totals);
    spread<Real>(twins, *of_product, x, sums.signals(), of_classes, *product, threads);
  }
  return with_own<Real>(twins, factors, x, g, sums.signals(), sums_of_g.signals(), dots, threads);
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
