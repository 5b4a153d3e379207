// Sizes of shells from a sample of their sources.

#include <utility>

#include "base/memory.hpp"
#include "ngf/components.hpp"
#include "ngf/random.hpp"
#include "shells/costs.hpp"
#include "shells/plan.hpp"
#include "shells/queue_walk.hpp"
#include "shells/walks.hpp"

namespace ngf {

namespace shells {

namespace {

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

/// From all rows where one batch holds them.
ShellEstimate estimate_shells(const Graph& graph, const ShellOptions& options) {
  using namespace shells;
  check(options);
  if (graph.nodes() == 0) return {.pairs = {}, .exact = true};
  const std::uint32_t hops = std::min(options.hops, most_hops_in_a_byte);
  detail::check_budget(working_bytes(graph, options, hops, false, false), options.memory,
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
