// Bit-parallel breadth-first search from many sources at once (Then et al., "The more the merrier:
// efficient multi-source graph traversal", VLDB 2014), with the hops kept as bit planes.

#include "shells/bit_walk.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

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

void set_bit(Line& line, std::size_t bit) {
  line.words[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

}  // namespace

Columns::Columns(const Walkable& graph)
    : count(static_cast<NodeId>(graph.root.size())), padded(round_up(count, column_step)) {
  root.resize(padded);
  depth.resize(padded);
  std::copy(graph.root.begin(), graph.root.end(), root.begin());
  std::copy(graph.depth.begin(), graph.depth.end(), depth.begin());
  std::fill(root.begin() + count, root.end(), NodeId{0});
  std::fill(depth.begin() + count, depth.end(), std::uint8_t{0});
}

BitWalk::BitWalk(const Walkable& graph, const Columns& columns, const Options& options)
    : graph_(graph),
      columns_(columns),
      options_(options),
      active_(graph.size()),
      fresh_(graph.size()),
      is_active_(graph.size(), 0),
      last_level_(graph.size(), 0) {
  const auto zeroed = [&](Lines& lines) { lines.assign(graph.size(), Line{}); };
  reach_.assign(graph.components, Line{});
  for (Lines& lines : seen_) zeroed(lines);
  if (options.min_paths > 1) {
    for (auto& side : paths_) {
      for (int m = 0; m < options.min_paths; ++m) zeroed(side[static_cast<std::size_t>(m)]);
    }
    zeroed(lacking_);
  }
}

void BitWalk::clear() {
  for (const NodeId v : touched_) {
    is_active_[v] = 0;
    for (Lines& lines : seen_) lines[v] = {};
    if (options_.min_paths == 1) continue;
    for (auto& side : paths_) {
      for (int m = 0; m < options_.min_paths; ++m) side[static_cast<std::size_t>(m)][v] = {};
    }
  }
  for (const NodeId s : sources_) reach_[graph_.component[s]] = {};
  touched_.clear();
  active_count_ = 0;
  now_ = 0;
  paths_now_ = 0;
  plane_count_ = 0;
}

void BitWalk::activate_neighbors(std::span<const NodeId> nodes) {
  const auto& offsets = graph_.push_row_offsets();
  const auto& rows = graph_.push_rows();
  for (const NodeId u : nodes) {
    for (std::uint64_t e = offsets[u]; e < offsets[u + std::size_t{1}]; ++e) {
      const NodeId v = rows[e];
      if (is_active_[v] != 0) continue;
      is_active_[v] = 1;
      active_[active_count_++] = v;
      touched_.push_back(v);
    }
  }
}

void BitWalk::start(std::span<const NodeId> sources) {
  clear();
  sources_.assign(sources.begin(), sources.end());
  if (options_.keep_hops) ensure_planes(1);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const NodeId s = sources[i];
    is_active_[s] = 1;
    active_[active_count_++] = s;
    touched_.push_back(s);
    last_level_[s] = 0;
    set_bit(seen_[0][s], i);
    set_bit(reach_[graph_.component[s]], i);
    if (options_.keep_hops) planes_[0][s] = {};
    if (options_.min_paths > 1) {
      set_bit(paths_[0][0][s], i);
      // One path leads from a node to itself.
      lacking_[s] = {};
      set_bit(lacking_[s], i);
    }
  }
  activate_neighbors(sources);
}

void BitWalk::ensure_planes(std::uint32_t level) {
  while (std::uint32_t{1} << plane_count_ <= level) {
    if (planes_.size() == plane_count_) {
      planes_.emplace_back(graph_.size());
      plane_data_.push_back(planes_.back().data());
    }
    // Nodes that were reached on a lower level have zeros in the new plane; those that were not
    // are written whole when they are.
    for (const NodeId v : touched_) planes_[plane_count_][v] = {};
    ++plane_count_;
  }
}

