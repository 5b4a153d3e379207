#include "shells/walkable.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/twins.hpp"
#include "kernels/bit_walk.hpp"
#include "shells/costs.hpp"

namespace ngf::shells {

namespace {

constexpr NodeId none = std::numeric_limits<NodeId>::max();
// Pairs of a branch are patched one by one, so none may grow large.
constexpr std::uint32_t largest_branch = 64;

/// Decides which nodes stay in the walk of an undirected graph.
class Reducing {
 public:
  explicit Reducing(const Graph& graph)
      : graph_(graph),
        stays_(graph.nodes(), 1),
        parent_(graph.nodes()),
        twin_(graph.nodes()),
        twin_hops_(graph.nodes(), 0) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    std::iota(twin_.begin(), twin_.end(), NodeId{0});
  }

  void run(const Reduction& reduction) {
    const bool loops = graph_.self_loops() > 0;
    if (reduction.trees) cut_trees(loops);
    // A loop would look like one more neighbour.
    if (reduction.twins && !loops) merge_twins();
  }

  const std::vector<std::uint8_t>& stays() const { return stays_; }
  const std::vector<NodeId>& cut() const { return cut_; }  ///< in the order of cutting
  const std::vector<NodeId>& parent() const { return parent_; }
  const std::vector<NodeId>& twin() const { return twin_; }  ///< the one that stays
  const std::vector<std::uint8_t>& twin_hops() const { return twin_hops_; }

 private:
  /// Cuts leaves until none is left, and what is left of small trees.
  void cut_trees(bool loops) {
    const NodeId nodes = graph_.nodes();
    std::vector<std::uint64_t> degree(nodes);
    weight_.assign(nodes, 1);
    std::vector<NodeId> leaves;
    for (NodeId u = 0; u < nodes; ++u) {
      const auto row = graph_.neighbors(u);
      degree[u] = row.size() - (loops && std::binary_search(row.begin(), row.end(), u) ? 1 : 0);
      if (degree[u] == 1) leaves.push_back(u);
    }
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const NodeId x = leaves[i];
      if (degree[x] != 1 || weight_[x] > largest_branch) continue;
      const auto row = graph_.neighbors(x);
      const NodeId p =
          *std::find_if(row.begin(), row.end(), [&](NodeId u) { return u != x && stays_[u] != 0; });
      parent_[x] = p;
      stays_[x] = 0;
      cut_.push_back(x);
      weight_[p] += weight_[x];
      if (--degree[p] == 1) leaves.push_back(p);
    }
    for (NodeId u = 0; u < nodes; ++u) {
      if (stays_[u] != 0 && degree[u] == 0 && weight_[u] <= largest_branch) stays_[u] = 0;
    }
  }

  /// Twins with trees behind them are left alone: from one tree to the other it is farther.
  void merge_twins() {
    std::vector<NodeId> candidates(graph_.nodes() + std::size_t{1});
    std::size_t found = 0;
    for (NodeId u = 0; u < graph_.nodes(); ++u) {
      candidates[found] = u;
      found += stays_[u] != 0 && (weight_.empty() || weight_[u] == 1) ? 1 : 0;
    }
    candidates.resize(found);
    std::vector<std::uint8_t> count(graph_.nodes(), 1);
    detail::find_twins(graph_, candidates, [&](NodeId first, NodeId u, std::uint8_t hops) {
      if (count[first] == largest_branch) return false;
      ++count[first];
      twin_[u] = first;
      stays_[u] = 0;
      twin_hops_[u] = twin_hops_[first] = hops;
      return true;
    });
  }

  const Graph& graph_;
  std::vector<std::uint8_t> stays_;
  std::vector<NodeId> cut_;
  std::vector<NodeId> parent_;
  std::vector<std::uint32_t> weight_;  // nodes cut off behind it, and itself
  std::vector<NodeId> twin_;
  std::vector<std::uint8_t> twin_hops_;
};

/// Numbers the nodes that stay, breadth first from a node on the rim, so that neighbours have close
/// numbers. Fills the components and the bounds of the diameter.
class Numbering {
 public:
  Numbering(const Graph& graph, const Graph& back, const std::vector<std::uint8_t>& stays,
            Walkable& result)
      : graph_(graph), back_(back), state_(graph.nodes()), result_(result) {
    for (NodeId u = 0; u < graph.nodes(); ++u) state_[u] = stays[u] != 0 ? unknown : left_out;
  }

  /// Returns the nodes in their new order.
  std::vector<NodeId> run() {
    const NodeId nodes = graph_.nodes();
    order_.resize(nodes + std::size_t{1});
    for (NodeId start = 0; start < nodes; ++start) {
      if (state_[start] != unknown) continue;
      const std::size_t begin = count_;
      search<known>(start);
      const NodeId rim = order_[count_ - 1];
      count_ = begin;
      const std::uint32_t levels = search<numbered>(rim);
      result_.component.resize(count_, result_.components);
      if (graph_.directed()) continue;
      ++result_.components;
      result_.diameter_at_least = std::max(result_.diameter_at_least, levels);
      result_.diameter_at_most = std::max(result_.diameter_at_most, 2 * levels);
    }
    order_.resize(count_);
    return std::move(order_);
  }

