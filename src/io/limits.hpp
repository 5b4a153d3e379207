#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "io/input.hpp"
#include "ngf/graph.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Throws Error when a graph of `nodes` nodes is more than the size of its file justifies, or more
/// than a NodeId counts. `place` says where the number comes from.
inline void check_node_count(std::uint64_t nodes, const Input& input, std::string_view place) {
  constexpr std::uint64_t always_fine = std::uint64_t{1} << 22;
  if (nodes > std::numeric_limits<NodeId>::max()) {
    detail::fail("{}: {} nodes; at most {} are possible", place, nodes,
                 std::numeric_limits<NodeId>::max());
  }
  if (nodes > std::max(always_fine, 64 * input.size())) {
    detail::fail("{}: {} nodes in a file of {} bytes: the number is not credible", place, nodes,
                 input.size());
  }
}

/// The largest label that is credible in a data set of `nodes` nodes: a network has an output for
/// each number up to the largest, so more classes than nodes are an error, but for small graphs
/// that are part of a larger one.
inline std::int64_t largest_label(std::uint64_t nodes) {
  constexpr std::uint64_t always_fine = 65535;
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int64_t>(std::clamp(nodes, always_fine + 1, most) - 1);
}

/// Throws MemoryExceeded when the caller's copies of a matrix of numbers do not fit into the
/// budget.
inline void check_matrix_budget(const Input& input, std::uint64_t rows, std::uint64_t cols,
                                const MatrixReadOptions& options) {
  const auto copies = static_cast<std::uint64_t>(options.copies);
  detail::check_budget(copies * rows * cols * sizeof(double), options.memory,
                       fmt::format("{}: work on {} x {} numbers", input.name(), rows, cols));
}

}  // namespace ngf::io