kernels::LevelResult BitWalk::step(std::uint32_t level) {
  if (options_.keep_hops) ensure_planes(level);
  kernels::Level step;
  step.number = level;
  step.offsets = graph_.pull_offsets.data();
  step.sources = graph_.pull.data();
  step.component = graph_.component.data();
  step.reach = reach_.data();
  step.planes = options_.keep_hops ? plane_data_.data() : nullptr;
  step.plane_count = plane_count_;
  step.last_level = last_level_.data();
  step.active = active_.data();
  step.active_count = active_count_;
  step.fresh = fresh_.data();
  step.seen = seen_[now_].data();
  if (options_.min_paths == 1) {
    now_ = 1 - now_;
    step.seen_next = seen_[now_].data();
    return kernels::pull_level(step);
  }
  step.seen_next = seen_[now_].data();
  kernels::PathCounts counts;
  counts.min_paths = static_cast<std::uint32_t>(options_.min_paths);
  for (std::size_t m = 0; m < 3; ++m) {
    counts.last[m] = paths_[paths_now_][m].data();
    counts.next[m] = paths_[1 - paths_now_][m].data();
  }
  counts.lacking = lacking_.data();
  paths_now_ = 1 - paths_now_;
  return kernels::pull_level_counting(step, counts);
}

void BitWalk::walk(std::span<const NodeId> sources, std::vector<std::uint64_t>& pairs) {
  start(sources);
  const auto count = [&](std::size_t level, std::uint64_t met) {
    if (pairs.size() <= level) pairs.resize(level + 1, 0);
    pairs[level] += met;
  };
  count(0, sources.size());
  levels_ = 0;
  for (std::uint32_t level = 1; level <= options_.hops && active_count_ > 0; ++level) {
    const kernels::LevelResult result = step(level);
    active_count_ = result.active_count;
    if (result.reached == 0) break;
    count(level, result.counted);
    levels_ = level;
    activate_neighbors({fresh_.data(), result.fresh_count});
  }
  all_present_ = active_count_ == 0 && touched_.size() == graph_.size() && graph_.components == 1;
}

void BitWalk::prepare_planes() {
  kernels::decode_gray(plane_data_.data(), plane_count_, graph_.size());
  if (all_present_) return;
  const Lines& seen = seen_[now_];
  Lines& absent = seen_[1 - now_];
  for (std::size_t v = 0; v < absent.size(); ++v) {
    for (std::size_t w = 0; w < 8; ++w) absent[v].words[w] = ~seen[v].words[w];
  }
  // What is not in `touched_` was zero and must become zero again.
  touched_.resize(graph_.size());
  for (NodeId v = 0; v < graph_.size(); ++v) touched_[v] = v;
}

void BitWalk::transpose(std::size_t begin, std::size_t count) {
  const bool paths = options_.min_paths > 1;
  const std::size_t tables = plane_count_ + (all_present_ ? 0 : 1) + (paths ? 1 : 0);
  table_stride_ = count;
  table_.resize(tables * line_bytes * count);
  expanded_.resize(kinds * 8 * count);
  std::uint8_t* table = table_.data();
  const auto add = [&](const Line* lines) {
    kernels::transpose_bytes(lines, columns_.root.data() + begin, count, table, count);
    table += line_bytes * count;
  };
  for (std::uint32_t j = 0; j < plane_count_; ++j) add(plane_data_[j]);
  if (!all_present_) add(seen_[1 - now_].data());
  if (paths) add(lacking_.data());
}

void BitWalk::expand(std::size_t group, std::size_t count) {
  std::vector<const std::uint8_t*> tables;
  for (std::size_t t = 0; t * line_bytes * table_stride_ < table_.size(); ++t) {
    tables.push_back(table_.data() + (t * line_bytes + group) * table_stride_);
  }
  const std::uint8_t* const absent = all_present_ ? nullptr : tables[plane_count_];
  const auto expand_kind = [&](Kind kind, std::uint32_t first, std::uint32_t planes,
                               const std::uint8_t* full) {
    std::array<std::uint8_t*, 8> rows{};
    for (std::size_t bit = 0; bit < 8; ++bit) rows[bit] = expanded_row(kind, bit);
    kernels::expand_rows(tables.data() + first, planes, full, count, rows.data());
  };
  const std::uint32_t low_planes = std::min(plane_count_, planes_in_a_byte);
  expand_kind(low, 0, low_planes, absent);
  expand_kind(high, low_planes, plane_count_ - low_planes, absent);
  if (options_.min_paths > 1) expand_kind(too_few_paths, 0, 0, tables.back());
}

