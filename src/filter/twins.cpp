#include "filter/twins.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "graph/twins.hpp"

namespace ngf::filter {

namespace {

/// The first node of each node's class.
std::vector<NodeId> first_twins(const Graph& graph) {
  std::vector<NodeId> first(graph.nodes());
  std::iota(first.begin(), first.end(), NodeId{0});
  if (graph.directed() || graph.self_loops() > 0) return first;
  const std::vector<NodeId> nodes = first;
  detail::find_twins(graph, nodes, [&](NodeId leader, NodeId u, std::uint8_t /*hops*/) {
    first[u] = leader;
    return true;
  });
  return first;
}

/// Splits classes, which nodes know by their first, by group.
void split(std::span<const std::uint32_t> group_of, std::vector<NodeId>& first) {
  std::vector<NodeId> order(first.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  const auto place = [&](NodeId u) { return std::tuple(first[u], group_of[u], u); };
  std::sort(order.begin(), order.end(), [&](NodeId u, NodeId v) { return place(u) < place(v); });
  std::vector<NodeId> result(first.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NodeId u = order[i];
    const NodeId before = i == 0 ? u : order[i - 1];
    const bool together = first[u] == first[before] && group_of[u] == group_of[before];
    result[u] = together && i > 0 ? result[before] : u;
  }
  first = std::move(result);
}

std::uint32_t hops_within(const Graph& graph, std::span<const NodeId> members) {
  const auto row = graph.neighbors(members.front());
  if (row.empty() || members.size() == 1) return all_hops;
  return std::binary_search(row.begin(), row.end(), members.back()) ? 1 : 2;
}

}  // namespace

std::vector<NodeId> Twins::firsts() const {
  std::vector<NodeId> result(classes());
  for (NodeId c = 0; c < classes(); ++c) result[c] = first(c);
  return result;
}

Twins find_twins(const Graph& graph, std::span<const std::uint32_t> group_of) {
  const NodeId nodes = graph.nodes();
  std::vector<NodeId> first = first_twins(graph);
  if (!group_of.empty()) split(group_of, first);
  Twins twins;
  twins.class_of.resize(nodes);
  NodeId classes = 0;
  for (NodeId u = 0; u < nodes; ++u) {
    twins.class_of[u] = first[u] == u ? classes++ : twins.class_of[first[u]];
  }
  twins.begins.assign(classes + std::size_t{1}, 0);
  for (const NodeId c : twins.class_of) ++twins.begins[c + std::size_t{1}];
  std::partial_sum(twins.begins.begin(), twins.begins.end(), twins.begins.begin());
  twins.members.resize(nodes);
  std::vector<NodeId> next(twins.begins.begin(), twins.begins.end() - 1);
  for (NodeId u = 0; u < nodes; ++u) twins.members[next[twins.class_of[u]]++] = u;
  twins.apart.resize(classes);
  for (NodeId c = 0; c < classes; ++c) twins.apart[c] = hops_within(graph, twins.of_class(c));
  return twins;
}

bool within_groups(const Twins& twins, std::span<const std::uint32_t> group_of) {
  if (group_of.empty()) return true;
  for (NodeId u = 0; u < twins.class_of.size(); ++u) {
    if (group_of[u] != group_of[twins.first(twins.class_of[u])]) return false;
  }
  return true;
}

}  // namespace ngf::filter
