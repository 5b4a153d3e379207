#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "ngf/graph.hpp"

namespace ngf::bench {

struct ShellTasks {
  bool all_hops = true;
  std::vector<std::uint32_t> few_hops{1, 2, 3, 4};
  int threads = 0;
  double seconds = 1;          ///< to spend on each row
  double write_bandwidth = 0;  ///< bytes a second
};

/// Times our engines and the plain search on the tasks, after their results were compared. Throws
/// Error where they differ.
std::vector<Row> shell_rows(const std::string& name, const Graph& graph, const ShellTasks& tasks);

}  // namespace ngf::bench
