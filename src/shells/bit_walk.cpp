// Bit-parallel breadth-first search from many sources at once (Then et al., "The more the merrier:
// efficient multi-source graph traversal", VLDB 2014), with the hops kept as bit planes.

#include "shells/bit_walk.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "shells/costs.hpp"

namespace ngf::shells {

namespace {

using kernels::column_step;
using kernels::Line;
using kernels::line_bytes;

constexpr std::uint32_t planes_in_a_byte = 8;

enum Kind : std::size_t { low, high, too_few_paths, kinds };

std::size_t round_up(std::size_t count, std::size_t step) {
  return (count + step - 1) / step * step;
}

/// Where a walk is with a node: no source has reached it; one is about to, as is always said of
/// nobody; it was reached; it has seen all that it can see.
using State = std::uint8_t;
constexpr State waiting = 0;
constexpr State due = 1;
constexpr State reached = 2;
constexpr State finished = 3;

kernels::RowClass row_class_of(const Walkable& graph, NodeId v) {
  const std::uint64_t length = graph.pull_offsets[v + std::size_t{1}] - graph.pull_offsets[v];
  const std::uint64_t steps = length / kernels::row_step;
  return static_cast<kernels::RowClass>(std::min<std::uint64_t>(steps - 1, kernels::more_steps));
}

void set_bit(Line& line, std::size_t bit) {
  line.words[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

void clear_bit(Line& line, std::size_t bit) {
  line.words[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
}

}  // namespace

Columns::Columns(const Walkable& graph)
    : count(static_cast<NodeId>(graph.root.size())), padded(round_up(count, column_step)) {
  root.resize(padded, NodeId{0});
  depth.resize(padded, std::uint8_t{0});
  std::copy(graph.root.begin(), graph.root.end(), root.begin());
  std::copy(graph.depth.begin(), graph.depth.end(), depth.begin());
  for (const NodeId x : graph.islanders()) depth[x] = kernels::unreachable;
}

BitWalk::BitWalk(const Walkable& graph, const Columns& columns, const Options& options)
    : graph_(graph),
      columns_(columns),
      options_(options),
      finished_(graph.size() + std::size_t{1}),
      row_class_(graph.size()),
      state_(graph.size() + std::size_t{1}, waiting) {
  std::array<std::size_t, kernels::row_classes> sizes{};
  for (NodeId v = 0; v < graph.size(); ++v) {
    row_class_[v] = static_cast<std::uint8_t>(row_class_of(graph, v));
    ++sizes[row_class_[v]];
  }
  state_.back() = due;
  touched_.reserve(graph.size());
  newest_.resize(graph.size() + std::size_t{1});
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    // A visit may write the place behind the last.
    active_[c].resize(sizes[c] + 1);
    visits_[c].nodes = active_[c].data();
  }
  reach_.assign(graph.components, Line{});
  lay_out_lines();
}

void BitWalk::lay_out_lines() {
  // A few lines more than whole pages apart, or else the lines of one node would all compete for
  // the same places in the caches.
  constexpr std::size_t page = 4096 / line_bytes;
  constexpr std::size_t apart = 5;
  const std::size_t stride = round_up(graph_.size() + std::size_t{1}, page) + apart;
  const auto most_planes = static_cast<std::size_t>(
      std::bit_width(std::clamp(graph_.diameter_at_most, 1U, std::max(options_.hops, 1U))));
  planes_.resize(options_.keep_hops ? most_planes : 0);
  // Planes that are never written take no memory.
  lines_.resize(stride * (seen_.size() * paths() + planes_.size()));
  Lines next = lines_.data();
  const auto take = [&](Lines& lines) { lines = std::exchange(next, next + stride); };
  for (auto& side : seen_) {
    for (std::size_t m = 0; m < paths(); ++m) {
      take(side[m]);
      std::fill_n(side[m], graph_.size() + std::size_t{1}, Line{});
    }
  }
  for (Lines& lines : planes_) take(lines);
}

void BitWalk::clear() {
  const bool most = touched_all_ || touched_.size() > graph_.size() / 2;
  for (auto& side : seen_) {
    for (std::size_t m = 0; m < paths(); ++m) {
      if (most) {
        std::fill_n(side[m], graph_.size() + std::size_t{1}, Line{});
      } else {
        for (const NodeId v : touched_) side[m][v] = {};
      }
    }
  }
  if (most) {
    std::fill_n(state_.begin(), graph_.size(), waiting);
  } else {
    for (const NodeId v : touched_) state_[v] = waiting;
  }
  touched_all_ = false;
  for (const NodeId s : sources_) reach_[graph_.component[s]] = {};
  touched_.clear();
  for (kernels::Visits& visits : visits_) visits.newest = visits.count = 0;
  unsorted_ = 0;
  finished_count_ = 0;
  now_ = 0;
  plane_count_ = 0;
}

std::size_t BitWalk::active_count() const {
  std::size_t total = 0;
  for (const kernels::Visits& visits : visits_) total += visits.count;
  return total;
}

void BitWalk::visit(NodeId v) {
  kernels::Visits& visits = visits_[row_class_[v]];
  visits.nodes[visits.count++] = v;
}

void BitWalk::activate(std::span<const NodeId> nodes) {
  for (const NodeId v : nodes) {
    state_[v] = reached;
    visit(v);
  }
  touched_.insert(touched_.end(), nodes.begin(), nodes.end());
  unsorted_ += nodes.size();
}

void BitWalk::age_visits() {
  if (unsorted_ > graph_.size() / 8) sort_visits();
  for (kernels::Visits& visits : visits_) visits.newest = visits.count;
}

void BitWalk::sort_visits() {
  for (kernels::Visits& visits : visits_) visits.count = 0;
  for (NodeId v = 0; v < graph_.size(); ++v) {
    if (state_[v] == reached) visit(v);
  }
  unsorted_ = 0;
}

void BitWalk::activate_neighbors(std::size_t last) {
  const std::size_t size = graph_.size();
  const std::size_t left = size - touched_.size();
  const std::span<const NodeId> sources(touched_.data() + touched_.size() - last, last);
  // Kept or not, a node is written: whether it is kept cannot be predicted.
  std::size_t count = 0;
  const auto keep_if = [&](NodeId v, bool keep) {
    newest_[count] = v;
    count += keep ? 1 : 0;
  };
  if (left == 0) return;
  if (left + size / 8 < last) {
    // Few are left: they look for a neighbour that was reached, and none was before the last level.
    for (NodeId v = 0; v < size; ++v) keep_if(v, state_[v] == waiting && has_reached_neighbor(v));
  } else if (last > size / 16) {
    // Many are found, and best in the order of memory.
    for_each_target(sources, [states = state_.data()](NodeId v) {
      states[v] = states[v] == waiting ? due : states[v];
    });
    for (NodeId v = 0; v < size; ++v) keep_if(v, state_[v] == due);
  } else {
    for_each_target(sources, [&, states = state_.data()](NodeId v) {
      keep_if(v, states[v] == waiting);
      states[v] = states[v] == waiting ? due : states[v];
    });
  }
  activate(std::span(newest_).first(count));
}

template <typename Visit>
void BitWalk::for_each_target(std::span<const NodeId> nodes, const Visit& visit) const {
  const auto& offsets = graph_.push_row_offsets();
  const NodeId* const rows = graph_.push_rows().data();
  for (const NodeId u : nodes) {
    const NodeId* const end = rows + offsets[u + std::size_t{1}];
    for (const NodeId* v = rows + offsets[u]; v != end; ++v) visit(*v);
  }
}

bool BitWalk::has_reached_neighbor(NodeId v) const {
  const auto row = graph_.pull.begin();
  return std::any_of(row + static_cast<std::ptrdiff_t>(graph_.pull_offsets[v]),
                     row + static_cast<std::ptrdiff_t>(graph_.pull_offsets[v + std::size_t{1}]),
                     [&](NodeId u) { return state_[u] >= reached; });
}

void BitWalk::start(std::span<const NodeId> sources) {
  clear();
  sources_.assign(sources.begin(), sources.end());
  levels_ = 0;
  if (starts_alone(sources) && start_alone(sources)) return;
  if (options_.keep_hops) ensure_planes(1);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NodeId s = sources[i];
    set_bit(seen_[0][0][s], i);
    set_bit(reach_[graph_.component[s]], i);
    if (options_.keep_hops) planes_[0][s] = {};
  }
  activate(sources);
  age_visits();
}

bool BitWalk::starts_alone(std::span<const NodeId> sources) const {
  if (!graph_.scattered || !options_.keep_hops || paths() > 1) return false;
  if (planes_.size() < 2) return false;
  const auto& offsets = graph_.push_row_offsets();
  std::uint64_t bits = 0;
  for_each_target(sources, [&](NodeId u) {
    if (u < graph_.size()) bits += offsets[u + std::size_t{1}] - offsets[u];
  });
  // A bit costs less than a line of a pulled level, and there would be two such levels.
  return bits < graph_.pull.size() / 2;
}

bool BitWalk::start_alone(std::span<const NodeId> sources) {
  const NodeId nobody = graph_.size();
  Line* const seen = seen_[0][0];
  // In Gray code, level 2 is 11. Who is nearer has a zero in the second plane, and who is at the
  // source itself in the first.
  plane_count_ = 2;
  Line ones;
  ones.words.fill(~std::uint64_t{0});
  for (std::uint32_t j = 0; j < plane_count_; ++j) std::fill_n(planes_[j], nobody, ones);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NodeId s = sources[i];
    set_bit(reach_[graph_.component[s]], i);
    set_bit(seen[s], i);
    clear_bit(planes_[0][s], i);
    clear_bit(planes_[1][s], i);
    for_each_target(sources.subspan(i, 1), [&](NodeId u) {
      set_bit(seen[u], i);
      clear_bit(planes_[1][u], i);
      if (u != nobody) for_each_target(std::span(&u, 1), [&](NodeId v) { set_bit(seen[v], i); });
    });
  }
  seen[nobody] = {};
  Line last{};
  std::size_t count = 0;
  for (NodeId v = 0; v < nobody; ++v) {
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < 8; ++w) {
      any |= seen[v].words[w];
      last.words[w] |= seen[v].words[w] & planes_[1][v].words[w];
    }
    newest_[count] = v;
    count += any != 0 ? 1 : 0;
  }
  activate(std::span(newest_).first(count));
  age_visits();
  if (std::none_of(last.words.begin(), last.words.end(), std::identity())) {
    clear();
    return false;
  }
  levels_ = 2;
  return true;
}

