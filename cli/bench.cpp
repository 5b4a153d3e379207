#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "graph_source.hpp"
#include "measure.hpp"
#include "ngf/generate.hpp"
#include "shell_rows.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct BenchVerb {
  Common common;
  GraphSource source;
  std::string what = "shells";
};

/// Tables of all pairs up to this many nodes are timed; beyond, few hops alone.
constexpr NodeId most_nodes_for_all_hops = 30'000;

std::vector<bench::Row> time_shells(const std::string& name, const Graph& graph,
                                    const Common& common, double write_bandwidth) {
  bench::ShellTasks tasks;
  tasks.threads = common.threads;
  tasks.write_bandwidth = write_bandwidth;
  tasks.all_hops = graph.nodes() <= most_nodes_for_all_hops;
  return bench::shell_rows(name, graph, tasks);
}

void run_bench(const BenchVerb& verb) {
  const double bandwidth = bench::write_bandwidth(verb.common.threads);
  std::vector<bench::Row> rows;
  const auto add = [&](const std::string& name, const Graph& graph) {
    const auto of_graph = time_shells(name, graph, verb.common, bandwidth);
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
  fmt::print("limit: writing the answer at {:.1f} GB/s, measured just now\n", bandwidth / 1e9);
}

}  // namespace

void add_bench(CLI::App& program) {
  auto verb = std::make_shared<BenchVerb>();
  CLI::App* const bench = program.add_subcommand(
      "bench", "How fast this machine is, on a graph of yours or on built-in ones");
  bench->add_option("WHAT", verb->what, "What to time")
      ->check(CLI::IsMember({"shells"}))
      ->capture_default_str();
  verb->source.add_to(*bench, false);
  verb->common.add_to(*bench);
  bench->callback([verb] { run_bench(*verb); });
}

}  // namespace ngf::cli
