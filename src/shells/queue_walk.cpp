#include "shells/queue_walk.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "graph/build_rows.hpp"
#include "shells/costs.hpp"

namespace ngf::shells {

namespace {

/// True when the degrees of a few nodes differ little, as in a lattice, a mesh or a road network.
bool has_even_degrees(const Graph& graph) {
  constexpr NodeId few = 512;
  const NodeId step = std::max<NodeId>(1, graph.nodes() / few);
  double count = 0;
  double sum = 0;
  double squares = 0;
  for (NodeId u = 0; u < graph.nodes(); u += std::min(step, graph.nodes() - u)) {
    const auto degree = static_cast<double>(graph.degree(u));
    count += 1;
    sum += degree;
    squares += degree * degree;
  }
  // The variance against half of the mean, without divisions. Random graphs have the whole mean.
  return count * squares - sum * sum < sum * count / 2;
}

}  // namespace

QueueWalk::QueueWalk(const Graph& graph, std::uint32_t hops, int min_paths)
    : graph_(graph),
      hops_(hops),
      min_paths_(min_paths),
      arcs_(min_paths > 1             ? Arcs::count
            : has_even_degrees(graph) ? Arcs::branch
                                      : Arcs::no_branch),
      queue_(graph.nodes() + std::size_t{1}),
      mark_(graph.nodes(), 0) {
  if (min_paths > 1) paths_.resize(graph.nodes());
}

template <typename OnLevel>
void QueueWalk::search_as_suits(NodeId source, const OnLevel& on_level) {
  if (arcs_ == Arcs::branch) return search<Arcs::branch>(source, on_level);
  if (arcs_ == Arcs::no_branch) return search<Arcs::no_branch>(source, on_level);
  search<Arcs::count>(source, on_level);
}

template <QueueWalk::Arcs arcs, typename OnLevel>
void QueueWalk::search(NodeId source, const OnLevel& on_level) {
  constexpr bool counting = arcs == Arcs::count;
  // A node is marked with a stamp that is larger than those of earlier searches, so nothing has to
  // be cleared between them. Where paths are counted, each level has its own.
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - graph_.nodes() - 2) {
    std::fill(mark_.begin(), mark_.end(), 0U);
    stamp_ = 0;
  }
  std::uint32_t stamp = ++stamp_;
  const std::uint32_t first_stamp = stamp;
  std::uint32_t* const mark = mark_.data();
  NodeId* const queue = queue_.data();
  queue[0] = source;
  mark[source] = stamp;
  if constexpr (counting) paths_[source] = 1;
  std::size_t begin = 0;
  std::size_t end = 1;
  for (std::uint32_t level = 1; level <= hops_; ++level) {
    if constexpr (counting) stamp_ = ++stamp;
    const std::size_t last = end;
    for (; begin < last; ++begin) {
      const NodeId u = queue[begin];
      for (const NodeId v : graph_.neighbors(u)) {
        if constexpr (counting) {
          if (mark[v] == stamp) {
            paths_[v] = static_cast<std::uint8_t>(std::min(3, paths_[v] + paths_[u]));
          } else if (mark[v] < first_stamp) {
            mark[v] = stamp;
            queue[end++] = v;
            paths_[v] = paths_[u];
          }
        } else if constexpr (arcs == Arcs::branch) {
          if (mark[v] == stamp) continue;
          mark[v] = stamp;
          queue[end++] = v;
        } else {
          queue[end] = v;
          end += mark[v] != stamp ? 1 : 0;
          mark[v] = stamp;
        }
      }
    }
    if (end == last) return;
    on_level(level, std::span(queue + last, end - last));
  }
}

