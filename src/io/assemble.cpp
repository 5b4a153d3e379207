#include "io/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/checks.hpp"

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

void check_weights(const Input& input, const ReadOptions& options, const EdgeName& name_of,
                   ReadResult& result) {
  if (!result.counts.first_conflict) return;
  const auto& [edge, kept, other] = *result.counts.first_conflict;
  const std::uint64_t more = result.counts.conflicting_weights - 1;
  report_contradiction(
      input, options, result,
      fmt::format("{} has two weights, {} and {}{}{}", name_of(edge), kept, other,
                  more > 0 ? fmt::format(", and {} more entries differ", more) : "",
                  options.lenient ? "; the largest weight is kept" : ""),
      options.directed
          ? Advice{"the option {} keeps the largest", {{"lenient", true}}}
          : Advice{"the option {} keeps u-v and v-u apart, {} keeps the largest weight",
                   {{"directed", true}, {"lenient", true}}});
}

}  // namespace

EdgeName edge_name_from(NodeId base) {
  return [base](const Edge& edge) {
    return fmt::format("edge {}-{}", std::uint64_t{edge.from} + base,
                       std::uint64_t{edge.to} + base);
  };
}

void assemble(const Input& input, ReadResult& result, NodeId nodes, std::vector<EdgeBlock> blocks,
              const ReadOptions& options, Entries entries, const EdgeName& name_of) {
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
  check_weights(input, options, name_of, result);
}

}  // namespace ngf::io
