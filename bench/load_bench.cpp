// load_bench FILE: reads a graph and prints, as JSON, how long it took and what it took.

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "ngf/io/read.hpp"

namespace {

/// The most memory that this program has held. getrusage would count what its parent held.
long peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  long kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:" && status >> kilobytes) break;
  }
  return kilobytes * 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: load_bench FILE\n", stderr);
    return 2;
  }
  try {
    const auto start = std::chrono::steady_clock::now();
    const auto result = ngf::io::read_graph(argv[1]);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const long peak = peak_bytes();
    const ngf::Graph& graph = result.dataset.graph;
    std::printf(
        "{\"seconds\": %.4f, \"peak_rss_bytes\": %ld, \"graph_bytes\": %llu, \"nodes\": %u, "
        "\"edges\": %llu, \"self_loops\": %llu, \"duplicates\": %llu}\n",
        seconds.count(), peak, static_cast<unsigned long long>(graph.bytes()), graph.nodes(),
        static_cast<unsigned long long>(graph.edges()),
        static_cast<unsigned long long>(result.counts.self_loops),
        static_cast<unsigned long long>(result.counts.duplicates));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
