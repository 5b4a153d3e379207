#include "plan_report.hpp"

#include <fmt/format.h>

#include "base/memory.hpp"
#include "ranks.hpp"

namespace ngf::cli {

namespace {

/// How shells will be found and stored, behind the entries that `json` has.
Json with_shells(Json json, const ShellPlan& shells, NodeId nodes) {
  json["nodes"] = nodes;
  json["hops"] = shells.options.hops == all_hops ? Json("all") : Json(shells.options.hops);
  json["merged"] = nodes - shells.nodes;
  json["storage"] = storage_name(shells.storage);
  json["engine"] = engine_name(shells.engine);
  json["bytes"] = shells.bytes();
  for (const Storage kind : {Storage::sparse, Storage::dense, Storage::stream}) {
    // Without an estimate of the pairs, the bytes of lists are unknown.
    if (kind == Storage::sparse && shells.estimate.pairs.empty()) continue;
    json["bytes_of_storage"][std::string(storage_name(kind))] = shells.bytes_of(kind);
  }
  json["budget"] = shells.budget;
  if (!shells.estimate.pairs.empty()) {
    json["pairs"] = static_cast<std::uint64_t>(shells.estimate.total());
    json["pairs_estimated"] = !shells.estimate.exact;
  }
  return json;
}

}  // namespace

Json plan_json(const FilterPlan& plan, NodeId nodes) {
  Json json = with_shells({{"kind", "neighborhood"}}, plan.shells, nodes);
  if (plan.weight_bytes > 0) {
    json["bytes"] = plan.shells.bytes() + plan.weight_bytes;
    json["bytes_of_weights"] = plan.weight_bytes;
  }
  json["normalization"] = normalization_name(plan.normalization);
  json["columns"] = plan.width;
  json["form"] = form_name(plan.form);
  json["flops"] = plan.flops;
  return json;
}

Json plan_json(const ShellPlan& plan, NodeId nodes) {
  return with_shells({{"kind", "shells"}}, plan, nodes);
}

Json plan_json(const FeaturePlan& plan, NodeId nodes) {
  Json json = with_shells({{"kind", "features"}}, plan.shells, nodes);
  json["bytes"] = plan.bytes;
  json["aggregate"] = aggregate_name(plan.aggregate);
  json["columns"] = plan.columns();
  json["form"] = form_name(ProductForm::streamed_lists);
  json["flops"] = plan.shells.estimate.total() * static_cast<double>(plan.width);
  json["passes"] = plan.passes();
  return json;
}

Json plan_json(const PolynomialFilter& filter, std::int64_t width) {
  return {{"kind", "polynomial"},
          {"nodes", filter.nodes()},
          {"hops", filter.taps().count() - 1},
          {"merged", 0},
          {"storage", "shift"},
          {"entries", filter.shift().entries()},
          {"columns", width},
          {"form", "powers"},
          {"bytes", filter.shift().bytes()},
          {"flops", filter.flops(width)}};
}

void print_plan(const Json& plan, const Common& common) {
  if (!speaks()) return;
  if (common.json) return print_json(plan);
  for (const auto& [key, value] : plan.items()) {
    if (value.is_object()) {
      for (const auto& [part, bytes] : value.items()) {
        fmt::print("  {:<16} {}\n", part, detail::human_bytes(bytes.get<std::uint64_t>()));
      }
    } else if (key.starts_with("bytes") || key == "budget") {
      fmt::print("{:<18} {}\n", key, detail::human_bytes(value.get<std::uint64_t>()));
    } else if (value.is_number_float()) {
      fmt::print("{:<18} {:.3g}\n", key, value.get<double>());
    } else {
      fmt::print("{:<18} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

}  // namespace ngf::cli