template <typename Hop>
void BitWalk::emit(std::size_t bit, NodeId x, std::size_t begin, std::size_t count, bool stream,
                   Hop* to) {
  kernels::Emit emit;
  // The walk itself stops at the limit; only hops inside trees lead beyond it.
  if (graph_.deepest > 0) emit.limit = options_.hops;
  emit.add = graph_.depth[x];
  emit.lacking = options_.min_paths > 1 ? expanded_row(too_few_paths, bit) : nullptr;
  emit.stream = stream;
  const std::uint8_t* const depth = columns_.depth.data() + begin;
  if constexpr (sizeof(Hop) == 1) {
    kernels::emit_row(expanded_row(low, bit), depth, count, emit, to);
  } else {
    kernels::emit_row(expanded_row(low, bit), expanded_row(high, bit), depth, count, emit, to);
  }
}

template <typename Hop>
void BitWalk::patch(NodeId x, Hop* row) const {
  if (graph_.depth[x] == 0) return;
  const NodeId b = graph_.branch[x];
  for (std::uint64_t m = graph_.branch_offsets[b]; m < graph_.branch_offsets[b + 1UL]; ++m) {
    const NodeId y = graph_.branch_members[m];
    const std::uint32_t hops = hops_in_branch(graph_, x, y);
    // A tree has one path between two nodes.
    const bool counts = hops <= options_.hops && (options_.min_paths == 1 || hops < 2);
    row[y] = counts ? static_cast<Hop>(hops) : HopMatrix<Hop>::farther;
  }
}

template <typename Hop>
void BitWalk::write_rows(HopMatrix<Hop>& matrix) {
  // What fits into the caches is read from there by whoever comes next.
  constexpr std::uint64_t fits_in_caches = std::uint64_t{1} << 24;
  const bool stream = matrix.bytes() > fits_in_caches;
  prepare_planes();
  for (std::size_t begin = 0; begin < columns_.padded; begin += chunk) {
    const std::size_t count = std::min(chunk, columns_.padded - begin);
    transpose(begin, count);
    for (std::size_t first = 0; first < sources_.size(); first += 8) {
      expand(first / 8, count);
      for_each_member(first, [&](std::size_t bit, NodeId x) {
        emit(bit, x, begin, count, stream, matrix.row_data(x) + begin);
      });
    }
  }
  for (std::size_t first = 0; first < sources_.size(); first += 8) {
    for_each_member(first, [&](std::size_t /*bit*/, NodeId x) { patch(x, matrix.row_data(x)); });
  }
}

std::uint64_t BitWalk::bytes(NodeId nodes, const Options& options, std::uint32_t planes,
                             bool whole_rows) {
  const std::uint64_t size = nodes;
  const std::uint64_t extra_lines = options.min_paths > 1 ? 2 * 3 + 1 : 0;
  const std::uint64_t hop_lines = options.keep_hops ? planes : 0;
  std::uint64_t total =
      size * (line_bytes * (2 + extra_lines + hop_lines) + 4 * sizeof(NodeId) + 1);
  if (options.keep_hops) {
    const std::uint64_t count = whole_rows ? round_up(nodes, column_step) : chunk;
    total += count * ((planes + 2) * line_bytes + kinds * 8 + 2);
  }
  return total;
}

template void BitWalk::emit(std::size_t, NodeId, std::size_t, std::size_t, bool, std::uint8_t*);
template void BitWalk::emit(std::size_t, NodeId, std::size_t, std::size_t, bool, std::uint16_t*);
template void BitWalk::patch(NodeId, std::uint8_t*) const;
template void BitWalk::patch(NodeId, std::uint16_t*) const;
template void BitWalk::write_rows(HopMatrix<std::uint8_t>&);
template void BitWalk::write_rows(HopMatrix<std::uint16_t>&);

}  // namespace ngf::shells
