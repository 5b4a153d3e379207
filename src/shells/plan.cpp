// Which storage, which engine, and what they take, before any of it is taken.

#include "shells/plan.hpp"

#include <bit>
#include <utility>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "kernels/walk_rows.hpp"
#include "ngf/components.hpp"
#include "ngf/random.hpp"
#include "shells/bit_walk.hpp"
#include "shells/costs.hpp"
#include "shells/queue_walk.hpp"
#include "shells/walks.hpp"

namespace ngf {

namespace shells {

namespace {

/// The engine that takes less time for lists. Costs need to be right only where the two are far
/// apart.
Engine faster_engine(const Graph& graph, const RowRange& range, const ShellEstimate& estimate) {
  const double nodes = graph.nodes();
  const double rows = range.count();
  const double pairs = estimate.total();
  const double queue = costs::queue_ns_per_arc * estimate.arcs + costs::queue_ns_per_pair * pairs +
                       costs::queue_ns_per_row * rows;
  const auto levels = static_cast<double>(estimate.pairs.size()) - 1;
  const double batches = rows / static_cast<double>(kernels::batch_width);
  const double lines = std::min(static_cast<double>(graph.arcs()) * batches, estimate.arcs);
  const double bits =
      costs::bits_ns_per_line * lines * levels +
      (costs::bits_ns_per_entry + costs::bits_ns_per_entry_and_level * levels) * rows * nodes +
      costs::bits_ns_per_pair * pairs + costs::bits_ns_per_node * nodes + costs::bits_ns_once;
  return queue < bits ? Engine::queue : Engine::bits;
}

/// What it takes to find rows and hand them over, some at a time.
std::uint64_t stream_bytes(const Graph& graph, const ShellOptions& options, std::uint32_t hops) {
  // While rows are appended, there is room for one more, twice.
  return working_bytes(graph, options, hops, true, true) +
         static_cast<std::uint64_t>(thread_count(options.threads)) * 2 *
             (costs::columns_in_stream + std::uint64_t{graph.nodes()}) * sizeof(NodeId);
}

std::uint64_t budget_of(const ShellOptions& options) {
  if (options.memory > 0) return memory_left(options.memory);
  return static_cast<std::uint64_t>(costs::share_of_free_memory *
                                    static_cast<double>(memory_left(0)));
}

Setting streamed() { return {"storage", std::string(storage_name(Storage::stream))}; }

/// Takes what was asked for; or else the better of lists and hops, what fits where that does not.
void choose_storage(ShellPlan& plan, Storage better) {
  const auto fits = [&](Storage kind) { return plan.bytes_of(kind) <= plan.budget; };
  const bool must_store = plan.options.must_store;
  plan.storage = plan.options.storage;
  if (plan.storage == Storage::automatic) {
    const Storage other = better == Storage::sparse ? Storage::dense : Storage::sparse;
    const Storage neither = must_store ? better : Storage::stream;
    plan.storage = fits(better) ? better : fits(other) ? other : neither;
  }
  if (fits(plan.storage)) return;
  const std::uint64_t needed = plan.bytes();
  const std::uint64_t enough = detail::sufficient_budget(needed);
  Advice advice{"give {}", {{"memory", enough}}};
  if (!must_store && plan.storage != Storage::stream && fits(Storage::stream)) {
    advice.text += ", or {}";
    advice.settings.push_back(streamed());
  }
  throw MemoryExceeded(
      fmt::format("{} shells need {} of memory{}, and {} may be taken", storage_name(plan.storage),
                  detail::human_bytes(needed), plan.estimate.exact ? "" : " (estimated)",
                  detail::human_bytes(plan.budget)),
      enough, std::move(advice));
}

void count_bytes(const Graph& graph, std::uint32_t hops, ShellPlan& plan) {
  const std::uint64_t nodes = graph.nodes();
  const std::uint64_t rows = plan.options.rows.count();
  const std::uint64_t column_bytes = nodes <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
  const std::uint64_t hop_bytes = hops > most_hops_in_a_byte ? 2 : 1;
  const std::uint64_t stride =
      (nodes + kernels::column_step - 1) / kernels::column_step * kernels::column_step;
  const std::uint64_t ways = graph.directed() && plan.options.transposed ? 2 : 1;
  plan.sparse_bytes =
      ways * (static_cast<std::uint64_t>(plan.estimate.total()) * column_bytes +
              rows * (sizeof(std::uint32_t) * (hops + std::uint64_t{1}) + column_bytes)) +
      working_bytes(graph, plan.options, hops, true, true);
  plan.dense_bytes =
      ways * rows * stride * hop_bytes + working_bytes(graph, plan.options, hops, true, false);
  plan.stream_bytes = (ways - 1) * graph.bytes() + stream_bytes(graph, plan.options, hops);
}

ShellPlan make_plan(const Graph& graph, const ShellOptions& options, ShellEstimate estimate,
                    std::uint32_t hops, double dense_above) {
  ShellPlan plan;
  plan.nodes = graph.nodes();
  plan.options = options;
  plan.options.rows = options.rows.within(graph.nodes());
  plan.estimate = std::move(estimate);
  count_bytes(graph, hops, plan);
  plan.budget = budget_of(options);
  const auto pairs_in_all = static_cast<double>(plan.options.rows.count()) * graph.nodes();
  const bool few_pairs = plan.estimate.total() <= dense_above * pairs_in_all;
  choose_storage(plan, few_pairs ? Storage::sparse : Storage::dense);
  plan.engine = options.engine;
  if (plan.engine == Engine::automatic) {
    const bool in_lists = plan.storage != Storage::dense && !plan.estimate.pairs.empty();
    plan.engine = in_lists ? faster_engine(graph, plan.options.rows, plan.estimate) : Engine::bits;
  }
  return plan;
}

// ---- Sizes of shells from a sample of their sources ----

void scale(ShellEstimate& estimate, double factor) {
  for (double& pairs : estimate.pairs) pairs *= factor;
  estimate.arcs *= factor;
}

/// One hop is the graph itself.
ShellEstimate estimate_one_hop(const Graph& graph, const RowRange& rows) {
  const std::uint64_t all = graph.offsets()[rows.end] - graph.offsets()[rows.begin];
  const auto arcs = static_cast<double>(all - std::min(all, graph.self_loops()));
  return {.pairs = {static_cast<double>(rows.count()), arcs},
          .arcs = arcs,
          .exact = graph.self_loops() == 0 || rows.count() == graph.nodes()};
}

/// When no hop is left out, a node is in a shell with every node of its component. Hops are not
/// told apart.
ShellEstimate estimate_all_hops(const Graph& graph, const RowRange& rows) {
  ShellEstimate estimate;
  estimate.pairs.assign(2, 0);
  const Components components = connected_components(graph);
  for (NodeId u = rows.begin; u < rows.end; ++u) {
    estimate.pairs[1] += static_cast<double>(components.size[components.label[u]] - 1);
  }
  estimate.pairs[0] = rows.count();
  return estimate;
}

}  // namespace

void check(const ShellOptions& options) {
  if (options.min_paths < 1 || options.min_paths > 3) {
    fail("min_paths is {}; it can be 1, 2 or 3", options.min_paths);
  }
  if (options.must_store && options.storage == Storage::stream) {
    throw Error("storage stream keeps no shells, and they are needed",
                {"leave {} out", {streamed()}});
  }
}

std::uint64_t working_bytes(const Graph& graph, const ShellOptions& options, std::uint32_t hops,
                            bool keep_hops, bool whole_rows) {
  const auto planes = static_cast<std::uint32_t>(std::bit_width(hops));
  const auto threads = static_cast<std::uint64_t>(thread_count(options.threads));
  return 2 * graph.bytes() + 16 * std::uint64_t{graph.nodes()} +
         threads *
             BitWalk::bytes(graph.nodes(),
                            {.hops = hops, .keep_hops = keep_hops, .min_paths = options.min_paths},
                            planes, whole_rows);
}

bool needs_estimate(const ShellOptions& options) {
  if (options.storage == Storage::stream) {
    return options.hops != all_hops && options.engine == Engine::automatic;
  }
  return options.storage != Storage::dense;
}

ShellPlan plan_from(const Graph& graph, ShellOptions options, ShellEstimate estimate,
                    double dense_above, Progress* progress) {
  check(options);
  ++plans_made;
  if (graph.nodes() == 0) {
    if (options.hops == all_hops) options.hops = 0;
    return make_plan(graph, options, {.pairs = {}, .exact = true}, options.hops, dense_above);
  }
  const double arcs = estimate.arcs;
  const bool all = options.hops == all_hops;
  if (!all || options.storage != Storage::sparse) {
    const std::uint32_t hops = all ? most_hops_in_a_byte : options.hops;
    ShellPlan plan = make_plan(graph, options, std::move(estimate), hops, dense_above);
    const bool sure = plan.estimate.exact || plan.sparse_bytes < plan.budget / 2;
    if (plan.storage != Storage::sparse || (!all && sure)) return plan;
  }
  // Lists need to know how many hops there are; and where the estimate matters, the pairs.
  const std::vector<std::uint64_t> pairs = shell_sizes(graph, options, progress);
  if (all) options.hops = static_cast<std::uint32_t>(std::max<std::size_t>(pairs.size(), 1) - 1);
  return make_plan(graph, options,
                   {.pairs = {pairs.begin(), pairs.end()}, .arcs = arcs, .exact = true},
                   options.hops, dense_above);
}

ShellEstimate estimate_quickly(const Graph& graph, const ShellOptions& options) {
  const RowRange rows = options.rows.within(graph.nodes());
  if (rows.count() == 0) return {};
  if (options.hops == all_hops) return estimate_all_hops(graph, rows);
  if (options.hops == 1) return estimate_one_hop(graph, rows);
  const std::uint64_t wanted =
      std::clamp<std::uint64_t>(rows.count() / costs::rows_per_search, 1, costs::most_searches);
  const std::uint64_t enough_arcs = costs::searches_of_graph * graph.arcs() + costs::arcs_besides;
  QueueWalk walk(graph, options.hops, options.min_paths);
  Random random(options.seed);
  ShellEstimate estimate;
  std::uint64_t arcs = 0;
  std::uint64_t taken = 0;
  for (; taken < wanted && arcs < enough_arcs; ++taken) {
    arcs +=
        walk.count(rows.begin + static_cast<NodeId>(random.below(rows.count())), estimate.pairs);
  }
  estimate.arcs = static_cast<double>(arcs);
  scale(estimate, static_cast<double>(rows.count()) / static_cast<double>(taken));
  return estimate;
}

}  // namespace shells

ShellPlan plan_shells(const Graph& graph, const ShellOptions& options, Progress* progress) {
  shells::check(options);
  const bool sized = graph.nodes() > 0 && shells::needs_estimate(options);
  return shells::plan_from(graph, options,
                           sized ? shells::estimate_quickly(graph, options) : ShellEstimate(),
                           shells::costs::dense_above, progress);
}

ShellPlan plan_shells(const Graph& graph, ShellOptions options, ShellEstimate estimate) {
  const std::size_t found = std::max<std::size_t>(estimate.pairs.size(), 1) - 1;
  options.hops = std::min(options.hops, static_cast<std::uint32_t>(found));
  shells::check(options);
  ++shells::plans_made;
  return shells::make_plan(graph, options, std::move(estimate), options.hops,
                           shells::costs::dense_above);
}

/// From all rows where one batch holds them.
ShellEstimate estimate_shells(const Graph& graph, const ShellOptions& options) {
  using namespace shells;
  check(options);
  if (graph.nodes() == 0) return {.pairs = {}, .exact = true};
  const std::uint32_t hops = std::min(options.hops, most_hops_in_a_byte);
  check_budget(working_bytes(graph, options, hops, false, false), options.memory,
               "estimating the shells");
  const Walkable walkable = make_walkable(graph, {});
  const Columns columns(walkable);
  std::vector<NodeId> sources;
  for (NodeId v = 0; v < walkable.size(); ++v) {
    if (options.rows.contains(walkable.members_of(v).front())) sources.push_back(v);
  }
  const auto rows = static_cast<double>(sources.size());
  Random random(options.seed);
  const std::size_t taken = std::min(sources.size(), kernels::batch_width);
  for (std::size_t i = 0; i < taken; ++i) {
    std::swap(sources[i], sources[i + random.below(sources.size() - i)]);
  }
  sources.resize(taken);
  BitWalk walk(walkable, columns, walk_options(options, false));
  std::vector<std::uint64_t> pairs;
  walk.walk(sources, pairs);
  while (!pairs.empty() && pairs.back() == 0) pairs.pop_back();
  ShellEstimate estimate;
  estimate.pairs.assign(pairs.begin(), pairs.end());
  estimate.exact = sources.size() == static_cast<std::size_t>(rows);
  scale(estimate, rows / std::max(1.0, static_cast<double>(taken)));
  return estimate;
}

}  // namespace ngf
