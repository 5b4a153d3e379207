// Neighbourhood filters with a weight for each pair.

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "filter/checks.hpp"
#include "filter/list_layout.hpp"
#include "filter/pair_values.hpp"
#include "filter/shell_products.hpp"
#include "ngf/pair_weights.hpp"

namespace ngf {

using filter::ShellFactors;
using filter::ShellSource;

namespace {

void check_pair_options(Normalization normalization, ProductForm form) {
  if (normalization == Normalization::lmax) {
    fail("shells with pair weights are normalised by none, symmetric or row, not by lmax");
  }
  if (form != ProductForm::automatic && form != ProductForm::short_lists &&
      form != ProductForm::lists && form != ProductForm::streamed_lists) {
    fail("pair weights need the product form {}, {} or {}, not {}",
         form_name(ProductForm::short_lists), form_name(ProductForm::lists),
         form_name(ProductForm::streamed_lists), form_name(form));
  }
}

[[noreturn]] void refuse_dense() {
  throw Error("pair weights need shells as lists, not as a matrix of hops",
              {"use {}", {{"storage", std::string(storage_name(Storage::sparse))}}});
}

void check_pair_input(const Shells& shells, const Embeddings& embeddings, double power) {
  if (shells.storage() == Storage::dense) refuse_dense();
  if (shells.twins() != nullptr) fail("pair weights need shells without merged twins");
  if (shells.rows().count() < shells.nodes()) {
    fail("pair weights need the shells of all nodes in one process");
  }
  if (embeddings.nodes() != shells.nodes()) {
    fail("embeddings of {} nodes for a graph of {}", embeddings.nodes(), shells.nodes());
  }
  if (!(power >= 0) || std::isinf(power)) {
    fail("the power of pair weights is {}; expected a finite number from 0 on", power);
  }
}

/// Long lists are not paired: rows of a pair would have other weights.
ProductForm pair_form(const ShellPlan& plan, double pairs, ProductForm wanted) {
  if (wanted != ProductForm::automatic) return wanted;
  const ProductForm form = filter::layout_form(plan, pairs);
  return form == ProductForm::paired_lists ? ProductForm::lists : form;
}

/// Throws MemoryExceeded where the weights of these shells do not fit.
void check_weights_fit(const Shells& shells) {
  const std::uint64_t budget = shells.plan().options.memory;
  const Shells* const transposed = shells.transposed();
  const bool directed = transposed != nullptr && transposed != &shells;
  const std::uint64_t bytes =
      filter::pair_table_bytes(shells.nodes(), shells.hops(), directed, filter::pairs_held(shells));
  // Where what the process holds is not counted, the budget is for lists and weights.
  const std::uint64_t before = budget > 0 && detail::held_memory() == 0 ? shells.bytes() : 0;
  check_budget(before + bytes, budget, "a filter with a weight for each pair");
}

}  // namespace

FilterPlan plan_pair_filter(const Graph& graph, const Taps& taps, const FilterOptions& options,
                            Progress* progress) {
  check_pair_options(options.normalization, options.form);
  if (options.merging == Merging::always) fail("pair weights do not allow merged twins");
  FilterOptions of_lists = options;
  of_lists.merging = Merging::never;
  if (options.shells.storage == Storage::dense) refuse_dense();
  if (options.shells.storage == Storage::automatic) {
    const bool streamed = options.form == ProductForm::streamed_lists;
    of_lists.shells.storage = streamed ? Storage::stream : Storage::sparse;
  }
  const auto plan_with = [&](std::uint64_t memory) {
    of_lists.shells.memory = memory;
    FilterPlan plan = plan_filter(graph, taps, of_lists, progress);
    if (plan.form == ProductForm::paired_lists) plan.form = ProductForm::lists;
    const bool streamed = plan.shells.storage == Storage::stream;
    plan.weight_bytes =
        filter::pair_table_bytes(graph.nodes(), plan.shells.options.hops, graph.directed(),
                                 streamed ? 0 : plan.shells.estimate.total());
    check_budget(plan.shells.bytes() + plan.weight_bytes, options.shells.memory,
                 "a filter with a weight for each pair");
    return plan;
  };
  try {
    return plan_with(options.shells.memory);
  } catch (const MemoryExceeded&) {
    // The error asks for the memory of lists and weights, also where lists alone do not fit.
    plan_with(std::numeric_limits<std::uint64_t>::max());
    throw;
  }
}

PairFilter::PairFilter(Shells shells, Taps taps, const Embeddings& embeddings, double power,
                       Normalization normalization, ProductForm form, Progress* progress)
    : shells_(std::move(shells)), taps_(std::move(taps)), form_(form) {
  check_pair_options(normalization, form);
  check_pair_input(shells_, embeddings, power);
  filter::check_taps(taps_, nodes());
  if (taps_.count() - 1 > shells_.hops()) {
    fail("{} taps need shells up to {} hops; there are {}", taps_.count(), taps_.count() - 1,
         shells_.hops());
  }
  if (normalization == Normalization::symmetric && shells_.transposed() == nullptr) {
    fail("symmetric normalisation needs the shells of the transposed graph");
  }
  check_weights_fit(shells_);
  layouts_ =
      filter::make_layouts(shells_, pair_form(shells_.plan(), filter::pairs_held(shells_), form));
  tables_ = std::make_shared<const filter::PairTables>(
      filter::make_pair_tables(shells_, *layouts_, embeddings, power, normalization, progress));
}

PairFilter::PairFilter(const Graph& graph, Taps taps, const Embeddings& embeddings, double power,
                       const FilterOptions& options, Progress* progress)
    : PairFilter([&] {
        const FilterPlan plan = plan_pair_filter(graph, taps, options, progress);
        return PairFilter(build_shells(graph, plan.shells, progress), std::move(taps), embeddings,
                          power, plan.normalization, options.form, progress);
      }()) {}

void PairFilter::set_taps(Taps taps) {
  filter::check_taps(taps, nodes());
  if (taps.count() != taps_.count()) {
    fail("{} taps for a filter of {}", taps.count(), taps_.count());
  }
  taps_ = std::move(taps);
}

std::uint64_t PairFilter::weight_bytes() const { return tables_->bytes(); }

double PairFilter::flops(std::int64_t width) const {
  const auto all = static_cast<double>(nodes()) * nodes();
  const bool lists = shells_.storage() == Storage::sparse;
  return 2 * static_cast<double>(width) * (lists ? filter::pairs_held(shells_) : all);
}

std::vector<float> PairFilter::weights(NodeId u, std::uint32_t hop) const {
  if (hop == 0) return {1.0F};
  filter::check_held(shells_);
  std::vector<float> result;
  filter::on_lists(shells_, [&](const auto& lists) {
    const auto places = lists.places(u);
    const float* const row = tables_->forward.row(u);
    result.assign(row + (places[hop - 1] - places[0]), row + (places[hop] - places[0]));
  });
  if (tables_->scales != nullptr && !tables_->scaled) {
    const double factor = tables_->scales->left[hop][u];
    for (float& weight : result) weight = static_cast<float>(static_cast<double>(weight) * factor);
  }
  return result;
}

ShellSource PairFilter::source(bool transposed, Progress* progress) const {
  const Shells* const back = shells_.transposed();
  const filter::PairStream* const stream = tables_->stream.get();
  if (!transposed) return {shells_, back, layouts_->forward, progress, &tables_->forward, stream};
  if (back == nullptr) {
    fail(
        "transposes of this filter need the shells of the transposed graph; ask for them "
        "when the shells are planned");
  }
  return {*back,
          &shells_,
          layouts_->back == nullptr ? layouts_->forward : *layouts_->back,
          progress,
          tables_->back == nullptr ? &tables_->forward : tables_->back.get(),
          stream};
}

template <typename Real>
ShellFactors<Real> PairFilter::factors_without_taps(bool transposed) const {
  return filter::scale_factors<Real>(tables_->scaled ? nullptr : tables_->scales.get(),
                                     taps_.count(), shells_.hops() + std::size_t{1}, transposed);
}

template <typename Real>
ShellFactors<Real> PairFilter::factors(bool transposed) const {
  ShellFactors<Real> result = factors_without_taps<Real>(transposed);
  filter::multiply_by_taps(taps_, nodes(), transposed, result);
  return result;
}

template <typename Real>
ProductForm PairFilter::form(std::int64_t width) const {
  return form_for(shape_of(source(false, nullptr), factors<Real>(false), width), form_);
}

template <typename Real>
void PairFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  filter::multiply<Real>(source(false, progress), form_, factors<Real>(false), x, y);
}

