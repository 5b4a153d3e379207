#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure.hpp"
#include "ngf/graph.hpp"

namespace ngf::bench {

/// The task: Y = H X, with H = sum over k < taps of h_k A_k, and X of `widths` columns, in float.
/// Peers have H at hand, as a sparse matrix or a dense one; ngf has the shells and the taps.
struct FilterTasks {
  std::vector<std::uint32_t> taps{3, 5, 10};
  std::vector<int> widths{1, 16, 64, 512};
  int threads = 0;
  double seconds = 1;          ///< to spend on each row
  double multiplications = 0;  ///< and additions a second: what the machine allows
};

/// Times our forms of storage, Eigen's sparse product and the dense libraries that are installed,
/// after their results were compared. Throws Error where they differ.
std::vector<Row> filter_rows(const std::string& name, const Graph& graph, const FilterTasks& tasks);

}  // namespace ngf::bench
