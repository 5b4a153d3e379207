#include "form_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

#include "filter/forms.hpp"
#include "filter_task.hpp"
#include "ngf/error.hpp"

namespace ngf::bench {

namespace {

/// One form on shells that others have too.
struct FormFilter {
  ProductForm form;
  NeighborhoodFilter filter;
};

/// Whether the form takes signals of this width.
bool takes(const FormFilter& own, std::int64_t width) {
  try {
    return own.filter.form<float>(width) == own.form;
  } catch (const Error&) {
    return false;
  }
}

void time_forms(const std::string& task, const std::vector<FormFilter>& forms,
                const Shells& reference, int width, const FilterTasks& tasks,
                std::vector<Row>& rows) {
  AlignedSignals from(reference.nodes(), width);
  AlignedSignals to(reference.nodes(), width);
  const SignalsView<float> x = from.matrix();
  SignalsSlice<float> y = to.matrix();
  std::vector<const FormFilter*> timed;
  std::vector<std::function<void()>> bodies;
  for (const FormFilter& own : forms) {
    if (!takes(own, width)) continue;
    own.filter.apply_to<float>(x, y);
    const double error = error_of(reference, own.filter.taps(), x, y);
    if (!(error <= 1e-5)) {
      throw Error(fmt::format("{}: {} is off by {:.1e}", task, form_name(own.form), error));
    }
    timed.push_back(&own);
    bodies.emplace_back([&] { own.filter.apply_to<float>(x, y); });
  }
  const std::vector<double> best = best_seconds(bodies, tasks.seconds);
  const double fastest = *std::ranges::min_element(best);
  double pairs = 0;
  for (const std::uint64_t count : reference.pairs()) pairs += static_cast<double>(count);
  const double limit = 2 * pairs * width / tasks.multiplications;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const FormFilter& own = *timed[i];
    const NeighborhoodFilter chosen(own.filter.shells(), own.filter.taps());
    rows.push_back({fmt::format("{}, F={}: {}", task, width, form_name(own.form)), best[i],
                    best[i] / fastest, limit / best[i],
                    chosen.form<float>(width) == own.form ? "chosen" : ""});
  }
}

/// The same shells of this number of hops, as lists and as hops.
std::array<Shells, 2> both_storages(const Graph& graph, std::uint32_t hops, int threads) {
  const auto build = [&](Storage storage) {
    ShellOptions options{.hops = hops, .storage = storage, .threads = threads};
    options.transposed = true;
    return build_shells(graph, options);
  };
  return {build(Storage::sparse), build(Storage::dense)};
}

std::vector<FormFilter> filters_of(const std::array<Shells, 2>& shells, const Taps& taps,
                                   std::initializer_list<ProductForm> forms) {
  std::vector<FormFilter> result;
  for (const ProductForm form : forms) {
    const std::size_t held = filter::storage_of(form) == Storage::sparse ? 0 : 1;
    result.push_back({form, {shells[held], taps, Normalization::none, form}});
  }
  return result;
}

/// The farthest of the shells alone.
Taps last_tap(std::uint32_t count) {
  std::vector<double> taps(count, 0);
  taps.back() = 1;
  return Taps(taps);
}

}  // namespace

std::vector<Row> form_rows(const std::string& name, const Graph& graph, const FilterTasks& tasks) {
  std::vector<Row> rows;
  for (const std::uint32_t count : tasks.taps) {
    const auto shells = both_storages(graph, count - 1, tasks.threads);
    const auto forms =
        filters_of(shells, some_taps(count),
                   {ProductForm::short_lists, ProductForm::paired_lists, ProductForm::lists,
                    ProductForm::hop_lookup, ProductForm::hop_half, ProductForm::hop_blocks,
                    ProductForm::hop_tiles});
    const std::string task = fmt::format("{}, K={}", name, count);
    for (const int width : tasks.widths) time_forms(task, forms, shells[0], width, tasks, rows);
  }
  // A single shell so far away that registers hold no table has a form of its own.
  constexpr std::uint32_t far = 40;
  const auto shells = both_storages(graph, far - 1, tasks.threads);
  if (shells[0].pairs().size() == far) {
    time_forms(fmt::format("{}, one shell, K={}", name, far),
               filters_of(shells, last_tap(far),
                          {ProductForm::lists, ProductForm::hop_sum, ProductForm::hop_tiles}),
               shells[0], 1, tasks, rows);
  }
  return rows;
}

}  // namespace ngf::bench
