#include "shells/twins.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "graph/twins.hpp"

namespace ngf {

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

/// Splits classes, which nodes know by their first, by the number that group(u) gives a node.
template <typename Group>
void split(const Group& group, std::vector<NodeId>& first) {
  std::vector<NodeId> order(first.size());
  std::iota(order.begin(), order.end(), NodeId{0});
  const auto place = [&](NodeId u) { return std::tuple(first[u], group(u), u); };
  std::sort(order.begin(), order.end(), [&](NodeId u, NodeId v) { return place(u) < place(v); });
  std::vector<NodeId> result(first.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const NodeId u = order[i];
    const NodeId before = i == 0 ? u : order[i - 1];
    const bool together = first[u] == first[before] && group(u) == group(before);
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

RowRange Twins::members_of(const RowRange& some) const {
  const NodeId count = begins[some.end] - begins[some.begin];
  const NodeId begin = count == 0 ? 0 : first(some.begin);
  return {begin, begin + count};
}

RowRange Twins::classes_of(const RowRange& nodes) const {
  if (nodes.count() == 0) return {0, 0};
  const NodeId begin = class_of[nodes.begin];
  NodeId end = begin;
  while (end < classes() && first(end) < nodes.end) ++end;
  return {begin, end};
}

namespace shells {

std::optional<Twins> find_twins(const Graph& graph, std::span<const std::uint32_t> group_of,
                                const RowRange& rows) {
  const NodeId nodes = graph.nodes();
  std::vector<NodeId> first = first_twins(graph);
  if (!group_of.empty()) split([&](NodeId u) { return group_of[u]; }, first);
  if (rows.within(nodes).count() < nodes) split([&](NodeId u) { return rows.contains(u); }, first);
  Twins twins;
  twins.class_of.resize(nodes);
  NodeId classes = 0;
  for (NodeId u = 0; u < nodes; ++u) {
    twins.class_of[u] = first[u] == u ? classes++ : twins.class_of[first[u]];
  }
  if (classes == nodes) return {};
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

}  // namespace shells

}  // namespace ngf
