// shells_bench DATA [NAME ...]: times the shells of the graphs named, or of all, and prints rows as
// JSON. DATA is the folder of real data sets.

#include <functional>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/read.hpp"
#include "ngf/shells.hpp"
#include "peers.hpp"
#include "program.hpp"
#include "shell_rows.hpp"

namespace {

using ngf::Graph;
using ngf::NodeId;
using ngf::bench::Row;

struct Subject {
  std::string name;
  std::function<Graph()> graph;
  bool all_hops = true;
  std::vector<std::uint32_t> few_hops{1, 2, 3, 4};
  /// Slow peers search from at most this number of sources, and their time is scaled up.
  NodeId peer_sources = 4000;
};

std::vector<Subject> subjects(const std::filesystem::path& data) {
  const auto file = [&](const char* path) {
    return [=] { return ngf::io::read_graph(data / path).dataset.graph; };
  };
  return {
      {"Cora", file("planetoid/ind.cora.graph")},
      {"Citeseer", file("planetoid/ind.citeseer.graph")},
      {"Pubmed", file("planetoid/ind.pubmed.graph"), true, {1, 2, 3, 4}, 1000},
      {"ER 20000",
       [] { return ngf::erdos_renyi(20'000, 10.0 / 20'000, 1); },
       true,
       {1, 2, 3, 4},
       1000},
      {"grid 140x140", [] { return ngf::grid(140, 140); }, true, {1, 2, 3, 4}, 1000},
      {"power", file("networkit/power.graph")},
      {"wiki-Vote", file("networkit/wiki-Vote.txt")},
      {"luxembourg", file("luxembourg/luxembourg_osm.mtx"), false},
  };
}

/// The same pairs by another library; its results must be ours.
void add_peers(const Subject& subject, const Graph& graph, double our_seconds,
               std::vector<Row>& rows) {
  const NodeId count = std::min(graph.nodes(), subject.peer_sources);
  ngf::HopMatrix<std::uint16_t> ours(graph.nodes());
  ngf::write_hops(graph, {}, ours);
  for (const ngf::bench::Peer& peer : ngf::bench::peers()) {
    double seconds = 0;
    const auto hops = peer.hops(graph, count, seconds);
    for (NodeId u = 0; u < count; ++u) {
      if (!std::equal(ours.row(u).begin(), ours.row(u).end(),
                      hops.begin() + std::ptrdiff_t{u} * graph.nodes())) {
        throw ngf::Error(
            fmt::format("{}: {} finds other hops from {}", subject.name, peer.name, u));
      }
    }
    seconds *= static_cast<double>(graph.nodes()) / count;
    rows.push_back({fmt::format("{}, all hops: {}", subject.name, peer.name), seconds,
                    seconds / our_seconds, 0,
                    count < graph.nodes() ? fmt::format("scaled up from {} sources", count) : ""});
  }
}

nlohmann::ordered_json run(const std::filesystem::path& data,
                           const std::vector<std::string>& wanted) {
  ngf::bench::ShellTasks tasks;
  tasks.write_bandwidth = ngf::bench::write_bandwidth(0);
  std::vector<Row> rows;
  for (const Subject& subject : subjects(data)) {
    if (!ngf::bench::is_wanted(wanted, subject.name)) continue;
    fmt::print(stderr, "{}\n", subject.name);
    const Graph graph = subject.graph();
    tasks.all_hops = subject.all_hops;
    tasks.few_hops = subject.few_hops;
    auto of_graph = ngf::bench::shell_rows(subject.name, graph, tasks);
    if (subject.all_hops) add_peers(subject, graph, of_graph.front().seconds, of_graph);
    rows.insert(rows.end(), of_graph.begin(), of_graph.end());
  }
  return {{"write_bandwidth", tasks.write_bandwidth}, {"rows", ngf::bench::json_of(rows)}};
}

}  // namespace

int main(int argc, char** argv) { return ngf::bench::run_program("shells_bench", argc, argv, run); }
