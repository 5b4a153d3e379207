#pragma once

#include "common.hpp"
#include "ngf/features.hpp"
#include "ngf/filter.hpp"

/// Plans of filters and features, as JSON and as text.
namespace ngf::cli {

/// `nodes` are those of the graph, before twins are merged.
Json plan_json(const FilterPlan& plan, NodeId nodes);
Json plan_json(const PolynomialFilter& filter, std::int64_t width);
Json plan_json(const ShellPlan& plan, NodeId nodes);
Json plan_json(const FeaturePlan& plan, NodeId nodes);

/// Prints a plan as JSON, or one line for each of its entries. Of several ranks, one prints.
void print_plan(const Json& plan, const Common& common);

}  // namespace ngf::cli