void BitWalk::ensure_planes(std::uint32_t level) {
  while (std::uint32_t{1} << plane_count_ <= level) {
    // Nodes that were reached on a lower level have zeros in the new plane; those that were not
    // are written whole when they are.
    if (touched_.size() > graph_.size() / 2) {
      std::fill_n(planes_[plane_count_], graph_.size(), Line{});
    } else {
      for (const NodeId v : touched_) planes_[plane_count_][v] = {};
    }
    ++plane_count_;
  }
}

kernels::LevelResult BitWalk::step(std::uint32_t level) {
  if (options_.keep_hops) ensure_planes(level);
  kernels::Level step;
  step.number = level;
  step.offsets = graph_.pull_offsets.data();
  step.sources = graph_.pull.data();
  step.component = graph_.components > 1 ? graph_.component.data() : nullptr;
  step.reach = reach_.data();
  step.planes = options_.keep_hops ? planes_.data() : nullptr;
  step.plane_count = plane_count_;
  step.visits = visits_;
  step.prefetch = graph_.size() > costs::lines_in_caches;
  step.finished = finished_.data();
  step.finished_count = finished_count_;
  step.min_paths = static_cast<std::uint32_t>(options_.min_paths);
  for (std::size_t m = 0; m < paths(); ++m) {
    step.seen[m] = seen_[now_][m];
    step.seen_next[m] = seen_[1 - now_][m];
  }
  now_ = 1 - now_;
  const kernels::LevelResult result = kernels::pull_level(step);
  visits_ = step.visits;
  finished_count_ = step.finished_count;
  for (std::size_t i = 0; i < finished_count_; ++i) state_[finished_[i]] = finished;
  return result;
}

