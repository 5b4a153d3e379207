#include "shells/walkable.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "kernels/bit_walk.hpp"

namespace ngf::shells {

namespace {

constexpr NodeId none = std::numeric_limits<NodeId>::max();
// Pairs inside a tree are patched one by one, so trees are cut where they grow large.
constexpr std::uint32_t largest_tree = 64;

/// Cuts leaves until none is left. Sets parent and, for the nodes that stay, leaves it at the node
/// itself. Returns the cut nodes in the order of cutting.
std::vector<NodeId> cut_trees_of(const Graph& graph, std::vector<NodeId>& parent) {
  const NodeId nodes = graph.nodes();
  std::vector<std::uint64_t> degree(nodes);
  std::vector<std::uint32_t> weight(nodes, 1);  // nodes cut off behind it, and itself
  std::vector<NodeId> leaves;
  const bool loops = graph.self_loops() > 0;
  for (NodeId u = 0; u < nodes; ++u) {
    const auto row = graph.neighbors(u);
    degree[u] = row.size() - (loops && std::binary_search(row.begin(), row.end(), u) ? 1 : 0);
    if (degree[u] == 1) leaves.push_back(u);
  }
  std::vector<NodeId> cut;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const NodeId x = leaves[i];
    if (degree[x] != 1 || weight[x] > largest_tree) continue;
    const auto row = graph.neighbors(x);
    const NodeId p =
        *std::find_if(row.begin(), row.end(), [&](NodeId u) { return u != x && parent[u] == u; });
    parent[x] = p;
    degree[x] = 0;
    cut.push_back(x);
    weight[p] += weight[x];
    if (--degree[p] == 1) leaves.push_back(p);
  }
  return cut;
}

/// Numbers the nodes that stay, breadth first from a node on the rim, so that neighbours have close
/// numbers. Fills the components and the bounds of the diameter.
class Numbering {
 public:
  Numbering(const Graph& graph, const Graph& back, const std::vector<NodeId>& parent,
            Walkable& result)
      : graph_(graph), back_(back), parent_(parent), result_(result) {}

  /// Returns the nodes in their new order.
  std::vector<NodeId> run() {
    const NodeId nodes = graph_.nodes();
    new_id_.assign(nodes, none);
    std::vector<bool> known(nodes, false);
    for (NodeId start = 0; start < nodes; ++start) {
      if (parent_[start] != start || known[start]) continue;
      walk_from(last_reached_from(start, known));
    }
    return std::move(order_);
  }

 private:
  template <typename Visit>
  void for_each_neighbor(NodeId u, const Visit& visit) const {
    for (const NodeId v : graph_.neighbors(u)) {
      if (parent_[v] == v) visit(v);
    }
    if (!graph_.directed()) return;
    for (const NodeId v : back_.neighbors(u)) visit(v);
  }

  NodeId last_reached_from(NodeId start, std::vector<bool>& known) {
    queue_.assign(1, start);
    known[start] = true;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for_each_neighbor(queue_[i], [&](NodeId v) {
        if (known[v]) return;
        known[v] = true;
        queue_.push_back(v);
      });
    }
    return queue_.back();
  }

  void walk_from(NodeId rim) {
    const auto number = [&](NodeId u) {
      new_id_[u] = static_cast<NodeId>(order_.size());
      order_.push_back(u);
      result_.component.push_back(result_.components);
    };
    const std::size_t begin = order_.size();
    number(rim);
    std::uint32_t levels = 0;
    std::size_t level_end = order_.size();
    for (std::size_t i = begin; i < order_.size(); ++i) {
      if (i == level_end) {
        ++levels;
        level_end = order_.size();
      }
      for_each_neighbor(order_[i], [&](NodeId v) {
        if (new_id_[v] == none) number(v);
      });
    }
    if (!graph_.directed()) {
      ++result_.components;
      result_.diameter_at_least = std::max(result_.diameter_at_least, levels);
      result_.diameter_at_most = std::max(result_.diameter_at_most, 2 * levels);
    }
  }

  const Graph& graph_;
  const Graph& back_;
  const std::vector<NodeId>& parent_;
  Walkable& result_;
  std::vector<NodeId> new_id_;
  std::vector<NodeId> order_;
  std::vector<NodeId> queue_;
};

