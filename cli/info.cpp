#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "base/memory.hpp"
#include "common.hpp"
#include "graph_source.hpp"
#include "ngf/components.hpp"
#include "ngf/eccentricity.hpp"
#include "ranks.hpp"
#include "shell_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct Info {
  Common common;
  GraphSource source;
  ShellFlags shells;
  bool no_extent = false;
};

struct ComponentFacts {
  std::size_t count = 0;
  Graph largest;         ///< weak when directed
  Graph strong_largest;  ///< for directed graphs alone
  Extent extent;
};

ComponentFacts look_at_components(const Graph& graph, const Info& info) {
  ComponentFacts facts;
  const Components components = connected_components(graph);
  facts.count = components.size.size();
  facts.largest = induced_subgraph(graph, components.largest());
  if (graph.directed()) {
    facts.strong_largest = induced_subgraph(graph, strong_components(graph).largest());
  }
  if (!info.no_extent) {
    TerminalProgress progress("radius and diameter", info.common.quiet);
    facts.extent =
        measure_extent(graph.directed() ? facts.strong_largest : facts.largest, &progress);
  }
  return facts;
}

std::size_t unlabelled_nodes(const Dataset& dataset) {
  return static_cast<std::size_t>(std::count(dataset.labels.begin(), dataset.labels.end(), -1));
}

Json to_json(const io::ReadResult& read, const ComponentFacts& facts, const Info& info) {
  const Dataset& dataset = read.dataset;
  const Graph& graph = dataset.graph;
  const DegreeStatistics degrees = degree_statistics(graph);
  Json json;
  json["graph"] = info.source.name();
  if (read.format) json["format"] = io::format_name(*read.format);
  json["nodes"] = graph.nodes();
  json["edges"] = graph.edges();
  json["self_loops"] = read.counts.self_loops;
  json["duplicates"] = read.counts.duplicates;
  json["directed"] = graph.directed();
  json["weighted"] = graph.weighted();
  json["components"] = facts.count;
  Json& largest = json["largest_component"];
  largest["nodes"] = facts.largest.nodes();
  largest["edges"] = facts.largest.edges();
  if (!info.no_extent) {
    largest["radius"] = facts.extent.radius;
    largest["diameter"] = facts.extent.diameter;
    json["bfs"] = facts.extent.bfs;
  }
  if (graph.directed()) {
    json["largest_strong_component"] = {{"nodes", facts.strong_largest.nodes()},
                                        {"edges", facts.strong_largest.edges()}};
  }
  json["degrees"] = {{"min", degrees.min},
                     {"median", degrees.median},
                     {"mean", degrees.mean},
                     {"max", degrees.max},
                     {"isolated", degrees.isolated}};
  if (dataset.feature_count() > 0) json["features"] = dataset.feature_count();
  if (!dataset.labels.empty()) {
    json["classes"] = dataset.class_count();
    json["unlabelled"] = unlabelled_nodes(dataset);
  }
  for (const Split& split : dataset.splits) {
    json["splits"].push_back({{"train", split.train.size()},
                              {"validation", split.validation.size()},
                              {"test", split.test.size()}});
  }
  json["bytes"] = graph.bytes();
  return json;
}

void print_for_people(const io::ReadResult& read, const ComponentFacts& facts, const Info& info) {
  const Dataset& dataset = read.dataset;
  const Graph& graph = dataset.graph;
  const DegreeStatistics degrees = degree_statistics(graph);
  const auto line = [](std::string_view key, const std::string& value) {
    fmt::print("  {:<18} {}\n", key, value);
  };
  fmt::print("{}{}\n", info.source.name(),
             read.format ? fmt::format(" ({})", io::format_name(*read.format)) : std::string());
  line("nodes", fmt::format("{}", graph.nodes()));
  line("edges", fmt::format("{} ({}{})", graph.edges(), graph.directed() ? "arcs" : "undirected",
                            graph.weighted() ? ", weighted" : ""));
  if (read.counts.self_loops > 0) {
    line("self-loops",
         fmt::format("{} in the file, {} kept", read.counts.self_loops, graph.self_loops()));
  }
  if (read.counts.duplicates > 0) {
    line("duplicates", fmt::format("{} in the file, dropped", read.counts.duplicates));
  }
  line("degrees", fmt::format("{} to {}, mean {:.2f}, median {:g}; {} isolated nodes", degrees.min,
                              degrees.max, degrees.mean, degrees.median, degrees.isolated));
  line("components", fmt::format("{}; the largest has {} nodes and {} edges", facts.count,
                                 facts.largest.nodes(), facts.largest.edges()));
  if (graph.directed()) {
    line("strong component",
         fmt::format("the largest has {} nodes and {} arcs", facts.strong_largest.nodes(),
                     facts.strong_largest.edges()));
  }
  if (!info.no_extent) {
    line("radius, diameter",
         fmt::format("{}, {} (of the largest {}component; {} searches)", facts.extent.radius,
                     facts.extent.diameter, graph.directed() ? "strong " : "", facts.extent.bfs));
  }
  if (dataset.feature_count() > 0) {
    line("features",
         fmt::format("{} ({})", dataset.feature_count(),
                     std::holds_alternative<SparseMatrixF>(dataset.features) ? "sparse" : "dense"));
  }
  if (!dataset.labels.empty()) {
    line("classes", fmt::format("{}; {} nodes without a label", dataset.class_count(),
                                unlabelled_nodes(dataset)));
  }
  if (!dataset.splits.empty()) {
    const Split& first = dataset.splits.front();
    line("splits", fmt::format("{}; the first has {} / {} / {} nodes to train, validate and test",
                               dataset.splits.size(), first.train.size(), first.validation.size(),
                               first.test.size()));
  }
}

