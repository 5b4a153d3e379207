// What a filter will be: which storage, whether twins are merged, and the form of its products.

#include "shells/plan.hpp"

#include <cmath>

#include "filter/checks.hpp"
#include "filter/costs.hpp"
#include "filter/forms.hpp"
#include "filter/list_layout.hpp"
#include "shells/costs.hpp"
#include "shells/twins.hpp"

namespace ngf {

namespace {

using namespace filter;

/// The share of all pairs above which hops are multiplied faster than lists.
double dense_above(const FilterOptions& options, std::size_t taps, NodeId nodes) {
  if (options.width == 0 || !table_in_registers(taps, !options.in_double)) {
    return shells::costs::dense_above;
  }
  if (options.width == 1) {
    if (static_cast<double>(nodes) * nodes > costs::last_cache_bytes) {
      return options.in_double ? costs::dense_above_one_column_memory_double
                               : costs::dense_above_one_column_memory;
    }
    return options.in_double ? costs::dense_above_one_column_double : costs::dense_above_one_column;
  }
  if (options.in_double) return costs::dense_above_double;
  return std::min(costs::dense_above_most,
                  costs::dense_above_float +
                      costs::dense_above_per_column * static_cast<double>(options.width));
}

/// The storage of the form asked for, and shells of all hops that the taps reach.
ShellOptions shell_options(const Taps& taps, const FilterOptions& options) {
  ShellOptions result = options.shells;
  result.hops = static_cast<std::uint32_t>(taps.count() - 1);
  result.transposed = true;
  if (options.form == ProductForm::automatic) return result;
  if (result.storage == Storage::automatic) result.storage = storage_of(options.form);
  if (result.storage != storage_of(options.form)) {
    fail("the product form {} needs storage {}, not {}", form_name(options.form),
         storage_name(storage_of(options.form)), storage_name(result.storage));
  }
  return result;
}

ShellEstimate estimate(const Graph& graph, const ShellOptions& options) {
  const bool needed = graph.nodes() > 0 && shells::needs_estimate(options);
  return needed ? shells::estimate_quickly(graph, options) : ShellEstimate();
}

/// Whether shells of the merged graph save time, or are wanted anyway.
bool merging_pays(NodeId nodes, const Graph& merged, const ShellOptions& shells,
                  const ShellEstimate& estimate, double dense_above, const FilterOptions& options) {
  if (options.merging == Merging::always) return true;
  const double all_pairs = std::pow(static_cast<double>(merged.nodes()), 2);
  const bool dense =
      shells.storage == Storage::dense ||
      (shells.storage == Storage::automatic && estimate.total() > dense_above * all_pairs);
  const double pairs = dense ? all_pairs : estimate.total();
  const double of_dense =
      options.width == 1 ? costs::merging_pairs_dense_one_column : costs::merging_pairs_dense;
  const bool narrow = options.width > 0 && options.width <= costs::narrow_columns;
  const bool short_rows = pairs < costs::short_row * static_cast<double>(nodes);
  const double of_lists =
      narrow && short_rows ? costs::merging_pairs_short : costs::merging_pairs_lists;
  const double pairs_of_node = dense ? of_dense : of_lists;
  const double larger = static_cast<double>(nodes) / static_cast<double>(merged.nodes());
  return pairs * (larger * larger - 1) > pairs_of_node * static_cast<double>(nodes);
}

/// The plan on the graph of classes of twins, where that pays.
std::optional<ShellPlan> merged_plan(const Graph& graph, const Taps& taps, ShellOptions options,
                                     const FilterOptions& filter, Progress* progress) {
  if (filter.merging == Merging::never || options.min_paths > 1) return {};
  std::optional<Twins> twins = shells::find_twins(graph, taps.group_of(), options.rows);
  if (!twins) return {};
  twins->graph = induced_subgraph(graph, twins->firsts());
  options.rows = twins->classes_of(options.rows.within(graph.nodes()));
  const double threshold = dense_above(filter, taps.count(), twins->classes());
  ShellEstimate sizes = estimate(twins->graph, options);
  if (!merging_pays(graph.nodes(), twins->graph, options, sizes, threshold, filter)) return {};
  ShellPlan plan = shells::plan_from(twins->graph, options, std::move(sizes), threshold, progress);
  plan.twins = std::make_shared<const Twins>(std::move(*twins));
  return plan;
}

double pairs_multiplied(const ShellPlan& plan) {
  if (plan.storage != Storage::dense && !plan.estimate.pairs.empty()) return plan.estimate.total();
  return static_cast<double>(plan.options.rows.count()) * static_cast<double>(plan.nodes);
}

ProductShape shape_of(const Graph& graph, const Taps& taps, const FilterOptions& options,
                      const ShellPlan& plan) {
  const bool forced_lists =
      options.form != ProductForm::automatic && storage_of(options.form) == Storage::sparse;
  std::size_t shells_that_count = 0;
  for (std::size_t k = plan.twins == nullptr ? 0 : 1; k < taps.count(); ++k) {
    if (taps.node_variant() || taps(0, k) != 0) ++shells_that_count;
  }
  const bool all_rows = plan.options.rows.count() == plan.nodes;
  const bool symmetric = options.normalization == Normalization::symmetric;
  return {.storage = plan.storage,
          .layout = forced_lists ? options.form : layout_form(plan, plan.estimate.total()),
          .two_bytes = plan.options.hops > shells::most_hops_in_a_byte,
          .single = !options.in_double,
          .columns = options.width,
          .taps = taps.count(),
          .one_shell = shells_that_count == 1,
          .by_row = symmetric || options.normalization == Normalization::row || taps.node_variant(),
          .by_column = symmetric,
          .symmetric = all_rows && !graph.directed(),
          .both_ways = all_rows};
}

}  // namespace

FilterPlan plan_filter(const Graph& graph, const Taps& taps, const FilterOptions& options,
                       Progress* progress) {
  check_taps(taps, graph.nodes());
  const ShellOptions shells = shell_options(taps, options);
  shells::check(shells);
  std::optional<ShellPlan> merged = merged_plan(graph, taps, shells, options, progress);
  FilterPlan plan;
  plan.shells =
      merged ? std::move(*merged)
             : shells::plan_from(graph, shells, estimate(graph, shells),
                                 dense_above(options, taps.count(), graph.nodes()), progress);
  plan.normalization = options.normalization;
  plan.forced = options.form != ProductForm::automatic;
  plan.form = options.form;
  plan.width = options.width;
  if (plan.width > 0) {
    plan.form = form_for(shape_of(graph, taps, options, plan.shells), options.form);
  }
  plan.flops = 2 * pairs_multiplied(plan.shells) * static_cast<double>(plan.width);
  return plan;
}

}  // namespace ngf
