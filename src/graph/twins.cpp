#include "graph/twins.hpp"

#include <bit>
#include <limits>
#include <vector>

namespace ngf::detail {

namespace {

constexpr NodeId none = std::numeric_limits<NodeId>::max();

std::uint64_t scatter(NodeId v) {
  const std::uint64_t product = (v + std::uint64_t{1}) * 0x9E3779B97F4A7C15;
  return product ^ product >> 29;
}

bool are_twins(const Graph& graph, NodeId a, NodeId b) {
  const auto of_a = graph.neighbors(a);
  const auto of_b = graph.neighbors(b);
  if (of_a.size() != of_b.size()) return false;
  auto v = of_b.begin();
  for (const NodeId u : of_a) {
    if (u == b) continue;
    if (v != of_b.end() && *v == a) ++v;
    if (v == of_b.end() || *v++ != u) return false;
  }
  return true;
}

}  // namespace

void find_twins(const Graph& graph, std::span<const NodeId> candidates,
                const std::function<bool(NodeId, NodeId, std::uint8_t)>& merge) {
  std::vector<std::uint64_t> keys(graph.nodes(), 0);  // the same for twins, hardly for others
  const auto merge_equal = [&](std::uint8_t hops) {
    const std::size_t mask = std::bit_ceil(2 * candidates.size() + 1) - 1;
    std::vector<NodeId> slots(mask + 1, none);
    for (const NodeId u : candidates) {
      const auto is_other = [&](NodeId v) { return keys[v] != keys[u] || !are_twins(graph, v, u); };
      std::size_t slot = (keys[u] >> 17) & mask;
      while (slots[slot] != none && is_other(slots[slot])) slot = (slot + 1) & mask;
      const NodeId first = slots[slot];
      if (first == none || !merge(first, u, hops)) slots[slot] = u;
    }
  };
  for (const NodeId u : candidates) {
    for (const NodeId v : graph.neighbors(u)) keys[u] += scatter(v);
  }
  merge_equal(2);
  // Twins that are neighbours have the same neighbours only with themselves among them. They have
  // no twins of the other kind.
  for (const NodeId u : candidates) keys[u] += scatter(u);
  merge_equal(1);
}

}  // namespace ngf::detail