/// Rounds an estimate of pairs.
std::uint64_t pairs_at(const ShellPlan& plan, std::size_t hop) {
  return static_cast<std::uint64_t>(std::llround(plan.estimate.pairs[hop]));
}

void add_plan(Json& json, const ShellPlan& plan) {
  for (std::size_t k = 0; k < plan.estimate.pairs.size(); ++k) {
    json["shells"].push_back(
        {{"hop", k}, {"pairs", pairs_at(plan, k)}, {"estimated", !plan.estimate.exact}});
  }
  for (const Storage kind : {Storage::sparse, Storage::dense, Storage::stream}) {
    json["storage"].push_back({{"kind", storage_name(kind)}, {"bytes", plan.bytes_of(kind)}});
  }
  json["chosen"] = storage_name(plan.storage);
}

void print_plan(const ShellPlan& plan) {
  fmt::print("\n  {:>6} {:>16}\n", "hops", plan.estimate.exact ? "pairs" : "pairs, about");
  for (std::size_t k = 0; k < plan.estimate.pairs.size(); ++k) {
    fmt::print("  {:>6} {:>16}\n", k, pairs_at(plan, k));
  }
  fmt::print("\n  {:<10} {:>12}\n", "storage", "memory");
  for (const Storage kind : {Storage::sparse, Storage::dense, Storage::stream}) {
    fmt::print("  {:<10} {:>12}{}\n", storage_name(kind), detail::human_bytes(plan.bytes_of(kind)),
               kind == plan.storage ? "  <- chosen" : "");
  }
}

/// Counts the size of every shell.
ShellPlan detailed_plan(const Graph& graph, const ShellOptions& options) {
  return plan_shells(graph, options, estimate_shells(graph, options));
}

/// The memory of each rank.
Json plans_of_ranks(const Graph& of_first, const Info& info) {
  ShellOptions options = info.shells.options(info.common);
  const ShardedDataset sharded = distribute_graph(of_first, options.hops);
  options.rows = sharded.partition->own();
  const ShellPlan plan = detailed_plan(sharded.dataset.graph, options);
  const auto pairs = static_cast<std::uint64_t>(std::llround(plan.estimate.total()));
  return by_rank(*sharded.partition, pairs, plan.bytes());
}

void run_info(const Info& info) {
  const io::ReadResult read = info.source.load(info.common);
  Json ranks;
  if (communicator() != nullptr && info.shells.given())
    ranks = plans_of_ranks(read.dataset.graph, info);
  if (!speaks()) return;
  const ComponentFacts facts = look_at_components(read.dataset.graph, info);
  std::optional<ShellPlan> plan;
  if (info.shells.given()) {
    plan = detailed_plan(read.dataset.graph, info.shells.options(info.common));
  }
  if (info.common.json) {
    Json json = to_json(read, facts, info);
    if (plan) add_plan(json, *plan);
    if (!ranks.is_null()) json["ranks"] = ranks;
    print_json(json);
  } else {
    print_for_people(read, facts, info);
    if (plan) print_plan(*plan);
  }
}

}  // namespace

void add_info(CLI::App& program) {
  auto info = std::make_shared<Info>();
  CLI::App* const verb =
      program.add_subcommand("info", "Describe a graph: size, components, radius and diameter");
  info->source.add_to(*verb);
  info->shells.add_to(*verb);
  verb->add_flag("--no-extent", info->no_extent, "Do not compute radius and diameter");
  info->common.add_to(*verb);
  verb->callback([info] { run_info(*info); });
}

}  // namespace ngf::cli
