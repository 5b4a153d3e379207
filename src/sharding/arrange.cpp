// Who gets which nodes.
//
// Nodes come in the order in which the bit-parallel walk takes its sources, those that hang on a
// source behind it; the shares are pieces of that with about equal work.

#include <algorithm>

#include "base/fail.hpp"
#include "kernels/bit_walk.hpp"
#include "ngf/components.hpp"
#include "ngf/partition.hpp"
#include "sharding/costs.hpp"
#include "shells/walkable.hpp"

namespace ngf {

namespace {

using shells::Walkable;

/// The nodes in the order of the walk; `together` becomes what names those that belong together.
std::vector<NodeId> walk_order(const Walkable& graph, std::vector<NodeId>& together) {
  std::vector<NodeId> order;
  order.reserve(graph.root.size());
  together.reserve(graph.root.size());
  for (const auto& group : group_sources(graph, kernels::batch_width)) {
    for (const NodeId v : group) {
      for (const NodeId x : graph.members_of(v)) {
        order.push_back(x);
        together.push_back(v);
      }
    }
  }
  // Islands, one after the other.
  std::vector<NodeId> islanders(graph.islanders().begin(), graph.islanders().end());
  std::ranges::stable_sort(islanders, {}, [&](NodeId x) { return graph.branch[x]; });
  for (const NodeId x : islanders) {
    order.push_back(x);
    together.push_back(graph.size() + graph.branch[x]);
  }
  return order;
}

/// An upper bound on the number of nodes that each node reaches within `hops`: the number of walks,
/// and no more than the size of its component.
std::vector<double> reach(const Graph& graph, std::uint32_t hops) {
  const Components components = connected_components(graph);
  const auto all_of = [&](NodeId u) {
    return static_cast<double>(components.size[components.label[u]]);
  };
  std::vector<double> now(graph.nodes(), 1);
  if (hops > sharding::costs::hops_by_walks) {
    for (NodeId u = 0; u < graph.nodes(); ++u) now[u] = all_of(u);
    return now;
  }
  std::vector<double> next(graph.nodes());
  for (std::uint32_t k = 0; k < hops; ++k) {
    for (NodeId u = 0; u < graph.nodes(); ++u) {
      double sum = 1;
      for (const NodeId v : graph.neighbors(u)) sum += now[v];
      next[u] = std::min(sum, all_of(u));
    }
    now.swap(next);
  }
  return now;
}

}  // namespace

Arrangement arrange(const Graph& graph, int ranks, std::uint32_t hops) {
  if (ranks < 1) fail("{} ranks; take at least 1", ranks);
  Arrangement result;
  result.begins.assign(1, 0);
  if (graph.nodes() == 0) {
    result.begins.resize(static_cast<std::size_t>(ranks) + 1, 0);
    return result;
  }
  std::vector<NodeId> together;
  const Walkable walkable = shells::make_walkable(graph, {.trees = true, .twins = true});
  result.order = walk_order(walkable, together);
  // A row takes some work even where it is empty.
  std::vector<double> work = reach(graph, hops);
  double total = 0;
  for (double& own : work) total += own += sharding::costs::pairs_of_row;
  const double slack = total / ranks * sharding::costs::slack;
  double before = 0;
  double target = total / ranks;
  for (NodeId i = 0; i < graph.nodes() && result.begins.size() < static_cast<std::size_t>(ranks);
       ++i) {
    const bool may_part = i == 0 || together[i] != together[i - 1];
    while (result.begins.size() < static_cast<std::size_t>(ranks) && i > 0 && before >= target &&
           (may_part || before >= target + slack)) {
      result.begins.push_back(i);
      target = total * static_cast<double>(result.begins.size()) / ranks;
    }
    before += work[result.order[i]];
  }
  result.begins.resize(static_cast<std::size_t>(ranks), graph.nodes());
  result.begins.push_back(graph.nodes());
  return result;
}

Partition::Partition(std::shared_ptr<Communicator> communicator, Arrangement arrangement)
    : communicator_(std::move(communicator)), arrangement_(std::move(arrangement)) {
  const auto& [order, begins] = arrangement_;
  if (begins.size() != static_cast<std::size_t>(communicator_->size()) + 1 || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end())) {
    fail("a partition needs a range of nodes for each of {} ranks", communicator_->size());
  }
  if (!order.empty() && order.size() != nodes()) {
    fail("{} numbers for {} nodes to distribute", order.size(), nodes());
  }
}

RowRange Partition::own() const {
  const auto rank = static_cast<std::size_t>(communicator_->rank());
  return {begins()[rank], begins()[rank + 1]};
}

}  // namespace ngf
