#include <Eigen/Core>

#include "base/fail.hpp"
#include "filter/checks.hpp"
#include "filter/list_layout.hpp"
#include "filter/scales.hpp"
#include "filter/shell_products.hpp"
#include "ngf/filter.hpp"

namespace ngf {

using filter::ShellFactors;
using filter::ShellScales;
using filter::ShellSource;

namespace {

/// Y = H X with these factors, in the form asked for.
template <typename Real>
void multiply_nodes(const ShellSource& source, ProductForm form, const ShellFactors<Real>& factors,
                    const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  if (source.shells.twins() != nullptr) {
    filter::multiply_merged<Real>(source, form, *source.shells.twins(), factors, x, y);
  } else {
    filter::multiply<Real>(source, form, factors, x, y);
  }
}

template <typename Real>
Matrix correlate_nodes(const ShellSource& source, ProductForm form,
                       const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                       const SignalsView<Real>& g, const filter::AlsoProduct<Real>& product,
                       bool totals) {
  if (const Twins* const twins = source.shells.twins()) {
    return filter::correlate_merged<Real>(source, form, *twins, factors, x, g, product, totals);
  }
  return filter::correlate<Real>(source, form, factors, x, g, product, totals);
}

/// The rows of signals that are here, of all nodes or of these alone.
template <typename Real>
SignalsView<Real> own_rows(const SignalsView<Real>& x, const RowRange& rows) {
  if (x.rows() == static_cast<Eigen::Index>(rows.count())) return x;
  return x.middleRows(rows.begin, rows.count());
}

}  // namespace

NeighborhoodFilter::NeighborhoodFilter(Shells shells, Taps taps,
                                       std::shared_ptr<const ShellScales> scales, ProductForm form)
    : shells_(std::move(shells)),
      taps_(std::move(taps)),
      form_(form),
      layouts_(filter::make_layouts(shells_, form)),
      scales_(std::move(scales)) {
  check_taps(taps_);
  if (taps_.count() - 1 > shells_.hops()) {
    fail("{} taps need shells up to {} hops; there are {}", taps_.count(), taps_.count() - 1,
         shells_.hops());
  }
}

NeighborhoodFilter::NeighborhoodFilter(Shells shells, Taps taps, Normalization normalization,
                                       ProductForm form, Progress* progress)
    : NeighborhoodFilter(std::move(shells), std::move(taps), nullptr, form) {
  if (normalization == Normalization::none) return;
  if (rows().count() < nodes()) {
    fail("to normalise shells of some rows alone, the scales of all must be known");
  }
  scales_ = std::make_shared<const ShellScales>(
      filter::make_scales(normalization, taps_.count(),
                          {.degrees = [&](bool back) { return shell_degrees(back, progress); },
                           .largest = [&](std::size_t k) { return largest_value(k, progress); }}));
}

NeighborhoodFilter::NeighborhoodFilter(Shells shells, Taps taps, const FilterPlan& plan,
                                       Progress* progress)
    : NeighborhoodFilter(std::move(shells), std::move(taps), plan.normalization,
                         plan.forced ? plan.form : ProductForm::automatic, progress) {}

NeighborhoodFilter::NeighborhoodFilter(const Graph& graph, Taps taps, const FilterOptions& options,
                                       Progress* progress)
    : NeighborhoodFilter([&] {
        const FilterPlan plan = plan_filter(graph, taps, options, progress);
        Shells shells = build_shells(graph, plan.shells, progress);
        return NeighborhoodFilter(std::move(shells), std::move(taps), plan, progress);
      }()) {}

void NeighborhoodFilter::check_taps(const Taps& taps) const {
  filter::check_taps(taps, nodes());
  if (shells_.twins() != nullptr && !shells::within_groups(*shells_.twins(), taps.group_of())) {
    fail(
        "these taps tell nodes apart whose shells were merged; plan the filter for them, "
        "or with merging never");
  }
}

void NeighborhoodFilter::set_taps(Taps taps) {
  check_taps(taps);
  if (taps.count() != taps_.count()) {
    fail("{} taps for a filter of {}", taps.count(), taps_.count());
  }
  taps_ = std::move(taps);
}

ShellSource NeighborhoodFilter::source(bool transposed, Progress* progress) const {
  const Shells* const back = shells_.transposed();
  if (!transposed) return {shells_, back, layouts_->forward, progress};
  if (back == nullptr) {
    fail(
        "transposes of this filter need the shells of the transposed graph; ask for them "
        "when the shells are planned");
  }
  return {*back, &shells_, layouts_->back == nullptr ? layouts_->forward : *layouts_->back,
          progress};
}

/// Lists have all their shells in one row, also those that no tap reaches.
std::size_t NeighborhoodFilter::shell_count() const {
  return shells_.storage() == Storage::dense ? taps_.count() : shells_.hops() + std::size_t{1};
}

template <typename Real>
ShellFactors<Real> NeighborhoodFilter::factors_without_taps(bool transposed) const {
  return filter::scale_factors<Real>(scales_.get(), taps_.count(), shell_count(), transposed);
}

/// Of H, or of its transpose on the transposed shells.
template <typename Real>
ShellFactors<Real> NeighborhoodFilter::factors(bool transposed) const {
  ShellFactors<Real> result = factors_without_taps<Real>(transposed);
  filter::multiply_by_taps(taps_, nodes(), transposed, result);
  return result;
}

void NeighborhoodFilter::check_shell(std::size_t k) const {
  if (k >= taps_.count()) fail("no shell {} in a filter of {} taps", k, taps_.count());
}

template <typename Real>
ProductForm NeighborhoodFilter::form(std::int64_t width) const {
  ShellFactors<Real> used = factors<Real>(false);
  // Where twins are merged, shell 0 is added by itself.
  if (shells_.twins() != nullptr) used.scale[0] = 0;
  return form_for(shape_of(source(false, nullptr), used, width), form_);
}

double NeighborhoodFilter::flops(std::int64_t width) const {
  const auto all = static_cast<double>(shells_.rows().count()) * shells_.nodes();
  const bool lists = shells_.storage() == Storage::sparse;
  return 2 * static_cast<double>(width) * (lists ? filter::pairs_held(shells_) : all);
}

LargestValue NeighborhoodFilter::largest_value(std::size_t k, Progress* progress) const {
  check_shell(k);
  if (scales_ != nullptr && k < scales_->largest.size()) return scales_->largest[k];
  const auto bare =
      filter::scale_factors<double>(nullptr, taps_.count(), shell_count(), false).only(k);
  const auto shell = [&](bool transposed, const Matrix& x) {
    Matrix y(rows().count(), 1);
    SignalsSlice<double> to(y);
    multiply_nodes<double>(source(transposed, progress), ProductForm::automatic, bare, x, to);
    return y;
  };
  return filter::largest_of(nodes(), shells_.transposed() == &shells_, shell);
}

/// <1, A_k 1> node by node, in one walk.
Matrix NeighborhoodFilter::shell_degrees(bool transposed, Progress* progress) const {
  const auto bare = filter::scale_factors<double>(nullptr, taps_.count(), shell_count(), false);
  const RowRange own = rows();
  const Matrix ones = Matrix::Ones(nodes(), 1);
  const auto degrees = [&](const Matrix& counted) {
    return correlate_nodes<double>(source(transposed, progress), ProductForm::automatic, bare, ones,
                                   counted, {}, false);
  };
  const Twins* const twins = shells_.twins();
  if (twins == nullptr) return degrees(Matrix::Ones(own.count(), 1));
  // Those of the first of each class, which its twins have too.
  Matrix counted = Matrix::Zero(own.count(), 1);
  for (NodeId u = own.begin; u < own.end; ++u) {
    if (twins->first(twins->class_of[u]) == u) counted(u - own.begin, 0) = 1;
  }
  const Matrix of_firsts = degrees(counted);
  Matrix result(own.count(), of_firsts.cols());
  for (NodeId u = own.begin; u < own.end; ++u) {
    result.row(u - own.begin) = of_firsts.row(twins->class_of[u] - shells_.rows().begin);
  }
  return result;
}

template <typename Real>
void NeighborhoodFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                  Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  multiply_nodes<Real>(source(false, progress), form_, factors<Real>(false), x, y);
}

