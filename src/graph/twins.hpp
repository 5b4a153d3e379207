#pragma once

#include <functional>

#include "ngf/graph.hpp"

namespace ngf::detail {

/// Finds nodes with the same neighbours, apart from each other, in an undirected graph without
/// self-loops. A node that is not the first of its twins in the order of `candidates` is offered to
/// that one: merge(first, u, hops), with 1 hop between neighbours, otherwise 2 (or none, where they
/// have no neighbours). If that returns false, later twins will be offered to u instead.
void find_twins(const Graph& graph, std::span<const NodeId> candidates,
                const std::function<bool(NodeId first, NodeId u, std::uint8_t hops)>& merge);

}  // namespace ngf::detail
