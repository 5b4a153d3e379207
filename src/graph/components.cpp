#include "ngf/components.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ngf {

namespace {

constexpr NodeId unlabelled = std::numeric_limits<NodeId>::max();

/// Renames labels so that components are numbered by their smallest node, and counts sizes.
Components in_order_of_first_node(std::vector<NodeId> label, NodeId count) {
  std::vector<NodeId> new_label(count, unlabelled);
  Components result;
  for (NodeId& name : label) {
    if (new_label[name] == unlabelled) {
      new_label[name] = static_cast<NodeId>(result.size.size());
      result.size.push_back(0);
    }
    name = new_label[name];
    ++result.size[name];
  }
  result.label = std::move(label);
  return result;
}

}  // namespace

std::vector<NodeId> Components::largest() const {
  std::vector<NodeId> nodes;
  if (size.empty()) return nodes;
  const auto biggest = std::max_element(size.begin(), size.end());
  const auto name = static_cast<NodeId>(biggest - size.begin());
  nodes.reserve(*biggest);
  for (std::size_t u = 0; u < label.size(); ++u) {
    if (label[u] == name) nodes.push_back(static_cast<NodeId>(u));
  }
  return nodes;
}

Components connected_components(const Graph& graph) {
  const NodeId nodes = graph.nodes();
  const Graph back = graph.directed() ? transpose(graph) : Graph();
  std::vector<NodeId> label(nodes, unlabelled);
  std::vector<NodeId> reached;
  NodeId count = 0;
  for (NodeId start = 0; start < nodes; ++start) {
    if (label[start] != unlabelled) continue;
    label[start] = count;
    reached.assign(1, start);
    const auto visit = [&](NodeId v) {
      if (label[v] != unlabelled) return;
      label[v] = count;
      reached.push_back(v);
    };
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const NodeId u = reached[i];
      for (const NodeId v : graph.neighbors(u)) visit(v);
      if (graph.directed()) {
        for (const NodeId v : back.neighbors(u)) visit(v);
      }
    }
    ++count;
  }
  return in_order_of_first_node(std::move(label), count);
}

// Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972) with a stack of its
// own in place of recursion, since a path of a million nodes is a legal graph.
Components strong_components(const Graph& graph) {
  struct Frame {
    NodeId node;
    std::size_t next_neighbor;
  };
  const NodeId nodes = graph.nodes();
  std::vector<NodeId> order(nodes, unlabelled);
  std::vector<NodeId> low(nodes);
  std::vector<NodeId> label(nodes, unlabelled);
  std::vector<NodeId> open;
  std::vector<Frame> path;
  NodeId visited = 0;
  NodeId count = 0;
  const auto enter = [&](NodeId u) {
    order[u] = low[u] = visited++;
    open.push_back(u);
    path.push_back({u, 0});
  };
  for (NodeId start = 0; start < nodes; ++start) {
    if (order[start] != unlabelled) continue;
    enter(start);
    while (!path.empty()) {
      const NodeId u = path.back().node;
      const auto row = graph.neighbors(u);
      if (path.back().next_neighbor < row.size()) {
        const NodeId v = row[path.back().next_neighbor++];
        if (order[v] == unlabelled) {
          enter(v);
        } else if (label[v] == unlabelled) {
          low[u] = std::min(low[u], order[v]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        NodeId& parent_low = low[path.back().node];
        parent_low = std::min(parent_low, low[u]);
      }
      if (low[u] != order[u]) continue;
      for (NodeId v = unlabelled; v != u;) {
        v = open.back();
        open.pop_back();
        label[v] = count;
      }
      ++count;
    }
  }
  return in_order_of_first_node(std::move(label), count);
}

}  // namespace ngf
