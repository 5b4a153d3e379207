#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common.hpp"
#include "cost_rows.hpp"
#include "filter_rows.hpp"
#include "form_rows.hpp"
#include "graph_source.hpp"
#include "measure.hpp"
#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "shell_rows.hpp"
#include "train_rows.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct BenchVerb {
  Common common;
  GraphSource source;
  std::string what = "shells";
  double seconds = 0.5;
};

/// Largest number of nodes for which all pairs are measured; larger graphs have few hops.
constexpr NodeId most_nodes_for_all_hops = 30'000;

/// Largest number of nodes for dense products of all pairs.
constexpr NodeId most_nodes_for_filters = 20'000;

std::vector<bench::Row> time_shells(const std::string& name, const Graph& graph,
                                    const BenchVerb& verb, double bandwidth) {
  bench::ShellTasks tasks;
  tasks.threads = verb.common.threads;
  tasks.seconds = verb.seconds;
  tasks.write_bandwidth = bandwidth;
  tasks.all_hops = graph.nodes() <= most_nodes_for_all_hops;
  return bench::shell_rows(name, graph, tasks);
}

std::vector<bench::Row> time_filters(const std::string& name, const Graph& graph,
                                     const BenchVerb& verb, double rate) {
  if (graph.nodes() > most_nodes_for_filters) {
    throw Error(fmt::format("{}: {} nodes; filters are timed on up to {}", name, graph.nodes(),
                            most_nodes_for_filters));
  }
  bench::FilterTasks tasks;
  tasks.threads = verb.common.threads;
  tasks.seconds = verb.seconds;
  tasks.multiplications = rate;
  return verb.what == "forms" ? bench::form_rows(name, graph, tasks)
                              : bench::filter_rows(name, graph, tasks);
}

std::vector<bench::Row> time_training(const std::string& name, const Dataset& dataset,
                                      const BenchVerb& verb, double rate) {
  if (dataset.labels.empty() || dataset.feature_count() == 0 || dataset.splits.empty()) {
    throw Error(
        fmt::format("{}: training is timed on data sets with features, labels and a split", name));
  }
  bench::TrainTasks tasks;
  tasks.threads = verb.common.threads;
  tasks.multiplications = rate;
  return bench::train_rows(name, dataset, tasks);
}

using Subjects = std::vector<std::pair<std::string, Dataset>>;

/// The named graph, or the built-in graphs.
Subjects subjects_of(const BenchVerb& verb) {
  Subjects result;
  if (!verb.source.name().empty()) {
    result.emplace_back(verb.source.name(), verb.source.load(verb.common).dataset);
  } else if (verb.what == "train") {
    result.emplace_back("citation", citation_network(2708, verb.common.seed));
  } else {
    result.resize(3);
    result[0].first = "small world";
    result[0].second.graph = watts_strogatz(5000, 4, 0.1, verb.common.seed);
    result[1].first = "random";
    result[1].second.graph = erdos_renyi(5000, 10.0 / 5000, verb.common.seed);
    result[2].first = "grid";
    result[2].second.graph = grid(60, 60);
  }
  return result;
}

/// Measures the constants that choose between algorithms.
void run_costs(const BenchVerb& verb) {
  const std::vector<bench::Cost> costs = bench::measure_costs(verb.common.threads, verb.seconds);
  if (verb.common.json) {
    Json json{{"costs", Json::array()}};
    for (const bench::Cost& cost : costs) {
      json["costs"].push_back({{"name", cost.name},
                               {"unit", cost.unit},
                               {"in_use", cost.in_use},
                               {"measured", cost.measured}});
    }
    print_json(json);
    return;
  }
  fmt::print("{:48} {:>10} {:>10}  {}\n", "", "in use", "measured", "unit");
  for (const bench::Cost& cost : costs) {
    fmt::print("{:48} {:>10.3g} {:>10.3g}  {}\n", cost.name, cost.in_use, cost.measured, cost.unit);
  }
}

void run_bench(const BenchVerb& verb) {
  if (verb.what == "costs") return run_costs(verb);
  const bool shells = verb.what == "shells";
  const double limit = shells ? bench::write_bandwidth(verb.common.threads)
                              : bench::multiplication_rate(verb.common.threads);
  std::vector<bench::Row> rows;
  for (const auto& [name, dataset] : subjects_of(verb)) {
    const auto of_graph = shells                 ? time_shells(name, dataset.graph, verb, limit)
                          : verb.what == "train" ? time_training(name, dataset, verb, limit)
                                                 : time_filters(name, dataset.graph, verb, limit);
    rows.insert(rows.end(), of_graph.begin(), of_graph.end());
  }
  if (verb.common.json) {
    Json json{{"rows", Json::array()}};
    for (const bench::Row& row : rows) {
      json["rows"].push_back({{"name", row.name},
                              {"seconds", row.seconds},
                              {"ratio", row.ratio},
                              {"limit_fraction", row.limit_fraction}});
    }
    print_json(json);
    return;
  }
  fmt::print("{:44} {:>10} {:>8} {:>9}\n", "", "ms", "of ours", "of limit");
  for (const bench::Row& row : rows) {
    fmt::print("{:44} {:>10.3f} {:>7.2f}x {:>8.1f}%  {}\n", row.name, row.seconds * 1e3, row.ratio,
               row.limit_fraction * 100, row.note);
  }
  fmt::print("limit: {} {:.1f} {}, measured just now\n",
             shells ? "writing the answer at" : "multiplying and adding at", limit / 1e9,
             shells ? "GB/s" : "GFLOP/s");
}

}  // namespace

void add_bench(CLI::App& program) {
  auto verb = std::make_shared<BenchVerb>();
  CLI::App* const bench = program.add_subcommand(
      "bench", "Measure the speed of this machine on your graph or on built-in graphs");
  bench->add_option("WHAT", verb->what, "What to measure")
      ->check(CLI::IsMember({"shells", "filter", "forms", "train", "costs"}))
      ->capture_default_str();
  bench->add_option("--seconds", verb->seconds, "Minimum measuring time of each row, in seconds")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  verb->source.add_to(*bench, false);
  verb->common.add_to(*bench);
  bench->callback([verb] { run_bench(*verb); });
}

}  // namespace ngf::cli