void renumber_rows(const Graph& graph, std::span<const NodeId> order,
                   const std::vector<NodeId>& new_id, std::vector<std::uint64_t>& offsets,
                   std::vector<NodeId>& rows) {
  constexpr std::size_t step = kernels::row_step;
  const auto nobody = static_cast<NodeId>(order.size());
  offsets.assign(1, 0);
  offsets.reserve(order.size() + 1);
  rows.resize(graph.arcs() + step * order.size());
  NodeId* at = rows.data();
  for (const NodeId u : order) {
    NodeId* const first = at;
    for (const NodeId v : graph.neighbors(u)) {
      *at = new_id[v];
      at += new_id[v] != none && v != u ? 1 : 0;
    }
    const auto length = static_cast<std::size_t>(at - first);
    NodeId* const end = first + std::max(step, (length + step - 1) / step * step);
    std::fill(at, end, nobody);
    at = end;
    offsets.push_back(static_cast<std::uint64_t>(at - rows.data()));
  }
  rows.resize(offsets.back());
}

/// Row g of `members` becomes the nodes of `nodes` whose group is g, in their order.
void collect_by(const std::vector<NodeId>& group, std::size_t groups, std::span<const NodeId> nodes,
                std::vector<std::uint64_t>& offsets, std::vector<NodeId>& members) {
  offsets.assign(groups + 1, 0);
  for (const NodeId x : nodes) ++offsets[group[x] + std::size_t{1}];
  std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
  members.resize(nodes.size());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for (const NodeId x : nodes) members[next[group[x]]++] = x;
}

}  // namespace

Walkable make_walkable(const Graph& graph, bool cut_trees) {
  const NodeId nodes = graph.nodes();
  Walkable result;
  result.parent.resize(nodes);
  std::iota(result.parent.begin(), result.parent.end(), NodeId{0});
  std::vector<NodeId> cut;
  if (cut_trees && !graph.directed()) cut = cut_trees_of(graph, result.parent);

  const Graph back = graph.directed() ? transpose(graph) : Graph();
  const std::vector<NodeId> order = Numbering(graph, back, result.parent, result).run();
  std::vector<NodeId> new_id(nodes, none);
  for (std::size_t i = 0; i < order.size(); ++i) new_id[order[i]] = static_cast<NodeId>(i);
  if (graph.directed()) {
    result.components = nodes > 0 ? 1 : 0;
    result.diameter_at_most = nodes;
    renumber_rows(back, order, new_id, result.pull_offsets, result.pull);
    renumber_rows(graph, order, new_id, result.push_offsets, result.push);
  } else {
    renumber_rows(graph, order, new_id, result.pull_offsets, result.pull);
  }

  result.depth.assign(nodes, 0);
  result.root = new_id;
  result.branch = result.parent;
  // From the roots outwards.
  for (std::size_t i = cut.size(); i-- > 0;) {
    const NodeId x = cut[i];
    const NodeId p = result.parent[x];
    result.root[x] = result.root[p];
    result.depth[x] = static_cast<std::uint8_t>(result.depth[p] + 1);
    result.deepest = std::max<std::uint32_t>(result.deepest, result.depth[x]);
    result.branch[x] = result.depth[p] == 0 ? x : result.branch[p];
  }
  result.diameter_at_most += 2 * result.deepest;
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), NodeId{0});
  collect_by(result.root, order.size(), all, result.member_offsets, result.members);
  collect_by(result.branch, nodes, cut, result.branch_offsets, result.branch_members);
  return result;
}

std::vector<std::vector<NodeId>> group_sources(const Walkable& graph, std::size_t width) {
  const NodeId size = graph.size();
  const auto& offsets = graph.push_row_offsets();
  const auto& rows = graph.push_rows();
  std::vector<std::vector<NodeId>> groups;
  std::vector<NodeId> group;
  std::vector<bool> taken(size + std::size_t{1}, false);
  taken[size] = true;  // nobody
  std::vector<NodeId> ball;
  // Balls grow one after another from the first node that is left, among the nodes that are left;
  // one that ends early (a small component, a pocket) shares its group with the next.
  for (NodeId start = 0; start < size; ++start) {
    if (taken[start]) continue;
    ball.assign(1, start);
    taken[start] = true;
    for (std::size_t i = 0; i < ball.size(); ++i) {
      group.push_back(ball[i]);
      if (group.size() == width) {
        groups.push_back(std::move(group));
        group.clear();
        for (std::size_t j = i + 1; j < ball.size(); ++j) taken[ball[j]] = false;
        break;
      }
      for (std::uint64_t e = offsets[ball[i]]; e < offsets[ball[i] + std::size_t{1}]; ++e) {
        if (taken[rows[e]]) continue;
        taken[rows[e]] = true;
        ball.push_back(rows[e]);
      }
    }
  }
  if (!group.empty()) groups.push_back(std::move(group));
  return groups;
}

std::uint32_t hops_in_branch(const Walkable& graph, NodeId x, NodeId y) {
  std::uint32_t hops = 0;
  for (; x != y; ++hops) {
    NodeId& deeper = graph.depth[x] >= graph.depth[y] ? x : y;
    deeper = graph.parent[deeper];
  }
  return hops;
}

}  // namespace ngf::shells
