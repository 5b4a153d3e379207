#include "plan_report.hpp"

#include <fmt/format.h>

#include "base/memory.hpp"

namespace ngf::cli {

Json plan_json(const FilterPlan& plan, NodeId nodes) {
  const ShellPlan& shells = plan.shells;
  Json json{{"kind", "neighborhood"},
            {"nodes", nodes},
            {"hops", shells.options.hops},
            {"merged", nodes - shells.nodes},
            {"storage", storage_name(shells.storage)},
            {"engine", engine_name(shells.engine)},
            {"normalization", normalization_name(plan.normalization)},
            {"columns", plan.width},
            {"form", form_name(plan.form)},
            {"bytes", shells.bytes()}};
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
  json["flops"] = plan.flops;
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

void print_plan(const Json& plan) {
  for (const auto& [key, value] : plan.items()) {
    if (value.is_object()) {
      for (const auto& [part, bytes] : value.items()) {
        fmt::print("  {:<16} {}\n", part, detail::human_bytes(bytes.get<std::uint64_t>()));
      }
    } else if (key == "bytes" || key == "budget") {
      fmt::print("{:<18} {}\n", key, detail::human_bytes(value.get<std::uint64_t>()));
    } else {
      fmt::print("{:<18} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

}  // namespace ngf::cli
