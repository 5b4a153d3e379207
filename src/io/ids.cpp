#include "io/ids.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>

#include "base/parallel.hpp"
#include "graph/edge_blocks.hpp"

namespace ngf::io {

namespace {

using detail::count_edges;
using detail::parallel_for;

/// Calls visit(id) for each end of each edge, in parallel.
template <typename Visit>
void for_each_id(const std::vector<EdgeBlock>& blocks, int threads, const Visit& visit) {
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (const auto [from, to] : blocks[b].edges) {
      visit(from);
      visit(to);
    }
  });
}

}  // namespace

bool half_occur(const std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest,
                int threads) {
  const std::uint64_t range = std::uint64_t{largest - smallest} + 1;
  if (range > 4 * count_edges(blocks)) return false;
  std::vector<std::uint64_t> seen((range + 63) / 64, 0);
  std::atomic<std::uint64_t> distinct{0};
  const auto is_new = [&](NodeId id) -> std::uint64_t {
    const NodeId place = id - smallest;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    const std::atomic_ref word(seen[place / 64]);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return 0;
    return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0 ? 1 : 0;
  };
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    if (2 * distinct >= range) return;  // the first blocks settle it for most files
    std::uint64_t found = 0;
    for (const auto [from, to] : blocks[b].edges) found += is_new(from) + is_new(to);
    distinct += found;
  });
  return 2 * distinct >= range;
}

std::vector<NodeId> compact_ids(std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest,
                                int threads) {
  // Ids fall into buckets by their leading bits; each bucket is sorted on its own.
  const std::uint64_t ids = 2 * count_edges(blocks);
  const int most_bits = std::clamp(static_cast<int>(std::bit_width(ids / 64)), 1, 16);
  const int shift = std::max(0, static_cast<int>(std::bit_width(largest - smallest)) - most_bits);
  const auto bucket_of = [&](NodeId id) -> std::size_t { return (id - smallest) >> shift; };

  std::vector<std::uint64_t> begins(bucket_of(largest) + 2, 0);
  for_each_id(blocks, threads, [&](NodeId id) {
    std::atomic_ref(begins[bucket_of(id)]).fetch_add(1, std::memory_order_relaxed);
  });
  std::inclusive_scan(begins.begin(), begins.end(), begins.begin());
  std::vector<NodeId> sorted(ids);
  for_each_id(blocks, threads, [&](NodeId id) {
    sorted[std::atomic_ref(begins[bucket_of(id)]).fetch_sub(1, std::memory_order_relaxed) - 1] = id;
  });

  const std::size_t buckets = begins.size() - 1;
  std::vector<std::uint64_t> kept(buckets);
  parallel_for(buckets, threads, [&](std::size_t b) {
    NodeId* const begin = sorted.data() + begins[b];
    NodeId* const end = sorted.data() + begins[b + 1];
    std::sort(begin, end);
    kept[b] = static_cast<std::uint64_t>(std::unique(begin, end) - begin);
  });
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    std::copy_n(sorted.data() + begins[b], kept[b], sorted.data() + total);
    begins[b] = total;
    total += kept[b];
  }
  begins[buckets] = total;
  sorted.resize(total);
  sorted.shrink_to_fit();

  const auto new_id = [&](NodeId id) {
    const std::size_t bucket = bucket_of(id);
    const NodeId* const begin = sorted.data() + begins[bucket];
    const NodeId* const end = sorted.data() + begins[bucket + 1];
    return static_cast<NodeId>(std::lower_bound(begin, end, id) - sorted.data());
  };
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (Edge& edge : blocks[b].edges) edge = {new_id(edge.from), new_id(edge.to)};
  });
  return sorted;
}

void subtract_base(std::vector<EdgeBlock>& blocks, NodeId base, int threads) {
  if (base == 0) return;
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (Edge& edge : blocks[b].edges) edge = {edge.from - base, edge.to - base};
  });
}

}  // namespace ngf::io