void BitWalk::walk(std::span<const NodeId> sources, std::vector<std::uint64_t>& pairs) {
  start(sources);
  std::size_t touched_before = touched_.size();
  activate_neighbors(touched_before);
  const auto count = [&](std::size_t level, std::uint64_t met) {
    if (pairs.size() <= level) pairs.resize(level + 1, 0);
    pairs[level] += met;
  };
  count(0, sources.size());
  for (std::uint32_t level = levels_ + 1; level <= options_.hops && active_count() > 0; ++level) {
    const kernels::LevelResult result = step(level);
    if (result.reached == 0) break;
    count(level, result.counted);
    levels_ = level;
    age_visits();
    const std::size_t last = touched_.size() - touched_before;
    touched_before = touched_.size();
    activate_neighbors(last);
  }
  all_present_ = active_count() == 0 && touched_.size() == graph_.size() && graph_.components == 1;
}

void BitWalk::list_rows() {
  rows_.clear();
  row_ends_.clear();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    for (const NodeId x : graph_.members_of(sources_[i])) {
      if (!options_.rows.contains(x)) continue;
      rows_.push_back({x, static_cast<std::uint8_t>(i % together), graph_.depth[x]});
    }
    if ((i + 1) % together == 0 || i + 1 == sources_.size()) row_ends_.push_back(rows_.size());
  }
}

