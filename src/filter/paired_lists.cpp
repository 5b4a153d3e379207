#include "filter/paired_lists.hpp"

#include "base/parallel.hpp"
#include "filter/costs.hpp"

namespace ngf::filter {

namespace {

using Nodes = std::array<NodeId, 2>;

/// Each node with the free one within two hops whose row is the nearest in length.
template <typename Column>
std::vector<Nodes> pair_up(const ColumnLists<Column>& lists, std::span<const NodeId> order) {
  const auto length = [&](NodeId u) {
    const auto places = lists.places(u);
    return std::int64_t{places.back()} - std::int64_t{places.front()};
  };
  const RowRange& rows = lists.rows();
  std::vector<char> taken(rows.count(), 0);
  std::vector<Nodes> pairs;
  for (const NodeId u : order) {
    if (taken[u - rows.begin] != 0) continue;
    taken[u - rows.begin] = 1;
    NodeId best = kernels::no_row;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    const auto consider = [&](NodeId v) {
      if (!rows.contains(v) || taken[v - rows.begin] != 0) return;
      const std::int64_t difference = std::abs(length(u) - length(v));
      if (difference >= least) return;
      least = difference;
      best = v;
    };
    for (const NodeId v : lists.columns(u, 1)) {
      if (!rows.contains(v)) continue;
      consider(v);
      const auto farther = lists.columns(v, 1);
      if (farther.size() > costs::most_pair_neighbors) continue;
      for (const NodeId w : farther) consider(w);
    }
    if (best != kernels::no_row) taken[best - rows.begin] = 1;
    pairs.push_back({u, best});
  }
  return pairs;
}

std::size_t kinds(std::uint32_t hops) { return (hops + std::size_t{2}) * (hops + std::size_t{2}); }

}  // namespace

/// Joins two rows, one pair after the other.
template <typename Column>
class PairedLists<Column>::Merger {
 public:
  Merger(const ColumnLists<Column>& lists, std::span<const std::uint16_t> tile_of,
         std::size_t tiles)
      : lists_(lists),
        tile_of_(tile_of),
        none_(static_cast<std::uint8_t>(lists.hops() + 1)),
        hop_of_{std::vector<std::uint8_t>(tile_of.size(), none_),
                std::vector<std::uint8_t>(tile_of.size(), none_)},
        places_(tiles * kinds(lists.hops())) {}

  void add(const Nodes& nodes, Block& to) {
    mark(nodes, false);
    used_.clear();
    for_each_column(nodes, [&](std::size_t kind, NodeId /*column*/) {
      if (places_[kind]++ == 0) used_.push_back(static_cast<std::uint32_t>(kind));
    });
    std::sort(used_.begin(), used_.end());
    to.nodes.push_back(nodes);
    to.begins.push_back(static_cast<std::uint32_t>(to.columns.size()));
    add_segments(to);
    for_each_column(nodes, [&](std::size_t kind, NodeId column) {
      to.columns[places_[kind]++] = static_cast<Column>(column);
    });
    for (const std::uint32_t kind : used_) places_[kind] = 0;
    mark(nodes, true);
  }

 private:
  /// Calls body(hop, columns) for each shell of a row, and there may be none.
  template <typename Body>
  void for_each_hop(NodeId u, const Body& body) const {
    if (u == kernels::no_row) return;
    body(std::uint8_t{0}, std::span<const NodeId>(&u, 1));
    for (std::uint32_t k = 1; k <= lists_.hops(); ++k) {
      body(static_cast<std::uint8_t>(k), lists_.columns(u, k));
    }
  }

  void mark(const Nodes& nodes, bool clear) {
    for (std::size_t side = 0; side < 2; ++side) {
      for_each_hop(nodes[side], [&](std::uint8_t hop, const auto& columns) {
        for (const NodeId v : columns) hop_of_[side][v] = clear ? none_ : hop;
      });
    }
  }

