#include "shell_rows.hpp"

#include <fmt/format.h>

#include <cstring>

#include "ngf/error.hpp"
#include "ngf/shells.hpp"
#include "plain_bfs.hpp"

namespace ngf::bench {

namespace {

/// Arcs that a search from each node looks at.
double arcs_of_all_searches(const Graph& graph, const std::vector<std::uint64_t>& pairs) {
  // In a connected graph each search looks at each arc; elsewhere this is an estimate by pairs.
  double reached = 0;
  for (const std::uint64_t count : pairs) reached += static_cast<double>(count);
  return reached * static_cast<double>(graph.arcs()) / static_cast<double>(graph.nodes());
}

template <typename Hop>
void compare(const std::string& name, const HopMatrix<Hop>& ours, const HopMatrix<Hop>& theirs) {
  for (NodeId u = 0; u < ours.nodes(); ++u) {
    if (std::memcmp(ours.row(u).data(), theirs.row(u).data(), ours.row(u).size_bytes()) != 0) {
      throw Error(fmt::format("{}: row {} differs from the plain search", name, u));
    }
  }
}

template <typename Hop>
void add_all_hops(const std::string& name, const Graph& graph,
                  const std::vector<std::uint64_t>& pairs, const ShellTasks& tasks,
                  std::vector<Row>& rows) {
  ShellOptions options;
  options.threads = tasks.threads;
  // Both write into memory that was touched before.
  HopMatrix<Hop> ours(graph.nodes());
  HopMatrix<Hop> theirs(graph.nodes());
  write_hops(graph, options, ours);
  plain_hops(graph, tasks.threads, theirs);
  compare(name, ours, theirs);

  ShellOptions two_paths = options;
  two_paths.min_paths = 2;
  const auto best = best_seconds(
      {[&] { write_hops(graph, options, ours); }, [&] { plain_hops(graph, tasks.threads, theirs); },
       [&] { write_hops(graph, two_paths, ours); }},
      3);
  const double seconds = best[0];
  const double plain = best[1];
  const double counting = best[2];

  const double limit = static_cast<double>(ours.bytes()) / tasks.write_bandwidth;
  const std::string task = name + ", all hops";
  const double arcs = arcs_of_all_searches(graph, pairs);
  rows.push_back({task + ": ngf", seconds, 1, limit / seconds, {}});
  rows.push_back({task + ": plain BFS", plain, plain / seconds, limit / plain,
                  fmt::format("{:.0f} M arcs/s", arcs / plain / 1e6)});
  rows.push_back({task + ": ngf, 2 paths", counting, counting / seconds, limit / counting, {}});
}

template <typename Column>
void compare(const std::string& name, const ColumnLists<Column>& ours,
             const ColumnLists<Column>& theirs, NodeId nodes) {
  for (NodeId u = 0; u < nodes; ++u) {
    for (std::uint32_t hop = 1; hop <= theirs.hops(); ++hop) {
      const auto a = ours.columns(u, hop);
      const auto b = theirs.columns(u, hop);
      if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) {
        throw Error(
            fmt::format("{}: node {} at {} hops differs from the plain search", name, u, hop));
      }
    }
  }
}

template <typename Column>
void add_few_hops(const std::string& name, const Graph& graph, std::uint32_t hops,
                  const ShellTasks& tasks, std::vector<Row>& rows) {
  ShellOptions options;
  options.threads = tasks.threads;
  options.hops = hops;
  options.storage = Storage::sparse;
  const auto theirs = plain_lists<Column>(graph, hops, tasks.threads);
  const std::string task = fmt::format("{}, {} hops", name, hops);
  std::vector<std::string> names;
  std::vector<std::string> notes;
  std::vector<std::function<void()>> bodies;
  double bytes = 0;
  for (const Engine engine : {Engine::automatic, Engine::bits, Engine::queue}) {
    const bool forced = engine != Engine::automatic;
    options.engine = engine;
    const Shells shells = build_shells(graph, options);
    compare(task, std::get<ColumnLists<Column>>(shells.held()), theirs, graph.nodes());
    bytes = static_cast<double>(shells.bytes());
    names.push_back(forced ? fmt::format("ngf, {}", engine_name(engine)) : "ngf");
    notes.emplace_back(forced ? "" : engine_name(shells.plan().engine));
    bodies.emplace_back([&graph, options] { build_shells(graph, options); });
  }
  names.emplace_back("plain BFS");
  notes.emplace_back();
  bodies.emplace_back([&] { plain_lists<Column>(graph, hops, tasks.threads); });

  const auto best = best_seconds(bodies, tasks.seconds);
  const double limit = bytes / tasks.write_bandwidth;
  for (std::size_t i = 0; i < best.size(); ++i) {
    rows.push_back({fmt::format("{}: {}", task, names[i]), best[i], best[i] / best[0],
                    limit / best[i], notes[i]});
  }
}

}  // namespace

std::vector<Row> shell_rows(const std::string& name, const Graph& graph, const ShellTasks& tasks) {
  std::vector<Row> rows;
  if (tasks.all_hops) {
    ShellOptions options;
    options.threads = tasks.threads;
    const auto pairs = shell_sizes(graph, options);
    if (pairs.size() <= HopMatrix<std::uint8_t>::farther) {
      add_all_hops<std::uint8_t>(name, graph, pairs, tasks, rows);
    } else {
      add_all_hops<std::uint16_t>(name, graph, pairs, tasks, rows);
    }
  }
  for (const std::uint32_t hops : tasks.few_hops) {
    if (graph.nodes() <= std::numeric_limits<std::uint16_t>::max()) {
      add_few_hops<std::uint16_t>(name, graph, hops, tasks, rows);
    } else {
      add_few_hops<std::uint32_t>(name, graph, hops, tasks, rows);
    }
  }
  return rows;
}

}  // namespace ngf::bench