 private:
  using State = std::uint8_t;
  static constexpr State unknown = 0;
  static constexpr State known = 1;
  static constexpr State numbered = 2;
  static constexpr State left_out = 3;

  /// Appends the component of `start`, whose nodes have all had the state before `state`, breadth
  /// first. Returns the hops to the last of it.
  template <State state>
  std::uint32_t search(NodeId start) {
    NodeId* const order = order_.data();
    std::size_t end = count_;
    // Every neighbour is written, and kept if it is new: a branch on that could not be predicted.
    const auto append = [order, states = state_.data(), &end](std::span<const NodeId> row) {
      for (const NodeId v : row) {
        const bool fresh = states[v] == state - 1;
        order[end] = v;
        end += fresh ? 1 : 0;
        states[v] = fresh ? state : states[v];
      }
    };
    append(std::span(&start, 1));
    std::uint32_t levels = 0;
    std::size_t level_end = end;
    for (std::size_t i = count_; i < end; ++i) {
      if (i == level_end) {
        ++levels;
        level_end = end;
      }
      const NodeId u = order[i];
      append(graph_.neighbors(u));
      if (graph_.directed()) append(back_.neighbors(u));
    }
    count_ = end;
    return levels;
  }

  const Graph& graph_;
  const Graph& back_;
  std::vector<State> state_;
  Walkable& result_;
  std::vector<NodeId> order_;  // and room for one that is not kept
  std::size_t count_ = 0;
};

/// Whether neighbours are as far apart, in this order, as in any other.
bool is_scattered(const Graph& graph, std::span<const NodeId> order,
                  const std::vector<NodeId>& new_id) {
  constexpr std::size_t step = 16;  // a sample is enough
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < order.size(); i += step) {
    for (const NodeId v : graph.neighbors(order[i])) {
      if (new_id[v] == none) continue;
      sum += new_id[v] > i ? new_id[v] - i : i - new_id[v];
      ++count;
    }
  }
  // A third of all nodes lie between two of them on average, in a random order.
  return sum > count * order.size() / 4;
}

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

/// Consecutive nodes, which their numbering has put together.
std::vector<std::vector<NodeId>> group_in_order(const Walkable& graph, std::size_t width) {
  std::vector<std::vector<NodeId>> groups;
  for (std::size_t begin = 0; begin < graph.size(); begin += width) {
    auto& group = groups.emplace_back(std::min(width, graph.size() - begin));
    std::iota(group.begin(), group.end(), static_cast<NodeId>(begin));
  }
  return groups;
}

/// Halves the nodes again and again, by how far they are from one of a few landmarks: the one that
/// tells them apart most. On a lattice, that makes diamonds of them, and nothing is rounder where
/// distances are counted in hops.
class Halving {
 public:
  Halving(const Walkable& graph, std::size_t width) : graph_(graph), width_(width) {
    // Each landmark is as far as can be from all before it; the first node is on the rim.
    std::vector<std::uint32_t> nearest(graph.size(), none);
    NodeId landmark = 0;
    for (std::size_t i = 0; i < costs::landmarks; ++i) {
      distances_.push_back(distances_from(landmark));
      for (NodeId v = 0; v < graph.size(); ++v) {
        nearest[v] = std::min(nearest[v], distances_.back()[v]);
      }
      landmark =
          static_cast<NodeId>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
    }
  }

  std::vector<std::vector<NodeId>> run() {
    std::vector<NodeId> nodes(graph_.size());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    halve(nodes);
    return std::move(groups_);
  }

 private:
  /// `none` where no path leads.
  std::vector<std::uint32_t> distances_from(NodeId source) const {
    std::vector<std::uint32_t> distance(graph_.size() + std::size_t{1}, none);
    distance[graph_.size()] = 0;  // nobody is never entered
    distance[source] = 0;
    std::vector<NodeId> queue{source};
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId u = queue[i];
      for (std::uint64_t e = graph_.pull_offsets[u]; e < graph_.pull_offsets[u + std::size_t{1}];
           ++e) {
        const NodeId v = graph_.pull[e];
        if (distance[v] != none) continue;
        distance[v] = distance[u] + 1;
        queue.push_back(v);
      }
    }
    return distance;
  }

  std::uint32_t spread(std::span<const NodeId> nodes, std::size_t landmark) const {
    std::uint32_t smallest = none;
    std::uint32_t largest = 0;
    for (const NodeId v : nodes) {
      smallest = std::min(smallest, distances_[landmark][v]);
      largest = std::max(largest, distances_[landmark][v]);
    }
    return largest - smallest;
  }

  void halve(std::span<NodeId> nodes) {
    if (nodes.size() <= width_) {
      groups_.emplace_back(nodes.begin(), nodes.end());
      return;
    }
    std::size_t best = 0;
    std::uint32_t widest = 0;
    for (std::size_t landmark = 0; landmark < distances_.size(); ++landmark) {
      const std::uint32_t here = spread(nodes, landmark);
      if (here > widest) {
        widest = here;
        best = landmark;
      }
    }
    const std::size_t groups = (nodes.size() + width_ - 1) / width_;
    const std::size_t middle = groups / 2 * width_;
    const auto& distance = distances_[best];
    std::nth_element(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(middle),
                     nodes.end(), [&](NodeId u, NodeId v) {
                       return distance[u] != distance[v] ? distance[u] < distance[v] : u < v;
                     });
    halve(nodes.first(middle));
    halve(nodes.subspan(middle));
  }

  const Walkable& graph_;
  std::size_t width_;
  std::vector<std::vector<std::uint32_t>> distances_;
  std::vector<std::vector<NodeId>> groups_;
};

