#include "filter/twins.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "ngf/random.hpp"

namespace ngf::filter {

namespace {

/// Nodes of one group with equal keys are likely twins.
struct Candidate {
  std::uint64_t key;
  std::uint32_t group;
  NodeId node;

  bool same_as(const Candidate& other) const { return key == other.key && group == other.group; }
};

/// Whether u and v have the same neighbours but for each other. The graph has no self-loops.
bool are_twins(const Graph& graph, NodeId u, NodeId v) {
  const auto of_u = graph.neighbors(u);
  const auto of_v = graph.neighbors(v);
  if (of_u.size() != of_v.size()) return false;
  auto i = of_u.begin();
  auto j = of_v.begin();
  for (;;) {
    if (i != of_u.end() && *i == v) ++i;
    if (j != of_v.end() && *j == u) ++j;
    if (i == of_u.end() || j == of_v.end()) return i == of_u.end() && j == of_v.end();
    if (*i++ != *j++) return false;
  }
}

/// A number for each node, such that sums of different nodes are hardly ever equal.
std::vector<std::uint64_t> random_numbers(NodeId count) {
  Random random(1);
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t& number : numbers) number = random.bits64();
  return numbers;
}

/// Joins candidates to the first of their twins. No node has twins both among its neighbours and
/// elsewhere, since they would be each other's.
void join_twins(const Graph& graph, std::vector<Candidate> candidates, std::vector<NodeId>& first) {
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.key, a.group, a.node) < std::tie(b.key, b.group, b.node);
  });
  const Candidate* leader = nullptr;
  for (const Candidate& candidate : candidates) {
    if (leader == nullptr || !candidate.same_as(*leader)) {
      leader = &candidate;
    } else if (are_twins(graph, leader->node, candidate.node)) {
      first[candidate.node] = leader->node;
    }
  }
}

/// The first node of each node's class.
std::vector<NodeId> first_twins(const Graph& graph, std::span<const std::uint32_t> group_of) {
  const NodeId nodes = graph.nodes();
  std::vector<NodeId> first(nodes);
  std::iota(first.begin(), first.end(), NodeId{0});
  if (graph.directed() || graph.self_loops() > 0) return first;
  const std::vector<std::uint64_t> numbers = random_numbers(nodes);
  std::vector<Candidate> candidates(nodes);
  for (NodeId u = 0; u < nodes; ++u) {
    candidates[u] = {0, group_of.empty() ? 0 : group_of[u], u};
    for (const NodeId v : graph.neighbors(u)) candidates[u].key += numbers[v];
  }
  join_twins(graph, candidates, first);
  for (Candidate& candidate : candidates) candidate.key += numbers[candidate.node];
  join_twins(graph, std::move(candidates), first);
  return first;
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
  const std::vector<NodeId> first = first_twins(graph, group_of);
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
