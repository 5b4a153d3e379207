#pragma once

#include "ngf/graph.hpp"

namespace ngf::shells {

inline constexpr std::uint32_t unreachable = ~std::uint32_t{0};

/// What a search from one source finds, for each node.
struct PlainSearch {
  std::vector<std::uint32_t> hops;   ///< `unreachable` where no path leads
  std::vector<std::uint64_t> paths;  ///< shortest paths, saturating at 2^32
};

/// The specification: breadth-first search with a queue, from one source, along arcs. Everything
/// faster must equal it.
PlainSearch plain_search(const Graph& graph, NodeId source);

}  // namespace ngf::shells