/// Places the nodes that the walk does not have at those that it has.
void attach(const Reducing& reducing, const std::vector<NodeId>& new_id, Walkable& result) {
  const NodeId nobody = result.size();
  const auto nodes = static_cast<NodeId>(new_id.size());
  result.parent = reducing.parent();
  result.twin_hops = reducing.twin_hops();
  result.depth.assign(nodes, 0);
  result.root.resize(nodes);
  result.branch.resize(nodes);
  std::vector<NodeId> patched = reducing.cut();
  for (NodeId u = 0; u < nodes; ++u) {
    const NodeId twin = reducing.twin()[u];
    const bool on_island = new_id[twin] == none;
    result.root[u] = on_island ? nobody : new_id[twin];
    result.branch[u] = twin;
    const bool is_cut = result.parent[u] != u;
    if (!is_cut && (on_island || result.twin_hops[u] > 0)) patched.push_back(u);
  }
  // From the roots outwards.
  for (std::size_t i = reducing.cut().size(); i-- > 0;) {
    const NodeId x = reducing.cut()[i];
    const NodeId p = result.parent[x];
    result.root[x] = result.root[p];
    result.depth[x] = static_cast<std::uint8_t>(result.depth[p] + 1);
    result.deepest = std::max<std::uint32_t>(result.deepest, result.depth[x]);
    const bool first = result.depth[p] == 0 && result.root[p] != nobody;
    result.branch[x] = first ? x : result.branch[p];
  }
  result.diameter_at_most += 2 * result.deepest;
  std::vector<NodeId> all(nodes);
  std::iota(all.begin(), all.end(), NodeId{0});
  collect_by(result.root, nobody + std::size_t{1}, all, result.member_offsets, result.members);
  collect_by(result.branch, nodes, patched, result.branch_offsets, result.branch_members);
}

}  // namespace

Walkable make_walkable(const Graph& graph, const Reduction& reduction) {
  const NodeId nodes = graph.nodes();
  Reducing reducing(graph);
  if (!graph.directed()) reducing.run(reduction);

  Walkable result;
  const Graph back = graph.directed() ? transpose(graph) : Graph();
  std::vector<NodeId> order = Numbering(graph, back, reducing.stays(), result).run();
  std::vector<NodeId> new_id(nodes, none);
  const auto number = [&] {
    for (std::size_t i = 0; i < order.size(); ++i) new_id[order[i]] = static_cast<NodeId>(i);
  };
  number();
  result.scattered = is_scattered(graph, order, new_id);
  if (result.scattered && result.components == 1) {
    // Then the order of the graph's own numbers is better: rows are written in it.
    order.clear();
    for (NodeId u = 0; u < nodes; ++u) {
      if (new_id[u] != none) order.push_back(u);
    }
    number();
  }
  if (graph.directed()) {
    result.components = nodes > 0 ? 1 : 0;
    result.diameter_at_most = nodes;
    renumber_rows(back, order, new_id, result.pull_offsets, result.pull);
    renumber_rows(graph, order, new_id, result.push_offsets, result.push);
  } else {
    renumber_rows(graph, order, new_id, result.pull_offsets, result.pull);
  }
  attach(reducing, new_id, result);
  return result;
}

std::vector<std::vector<NodeId>> group_sources(const Walkable& graph, std::size_t width) {
  const bool halving =
      graph.diameter_at_least >= costs::halved_hops && graph.size() >= costs::halved_groups * width;
  auto groups = halving ? Halving(graph, width).run() : group_in_order(graph, width);
  if (!graph.islanders().empty()) groups.emplace_back();
  return groups;
}

std::uint32_t hops_in_branch(const Walkable& graph, NodeId x, NodeId y) {
  if (x != y && graph.twin_hops[x] > 0) return graph.twin_hops[x];
  std::uint32_t hops = 0;
  for (; x != y; ++hops) {
    NodeId& deeper = graph.depth[x] >= graph.depth[y] ? x : y;
    deeper = graph.parent[deeper];
  }
  return hops;
}

}  // namespace ngf::shells
