#include "shells/reference.hpp"

#include <algorithm>

namespace ngf::shells {

PlainSearch plain_search(const Graph& graph, NodeId source) {
  constexpr std::uint64_t many = std::uint64_t{1} << 32;
  PlainSearch found;
  found.hops.assign(graph.nodes(), unreachable);
  found.paths.assign(graph.nodes(), 0);
  std::vector<NodeId> queue{source};
  found.hops[source] = 0;
  found.paths[source] = 1;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeId u = queue[i];
    for (const NodeId v : graph.neighbors(u)) {
      if (found.hops[v] == unreachable) {
        found.hops[v] = found.hops[u] + 1;
        queue.push_back(v);
      }
      if (found.hops[v] == found.hops[u] + 1) {
        found.paths[v] = std::min(many, found.paths[v] + found.paths[u]);
      }
    }
  }
  return found;
}

}  // namespace ngf::shells