void BitWalk::prepare_rows() {
  list_rows();
  // Where the level before the last was, there is room.
  const auto& seen = seen_[now_];
  const auto& room = seen_[1 - now_];
  if (!all_present_) {
    // Nobody, where islands are, is absent too.
    for (NodeId v = 0; v <= graph_.size(); ++v) {
      for (std::size_t w = 0; w < 8; ++w) room[0][v].words[w] = ~seen[0][v].words[w];
    }
  }
  if (paths() > 1) {
    const Line* const enough = seen[paths() - 1];
    for (NodeId v = 0; v <= graph_.size(); ++v) {
      for (std::size_t w = 0; w < 8; ++w) room[1][v].words[w] = ~enough[v].words[w];
    }
  }
  touched_all_ = touched_all_ || !all_present_ || paths() > 1;
}

void BitWalk::transpose(std::size_t begin, std::size_t count) {
  const bool counting = paths() > 1;
  const std::size_t tables = plane_count_ + (all_present_ ? 0 : 1) + (counting ? 1 : 0);
  table_stride_ = count;
  table_.resize(tables * line_bytes * count);
  expanded_.resize(kinds * 8 * count);
  const auto fill = [&](std::size_t table, const Line* lines, bool add_above) {
    std::uint8_t* const to = table_.data() + table * line_bytes * count;
    kernels::walk_rows().transpose_bytes(lines, columns_.root.data() + begin, count, to, count,
                                         add_above ? to + line_bytes * count : nullptr);
  };
  for (std::uint32_t j = plane_count_; j-- > 0;) fill(j, planes_[j], j + 1 < plane_count_);
  if (!all_present_) fill(plane_count_, seen_[1 - now_][0], false);
  if (counting) fill(tables - 1, seen_[1 - now_][1], false);
}

void BitWalk::expand(std::size_t group, std::size_t count) {
  // As many planes as two bytes have, and two tables more.
  std::array<const std::uint8_t*, 2 * planes_in_a_byte + 2> tables{};
  const std::size_t last = table_.size() / (line_bytes * table_stride_) - 1;
  for (std::size_t t = 0; t <= last; ++t) {
    tables[t] = table_.data() + (t * line_bytes + group) * table_stride_;
  }
  const std::uint8_t* const absent = all_present_ ? nullptr : tables[plane_count_];
  const auto expand_kind = [&](Kind kind, std::uint32_t first, std::uint32_t planes,
                               const std::uint8_t* full) {
    std::array<std::uint8_t*, 8> rows{};
    for (std::size_t bit = 0; bit < 8; ++bit) rows[bit] = expanded_row(kind, bit);
    kernels::walk_rows().expand_rows(tables.data() + first, planes, full, count, rows.data());
  };
  const std::uint32_t low_planes = std::min(plane_count_, planes_in_a_byte);
  expand_kind(low, 0, low_planes, absent);
  expand_kind(high, low_planes, plane_count_ - low_planes, absent);
  if (options_.min_paths > 1) expand_kind(too_few_paths, 0, 0, tables[last]);
}

