#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/graph.hpp"

// Other libraries that find hop distances, where they are installed. Each is used as its own
// documentation advises for many sources on an unweighted graph.

namespace ngf::bench {

struct Peer {
  std::string_view name;
  /// The hops from each of the sources 0..count-1 to each node, row by row; `unreachable` where
  /// there is no path.
  std::vector<std::uint16_t> (*hops)(const Graph& graph, NodeId count, double& seconds);
};

constexpr std::uint16_t unreachable = 65535;

/// The peers that this program was built with.
std::vector<Peer> peers();

}  // namespace ngf::bench
