#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "filter_rows.hpp"
#include "graph_source.hpp"
#include "measure.hpp"
#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "shell_rows.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct BenchVerb {
  Common common;
  GraphSource source;
  std::string what = "shells";
  double seconds = 0.5;
};

/// Tables of all pairs up to this many nodes are timed; beyond, few hops alone.
constexpr NodeId most_nodes_for_all_hops = 30'000;

/// Dense products of all pairs up to this many nodes.
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
  return bench::filter_rows(name, graph, tasks);
}

void run_bench(const BenchVerb& verb) {
  const bool shells = verb.what == "shells";
  const double limit = shells ? bench::write_bandwidth(verb.common.threads)
                              : bench::multiplication_rate(verb.common.threads);
  std::vector<bench::Row> rows;
  const auto add = [&](const std::string& name, const Graph& graph) {
    const auto of_graph =
        shells ? time_shells(name, graph, verb, limit) : time_filters(name, graph, verb, limit);
    rows.insert(rows.end(), of_graph.begin(), of_graph.end());
  };
  if (verb.source.name().empty()) {
    add("small world", watts_strogatz(5000, 4, 0.1, verb.common.seed));
    add("random", erdos_renyi(5000, 10.0 / 5000, verb.common.seed));
    add("grid", grid(60, 60));
  } else {
    add(verb.source.name(), verb.source.load(verb.common).dataset.graph);
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
      "bench", "How fast this machine is, on a graph of yours or on built-in ones");
  bench->add_option("WHAT", verb->what, "What to time")
      ->check(CLI::IsMember({"shells", "filter"}))
      ->capture_default_str();
  bench->add_option("--seconds", verb->seconds, "To spend on each row, at least")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  verb->source.add_to(*bench, false);
  verb->common.add_to(*bench);
  bench->callback([verb] { run_bench(*verb); });
}

}  // namespace ngf::cli
