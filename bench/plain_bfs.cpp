#include "plain_bfs.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "ngf/error.hpp"

namespace ngf::bench {

namespace {

using detail::parallel_for;
using detail::thread_count;

/// Fills the row of `source`. The row itself tells which nodes were reached. False when a hop does
/// not fit.
template <typename Hop>
bool search(const Graph& graph, NodeId source, Hop* row, NodeId* queue) {
  constexpr Hop farther = HopMatrix<Hop>::farther;
  const std::uint64_t* const offsets = graph.offsets().data();
  const NodeId* const targets = graph.targets().data();
  std::memset(row, 0xFF, graph.nodes() * sizeof(Hop));
  row[source] = 0;
  queue[0] = source;
  NodeId* end = queue + 1;
  for (const NodeId* at = queue; at != end; ++at) {
    const NodeId u = *at;
    const auto next = static_cast<Hop>(row[u] + 1);
    const NodeId* const last = targets + offsets[u + std::size_t{1}];
    for (const NodeId* arc = targets + offsets[u]; arc != last; ++arc) {
      const NodeId v = *arc;
      if (row[v] != farther) continue;
      row[v] = next;
      *end++ = v;
    }
    if (next == farther && end != at + 1) return false;
  }
  return true;
}

}  // namespace

template <typename Hop>
void plain_hops(const Graph& graph, int threads, HopMatrix<Hop>& into) {
  std::atomic<bool> fits{true};
  constexpr std::size_t rows_at_a_time = 16;
  const std::size_t nodes = graph.nodes();
  std::vector<std::vector<NodeId>> queues(static_cast<std::size_t>(thread_count(threads)));
  parallel_for((nodes + rows_at_a_time - 1) / rows_at_a_time, threads,
               [&](std::size_t block, std::size_t thread) {
                 std::vector<NodeId>& queue = queues[thread];
                 queue.resize(nodes);
                 const std::size_t end = std::min(nodes, (block + 1) * rows_at_a_time);
                 for (std::size_t u = block * rows_at_a_time; u < end; ++u) {
                   const auto source = static_cast<NodeId>(u);
                   if (!search(graph, source, into.row_data(source), queue.data())) fits = false;
                 }
               });
  if (!fits) throw Error("plain_hops: hops do not fit their type");
}

template <typename Column>
ColumnLists<Column> plain_lists(const Graph& graph, std::uint32_t hops, int threads) {
  constexpr std::size_t rows_at_a_time = 256;
  const NodeId nodes = graph.nodes();
  const std::size_t blocks = (nodes + rows_at_a_time - 1) / rows_at_a_time;
  ColumnLists<Column> lists(RowRange{0, nodes}, hops, blocks);
  struct Worker {
    std::vector<NodeId> queue;
    std::vector<NodeId> mark;  // the source, counted from 1, that last reached a node
  };
  std::vector<Worker> workers(static_cast<std::size_t>(thread_count(threads)));
  parallel_for(blocks, threads, [&](std::size_t block, std::size_t thread) {
    auto& [queue, mark] = workers[thread];
    queue.resize(nodes);
    mark.resize(nodes, 0);
    std::vector<NodeId> rows;
    std::vector<std::uint32_t> ends;
    std::vector<Column> columns;
    const auto last =
        static_cast<NodeId>(std::min<std::size_t>(nodes, (block + 1) * rows_at_a_time));
    for (auto source = static_cast<NodeId>(block * rows_at_a_time); source < last; ++source) {
      const NodeId stamp = source + 1;
      const std::size_t row_begin = columns.size();
      mark[source] = stamp;
      queue[0] = source;
      std::size_t begin = 0;
      std::size_t end = 1;
      for (std::uint32_t hop = 1; hop <= hops; ++hop) {
        std::size_t next = end;
        for (std::size_t i = begin; i < end; ++i) {
          for (const NodeId v : graph.neighbors(queue[i])) {
            if (mark[v] == stamp) continue;
            mark[v] = stamp;
            queue[next++] = v;
          }
        }
        begin = end;
        end = next;
        const std::size_t first = columns.size();
        for (std::size_t i = begin; i < end; ++i) {
          columns.push_back(static_cast<Column>(queue[i]));
        }
        std::sort(columns.begin() + static_cast<std::ptrdiff_t>(first), columns.end());
        ends.push_back(static_cast<std::uint32_t>(columns.size() - row_begin));
      }
      rows.push_back(source);
    }
    lists.add(block, {rows, ends, columns});
  });
  return lists;
}

template void plain_hops(const Graph&, int, HopMatrix<std::uint8_t>&);
template void plain_hops(const Graph&, int, HopMatrix<std::uint16_t>&);
template ColumnLists<std::uint16_t> plain_lists(const Graph&, std::uint32_t, int);
template ColumnLists<std::uint32_t> plain_lists(const Graph&, std::uint32_t, int);

}  // namespace ngf::bench