std::uint64_t QueueWalk::count(NodeId source, std::vector<double>& pairs) {
  std::uint64_t looked_at = graph_.degree(source);
  const auto add = [&](std::uint32_t hop, std::span<const NodeId> nodes) {
    if (pairs.size() <= hop) pairs.resize(hop + std::size_t{1}, 0);
    pairs[hop] += static_cast<double>(nodes.size());
    if (hop == hops_) return;
    for (const NodeId v : nodes) looked_at += graph_.degree(v);
  };
  add(0, std::span(&source, 1));
  search_as_suits(source, add);
  return looked_at;
}

std::span<NodeId> QueueWalk::on_enough_paths(std::span<NodeId> nodes) const {
  const auto end =
      std::partition(nodes.begin(), nodes.end(), [&](NodeId v) { return paths_[v] >= min_paths_; });
  return {nodes.begin(), end};
}

template <typename Column>
void QueueWalk::sort_by_bits(std::span<const NodeId> nodes, Column* to) {
  const std::size_t words = (graph_.nodes() + std::size_t{63}) / 64;
  bits_.resize(words, 0);
  for (const NodeId v : nodes) bits_[v / 64] |= std::uint64_t{1} << (v % 64);
  for (std::size_t w = 0; w < words; ++w) {
    for (std::uint64_t left = bits_[w]; left != 0; left &= left - 1) {
      *to++ = static_cast<Column>(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
    bits_[w] = 0;
  }
}

template <typename Column>
void QueueWalk::sort_into(std::uint32_t hop, std::span<NodeId> nodes, Column* to) {
  const std::size_t length = nodes.size();
  // How a list is sorted fastest depends on its length. A row of the graph is sorted already.
  constexpr std::size_t few = costs::sorted_by_ranks;
  if (hop == 1) {
    for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<Column>(nodes[i]);
  } else if (length <= costs::sorted_by_insertion) {
    for (std::size_t i = 0; i < length; ++i) {
      const auto column = static_cast<Column>(nodes[i]);
      std::size_t place = i;
      for (; place > 0 && to[place - 1] > column; --place) to[place] = to[place - 1];
      to[place] = column;
    }
  } else if (length <= few) {
    std::array<NodeId, few> sorted;
    detail::sort_distinct(nodes.data(), length, sorted.data());
    for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<Column>(sorted[i]);
  } else if (length > graph_.nodes() / costs::nodes_per_bit_sorted) {
    sort_by_bits<Column>(nodes, to);
  } else {
    for (std::size_t i = 0; i < length; ++i) to[i] = static_cast<Column>(nodes[i]);
    std::sort(to, to + length);
  }
}

template <typename Column>
std::size_t QueueWalk::write_row(NodeId source, std::size_t begin, AlignedVector<Column>& columns,
                                 std::uint32_t* ends) {
  std::size_t end = begin;
  std::uint32_t next_hop = 1;
  const auto append = [&](std::uint32_t hop, std::span<NodeId> nodes) {
    if (min_paths_ > 1 && hop > 1) nodes = on_enough_paths(nodes);
    if (columns.size() < end + nodes.size()) columns.resize(2 * (end + nodes.size()));
    sort_into(hop, nodes, columns.data() + end);
    end += nodes.size();
    ends[hop - 1] = static_cast<std::uint32_t>(end - begin);
    next_hop = hop + 1;
  };
  if (hops_ == 1) {
    // The row of the graph, without the source itself.
    std::span<NodeId> nodes(queue_.data(), graph_.degree(source));
    const auto row = graph_.neighbors(source);
    nodes = {nodes.begin(), std::remove_copy(row.begin(), row.end(), nodes.begin(), source)};
    append(1, nodes);
  } else {
    search_as_suits(source, append);
  }
  std::fill(ends + next_hop - 1, ends + hops_, static_cast<std::uint32_t>(end - begin));
  return end;
}

template std::size_t QueueWalk::write_row(NodeId, std::size_t, AlignedVector<std::uint16_t>&,
                                          std::uint32_t*);
template std::size_t QueueWalk::write_row(NodeId, std::size_t, AlignedVector<std::uint32_t>&,
                                          std::uint32_t*);

}  // namespace ngf::shells
