#pragma once

#include <string>
#include <vector>

#include "filter_rows.hpp"

namespace ngf::bench {

/// Times each product form on the same task, after the results were checked. The ratio is to the
/// fastest form; notes say which one is chosen for its storage. Throws Error where a result is off.
std::vector<Row> form_rows(const std::string& name, const Graph& graph, const FilterTasks& tasks);

}  // namespace ngf::bench
