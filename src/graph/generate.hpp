#pragma once

#include <cstdint>

#include "ngf/generate.hpp"

namespace ngf::detail {

/// The number of nodes as a NodeId. Throws Error when there are too many, or when the graph with
/// about `edges` edges does not fit into memory.
NodeId checked_nodes(std::uint64_t nodes, double edges, const GenerateOptions& options);

}  // namespace ngf::detail