template <typename Real>
void PairFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                    Progress* progress) const {
  filter::check_signals<Real>(x, y, nodes(), rows());
  filter::multiply<Real>(source(true, progress), form_, factors<Real>(true), x, y);
}

template <typename Real>
void PairFilter::apply_shell_to(std::size_t k, const SignalsView<Real>& x, SignalsSlice<Real> y,
                                bool transposed) const {
  if (k >= taps_.count()) fail("no shell {} in a filter of {} taps", k, taps_.count());
  filter::check_signals<Real>(x, y, nodes(), rows());
  filter::multiply<Real>(source(transposed, nullptr), form_,
                         factors_without_taps<Real>(transposed).only(k), x, y);
}

template <typename Real>
std::vector<double> PairFilter::gradients_to(const SignalsView<Real>& x,
                                             const SignalsView<Real>& by_output,
                                             SignalsSlice<Real> by_input,
                                             Progress* progress) const {
  filter::check_gradients<Real>(x, by_output, by_input, nodes(), rows());
  const ShellFactors<Real> with_taps = factors<Real>(true);
  Matrix dots;
  if (taps_.node_variant()) {
    filter::multiply<Real>(source(true, progress), form_, with_taps, by_output, by_input);
    dots = filter::correlate<Real>(source(false, progress), form_,
                                   factors_without_taps<Real>(false), x, by_output, {}, false);
  } else {
    // <G, A X> = <A' G, X>, and A' G is what the gradient by X is made of.
    dots = filter::correlate<Real>(source(true, progress), form_, factors_without_taps<Real>(true),
                                   by_output, x, {&with_taps, &by_input}, true);
  }
  return filter::sum_by_group(taps_, dots, [](NodeId row) { return row; });
}

NGF_DEFINE_FILTER(PairFilter)
template void PairFilter::apply_shell_to<float>(std::size_t, const SignalsView<float>&,
                                                SignalsSlice<float>, bool) const;
template void PairFilter::apply_shell_to<double>(std::size_t, const SignalsView<double>&,
                                                 SignalsSlice<double>, bool) const;
template ProductForm PairFilter::form<float>(std::int64_t) const;
template ProductForm PairFilter::form<double>(std::int64_t) const;

}  // namespace ngf
