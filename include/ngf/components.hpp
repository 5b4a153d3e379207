#pragma once

#include <vector>

#include "ngf/graph.hpp"

namespace ngf {

/// A partition of the nodes. Components are numbered by their smallest node.
struct Components {
  std::vector<NodeId> label;  ///< one for each node
  std::vector<NodeId> size;   ///< one for each component

  /// The nodes of the largest component, increasing; of equals, the one with the smallest node.
  std::vector<NodeId> largest() const;
};

/// Connected components; of a directed graph, the weak ones (directions ignored).
Components connected_components(const Graph& graph);

/// Strongly connected components: u and v reach each other along arcs.
Components strong_components(const Graph& graph);

}  // namespace ngf
