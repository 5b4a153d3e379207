#include "io/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ngf::io {

namespace {

bool all_one(std::span<const double> weights) {
  return std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; });
}

void drop_unit_weights(std::vector<EdgeBlock>& blocks) {
  const bool unit = std::all_of(blocks.begin(), blocks.end(), [](const EdgeBlock& block) {
    return block.weights.size() == block.edges.size() && all_one(block.weights);
  });
  if (!unit) return;
  for (EdgeBlock& block : blocks) block.weights = {};
}

}  // namespace

void assemble(ReadResult& result, NodeId nodes, std::vector<EdgeBlock> blocks,
              const ReadOptions& options, Entries entries) {
  drop_unit_weights(blocks);
  const BuildOptions build{.directed = options.directed && entries != Entries::half_a_matrix,
                           .keep_self_loops = options.keep_self_loops,
                           .entries_of_matrix = entries == Entries::whole_matrix,
                           .threads = options.threads,
                           .memory = options.memory,
                           .progress = options.progress};
  Graph graph = build_graph(nodes, std::move(blocks), build, &result.counts);
  if (options.directed) graph = as_directed(std::move(graph));
  // Self-loops that were dropped may have had the only weights that differ from 1.
  if (graph.weighted() && all_one(graph.weights())) {
    graph = Graph({graph.offsets().begin(), graph.offsets().end()},
                  {graph.targets().begin(), graph.targets().end()}, {}, graph.directed());
  }
  result.dataset.graph = std::move(graph);
  if (result.counts.conflicting_weights > 0) {
    result.warnings.push_back(
        fmt::format("{} entries repeat an edge with another weight; the largest weight is kept",
                    result.counts.conflicting_weights));
  }
}

}  // namespace ngf::io