template <typename Hop>
void BitWalk::emit(const Row& row, std::size_t begin, std::size_t count, bool stream, Hop* to) {
  kernels::Emit emit;
  // The walk itself stops at the limit; only hops inside trees lead beyond it.
  if (graph_.deepest > 0) emit.limit = options_.hops;
  emit.add = row.depth;
  emit.lacking = paths() > 1 ? expanded_row(too_few_paths, row.bit) : nullptr;
  emit.stream = stream;
  const std::uint8_t* const depth = columns_.depth.data() + begin;
  if constexpr (sizeof(Hop) == 1) {
    kernels::walk_rows().emit_bytes(expanded_row(low, row.bit), depth, count, emit, to);
  } else {
    kernels::walk_rows().emit_words(expanded_row(low, row.bit), expanded_row(high, row.bit), depth,
                                    count, emit, to);
  }
}

template <typename Hop>
void BitWalk::patch(NodeId x, Hop* row) const {
  for (const NodeId y : graph_.branch_of(x)) {
    const std::uint32_t hops = hops_in_branch(graph_, x, y);
    // A tree has one path between two nodes; twins are merged only where paths are not counted.
    const bool counts = hops <= options_.hops && (options_.min_paths == 1 || hops < 2);
    row[y] = counts ? static_cast<Hop>(hops) : HopMatrix<Hop>::farther;
  }
}

template <typename Hop>
void BitWalk::write_island_row(NodeId x, Hop* row) const {
  std::fill_n(row, columns_.padded, HopMatrix<Hop>::farther);
  patch(x, row);
}

template <typename Hop>
void BitWalk::write_rows(HopMatrix<Hop>& matrix) {
  if (sources_.empty()) {
    for (const NodeId x : graph_.islanders()) {
      if (options_.rows.contains(x)) write_island_row(x, matrix.row_data(x));
    }
    return;
  }
  const bool stream = matrix.bytes() > costs::bytes_in_caches;
  prepare_rows();
  for (std::size_t begin = 0; begin < columns_.padded; begin += chunk) {
    const std::size_t count = std::min(chunk, columns_.padded - begin);
    transpose(begin, count);
    for (std::size_t group = 0; group < row_groups(); ++group) {
      expand(group, count);
      for (const Row& row : rows_of(group)) {
        emit(row, begin, count, stream, matrix.row_data(row.node) + begin);
      }
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    // Every row that is patched is patched at its own node too: that place is prefetched.
    constexpr std::size_t ahead = 16;
    if (i + ahead < rows_.size()) {
      const NodeId x = rows_[i + ahead].node;
      if (!graph_.branch_of(x).empty()) __builtin_prefetch(matrix.row_data(x) + x, 1);
    }
    patch(rows_[i].node, matrix.row_data(rows_[i].node));
  }
}

std::uint64_t BitWalk::bytes(NodeId nodes, const Options& options, std::uint32_t planes,
                             bool whole_rows) {
  const std::uint64_t size = nodes;
  const auto seen_lines = 2 * static_cast<std::uint64_t>(options.min_paths);
  const std::uint64_t hop_lines = options.keep_hops ? planes : 0;
  std::uint64_t total = size * (line_bytes * (seen_lines + hop_lines) + 4 * sizeof(NodeId) + 2);
  if (options.keep_hops) {
    const std::uint64_t count = whole_rows ? round_up(nodes, column_step) : chunk;
    total += count * ((planes + 2) * line_bytes + kinds * 8 + 2);
  }
  return total;
}

template void BitWalk::emit(const Row&, std::size_t, std::size_t, bool, std::uint8_t*);
template void BitWalk::emit(const Row&, std::size_t, std::size_t, bool, std::uint16_t*);
template void BitWalk::patch(NodeId, std::uint8_t*) const;
template void BitWalk::patch(NodeId, std::uint16_t*) const;
template void BitWalk::write_island_row(NodeId, std::uint8_t*) const;
template void BitWalk::write_island_row(NodeId, std::uint16_t*) const;
template void BitWalk::write_rows(HopMatrix<std::uint8_t>&);
template void BitWalk::write_rows(HopMatrix<std::uint16_t>&);

}  // namespace ngf::shells
