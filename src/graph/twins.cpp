#include "graph/twins.hpp"

#include <bit>
#include <limits>
#include <vector>

namespace ngf::detail {

namespace {

constexpr NodeId none = std::numeric_limits<NodeId>::max();

class TwinFinder {
 public:
  TwinFinder(const Graph& graph, std::span<const NodeId> candidates)
      : graph_(graph), candidates_(candidates), keys_(graph.nodes(), 0) {}

  template <typename Merge>
  void run(const Merge& merge) {
    for (const NodeId u : candidates_) {
      for (const NodeId v : graph_.neighbors(u)) keys_[u] += scatter(v);
    }
    merge_equal(2, merge);
    // Twins that are neighbours have the same neighbours only with themselves among them. They have
    // no twins of the other kind.
    for (const NodeId u : candidates_) keys_[u] += scatter(u);
    merge_equal(1, merge);
  }

 private:
  static std::uint64_t scatter(NodeId v) {
    const std::uint64_t product = (v + std::uint64_t{1}) * 0x9E3779B97F4A7C15;
    return product ^ product >> 29;
  }

  template <typename Merge>
  void merge_equal(std::uint8_t hops, const Merge& merge) const {
    const std::size_t mask = std::bit_ceil(2 * candidates_.size() + 1) - 1;
    std::vector<NodeId> slots(mask + 1, none);
    for (const NodeId u : candidates_) {
      std::size_t slot = (keys_[u] >> 17) & mask;
      while (slots[slot] != none && !are_twins(slots[slot], u)) slot = (slot + 1) & mask;
      const NodeId first = slots[slot];
      if (first == none || !merge(first, u, hops)) slots[slot] = u;
    }
  }

  bool are_twins(NodeId a, NodeId b) const {
    const auto of_a = graph_.neighbors(a);
    const auto of_b = graph_.neighbors(b);
    if (keys_[a] != keys_[b] || of_a.size() != of_b.size()) return false;
    auto v = of_b.begin();
    for (const NodeId u : of_a) {
      if (u == b) continue;
      if (v != of_b.end() && *v == a) ++v;
      if (v == of_b.end() || *v++ != u) return false;
    }
    return true;
  }

  const Graph& graph_;
  std::span<const NodeId> candidates_;
  std::vector<std::uint64_t> keys_;  // the same for twins, and hardly ever for others
};

}  // namespace

void find_twins(const Graph& graph, std::span<const NodeId> candidates,
                const std::function<bool(NodeId, NodeId, std::uint8_t)>& merge) {
  TwinFinder(graph, candidates).run(merge);
}

}  // namespace ngf::detail
