#include "shells/queue_walk.hpp"

#include <array>
#include <bit>
#include <limits>

#include "build_rows.hpp"

namespace ngf::shells {

void QueueWalk::walk(NodeId source) {
  // A node is marked with a stamp that is larger than those of earlier searches, so nothing has to
  // be cleared between them. Where paths are counted, each level has its own.
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - graph_.nodes() - 2) {
    std::fill(mark_.begin(), mark_.end(), 0U);
    stamp_ = 0;
  }
  ++stamp_;
  if (min_paths_ > 1) {
    walk_on<true>(source);
  } else {
    walk_on<false>(source);
  }
}

template <bool counting>
void QueueWalk::walk_on(NodeId source) {
  const std::uint32_t first_stamp = stamp_;
  std::uint32_t* const mark = mark_.data();
  NodeId* const queue = queue_.data();
  queue[0] = source;
  mark[source] = stamp_;
  if constexpr (counting) paths_[source] = 1;
  begin_.assign({0, 1});
  std::size_t end = 1;
  std::uint64_t arcs = 0;
  for (std::uint32_t level = 1; level <= hops_; ++level) {
    if constexpr (counting) ++stamp_;
    const std::uint32_t stamp = stamp_;
    const std::size_t last = end;
    for (std::size_t i = begin_[level - 1]; i < last; ++i) {
      const NodeId u = queue[i];
      const auto row = graph_.neighbors(u);
      arcs += row.size();
      for (const NodeId v : row) {
        if (mark[v] < first_stamp) {
          mark[v] = stamp;
          queue[end++] = v;
          if constexpr (counting) paths_[v] = paths_[u];
        } else if (counting && mark[v] == stamp) {
          paths_[v] = static_cast<std::uint8_t>(std::min(3, paths_[v] + paths_[u]));
        }
      }
    }
    if (end == last) break;
    begin_.push_back(end);
  }
  arcs_seen_ = arcs;
}

template <typename Column>
void QueueWalk::append_sorted(std::uint32_t hop, std::vector<Column>& columns) {
  const auto nodes = found(hop);
  const std::size_t first = columns.size();
  if (min_paths_ > 1) {
    for (const NodeId v : nodes) {
      if (counts(v, hop)) columns.push_back(static_cast<Column>(v));
    }
    sort_columns(std::span(columns).subspan(first));
    return;
  }
  // A row of the graph is sorted already, and short lists are sorted without branches.
  constexpr std::size_t few = 32;
  std::array<NodeId, few> sorted;
  const NodeId* from = nodes.data();
  if (hop > 1 && nodes.size() <= few) {
    detail::sort_distinct(queue_.data() + begin_[std::min<std::size_t>(hop, begin_.size() - 1)],
                          nodes.size(), sorted.data());
    from = sorted.data();
  }
  columns.resize(first + nodes.size());
  std::transform(from, from + nodes.size(), columns.data() + first,
                 [](NodeId v) { return static_cast<Column>(v); });
  if (hop > 1 && nodes.size() > few) sort_columns(std::span(columns).subspan(first));
}

template <typename Column>
void QueueWalk::sort_columns(std::span<Column> columns) {
  const std::size_t words = (graph_.nodes() + std::size_t{63}) / 64;
  // Setting bits and reading them in order beats comparing once the list is a fair share of a row.
  constexpr std::size_t words_for_a_column = 4;
  if (columns.size() * words_for_a_column < words || columns.size() < 32) {
    std::sort(columns.begin(), columns.end());
    return;
  }
  bits_.resize(words, 0);
  for (const Column v : columns) bits_[v / 64U] |= std::uint64_t{1} << (v % 64U);
  auto to = columns.begin();
  for (std::size_t w = 0; w < words; ++w) {
    for (std::uint64_t left = bits_[w]; left != 0; left &= left - 1) {
      *to++ = static_cast<Column>(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
    }
    bits_[w] = 0;
  }
}

template void QueueWalk::append_sorted(std::uint32_t, std::vector<std::uint16_t>&);
template void QueueWalk::append_sorted(std::uint32_t, std::vector<std::uint32_t>&);

}  // namespace ngf::shells