template <typename Real>
void NeighborhoodFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                            Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  multiply_nodes<Real>(source(true, progress), form_, factors<Real>(true), x, y);
}

template <typename Real>
SignalsOf<Real> NeighborhoodFilter::apply_shell(std::size_t k, const SignalsOf<Real>& x,
                                                bool transposed, Progress* progress) const {
  check_shell(k);
  filter::check_signals<Real>(x, nodes());
  SignalsOf<Real> y(rows().count(), x.cols());
  SignalsSlice<Real> to(y);
  multiply_nodes<Real>(source(transposed, progress), ProductForm::automatic,
                       factors_without_taps<Real>(transposed).only(k), x, to);
  return y;
}

template <typename Real>
std::vector<double> NeighborhoodFilter::gradients_to(const SignalsView<Real>& x,
                                                     const SignalsView<Real>& by_output,
                                                     SignalsSlice<Real> by_input,
                                                     Progress* progress) const {
  filter::check_gradients<Real>(x, by_output, by_input, nodes(), rows());
  const ShellFactors<Real> with_taps = factors<Real>(true);
  Matrix dots;
  if (taps_.node_variant()) {
    multiply_nodes<Real>(source(true, progress), form_, with_taps, by_output, by_input);
    dots = correlate_nodes<Real>(source(false, progress), form_, factors_without_taps<Real>(false),
                                 x, own_rows<Real>(by_output, rows()), {}, false);
  } else {
    // <G, A_k X> = <A_k' G, X>, and A_k' G is what the gradient by X is made of.
    dots =
        correlate_nodes<Real>(source(true, progress), form_, factors_without_taps<Real>(true),
                              by_output, own_rows<Real>(x, rows()), {&with_taps, &by_input}, true);
  }
  return filter::sum_by_group(taps_, dots, [&](NodeId row) {
    const NodeId u = shells_.rows().begin + row;
    return shells_.twins() == nullptr ? u : shells_.twins()->first(u);
  });
}

NGF_DEFINE_FILTER(NeighborhoodFilter)
template SignalsOf<float> NeighborhoodFilter::apply_shell(std::size_t, const SignalsOf<float>&,
                                                          bool, Progress*) const;
template SignalsOf<double> NeighborhoodFilter::apply_shell(std::size_t, const SignalsOf<double>&,
                                                           bool, Progress*) const;
template ProductForm NeighborhoodFilter::form<float>(std::int64_t) const;
template ProductForm NeighborhoodFilter::form<double>(std::int64_t) const;

}  // namespace ngf