  /// Calls body(kind, column) for each column of the two rows: kinds go by tile and by both hops.
  template <typename Body>
  void for_each_column(const Nodes& nodes, const Body& body) const {
    const std::size_t hops = none_ + std::size_t{1};
    for_each_hop(nodes[0], [&](std::uint8_t hop, const auto& columns) {
      for (const NodeId v : columns) body((tile_of_[v] * hops + hop) * hops + hop_of_[1][v], v);
    });
    for_each_hop(nodes[1], [&](std::uint8_t hop, const auto& columns) {
      for (const NodeId v : columns) {
        if (hop_of_[0][v] == none_) body((tile_of_[v] * hops + none_) * hops + hop, v);
      }
    });
  }

  /// Makes room for the columns that were counted; `places_` is then where each kind begins.
  void add_segments(Block& to) {
    const std::size_t hops = none_ + std::size_t{1};
    const std::size_t tiles = places_.size() / (hops * hops);
    auto end = static_cast<std::uint32_t>(to.columns.size());
    auto next = used_.begin();
    for (std::size_t t = 0; t < tiles; ++t) {
      to.ends.push_back(static_cast<std::uint32_t>(to.segments.size()));
      for (; next != used_.end() && *next < (t + 1) * hops * hops; ++next) {
        const std::uint32_t begin = end;
        end += places_[*next];
        places_[*next] = begin;
        to.segments.push_back({hop_told(*next / hops % hops), hop_told(*next % hops), end});
      }
    }
    to.ends.push_back(static_cast<std::uint32_t>(to.segments.size()));
    to.columns.resize(end);
  }

  std::uint8_t hop_told(std::size_t hop) const {
    return hop == none_ ? kernels::no_hop : static_cast<std::uint8_t>(hop);
  }

  const ColumnLists<Column>& lists_;
  std::span<const std::uint16_t> tile_of_;
  std::uint8_t none_;
  std::array<std::vector<std::uint8_t>, 2> hop_of_;  // by node, of both rows
  std::vector<std::uint32_t> places_;                // by kind: how many, then where
  std::vector<std::uint32_t> used_;
};

template <typename Column>
PairedLists<Column>::PairedLists(const ColumnLists<Column>& lists, NodeId nodes,
                                 std::span<const NodeId> order, std::size_t tiles, int threads)
    : first_row_(lists.rows().begin), tiles_(tiles) {
  using costs::pairs_in_block;
  const std::vector<Nodes> pairs = pair_up(lists, order);
  std::vector<std::uint16_t> tile_of(nodes);
  for (std::size_t u = 0; u < nodes; ++u) {
    tile_of[u] = static_cast<std::uint16_t>(u * tiles / nodes);
  }
  blocks_.resize((pairs.size() + pairs_in_block - 1) / pairs_in_block);
  const std::size_t chunks =
      costs::merge_pieces_per_thread * static_cast<std::size_t>(thread_count(threads));
  parallel_for(chunks, threads, [&](std::size_t chunk) {
    const std::size_t end = blocks_.size() * (chunk + 1) / chunks;
    std::size_t b = blocks_.size() * chunk / chunks;
    if (b == end) return;
    Merger merger(lists, tile_of, tiles);
    for (; b < end; ++b) {
      const std::size_t last = std::min(pairs.size(), (b + 1) * pairs_in_block);
      for (std::size_t i = b * pairs_in_block; i < last; ++i) merger.add(pairs[i], blocks_[b]);
      blocks_[b].columns.shrink_to_fit();
      blocks_[b].segments.shrink_to_fit();
    }
  });
}

template class PairedLists<std::uint16_t>;
template class PairedLists<std::uint32_t>;

std::uint64_t most_paired_bytes(NodeId rows, std::uint64_t pairs, std::uint32_t hops,
                                std::size_t tiles, std::size_t column_bytes) {
  const std::uint64_t in_tile = kinds(hops) * sizeof(kernels::Segment) + sizeof(std::uint32_t);
  const std::uint64_t of_row = sizeof(NodeId) + 2 * sizeof(std::uint32_t) + tiles * in_tile;
  return (pairs + rows) * column_bytes + rows * of_row;
}

}  // namespace ngf::filter
