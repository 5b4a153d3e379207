#include "shells/queue_walk.hpp"

#include <bit>
#include <limits>

namespace ngf::shells {

void QueueWalk::walk(NodeId source) {
  // A node is marked with the stamp of the level that reached it; stamps of earlier sources are
  // smaller than all of this one's, so nothing has to be cleared between sources.
  if (stamp_ > std::numeric_limits<std::uint32_t>::max() - graph_.nodes() - 2) {
    std::fill(mark_.begin(), mark_.end(), 0U);
    stamp_ = 0;
  }
  const std::uint32_t first_stamp = ++stamp_;
  const bool counting = min_paths_ > 1;
  queue_.assign(1, source);
  begin_.assign({0, 1});
  mark_[source] = stamp_;
  if (counting) paths_[source] = 1;
  arcs_seen_ = 0;
  for (std::uint32_t level = 1; level <= hops_; ++level) {
    ++stamp_;
    for (std::size_t i = begin_[level - 1]; i < begin_[level]; ++i) {
      const NodeId u = queue_[i];
      const auto row = graph_.neighbors(u);
      arcs_seen_ += row.size();
      for (const NodeId v : row) {
        if (mark_[v] < first_stamp) {
          mark_[v] = stamp_;
          queue_.push_back(v);
          if (counting) paths_[v] = paths_[u];
        } else if (counting && mark_[v] == stamp_) {
          paths_[v] = static_cast<std::uint8_t>(std::min(3, paths_[v] + paths_[u]));
        }
      }
    }
    if (queue_.size() == begin_[level]) break;
    begin_.push_back(queue_.size());
  }
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

template void QueueWalk::sort_columns(std::span<std::uint16_t>);
template void QueueWalk::sort_columns(std::span<std::uint32_t>);

}  // namespace ngf::shells
