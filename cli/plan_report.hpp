#pragma once

#include "common.hpp"
#include "ngf/filter.hpp"

/// Plans of filters, as JSON and as text.
namespace ngf::cli {

/// `nodes` are those of the graph, before twins are merged.
Json plan_json(const FilterPlan& plan, NodeId nodes);
Json plan_json(const PolynomialFilter& filter, std::int64_t width);

/// Prints one line for each entry of the JSON form of a plan.
void print_plan(const Json& plan);

}  // namespace ngf::cli
