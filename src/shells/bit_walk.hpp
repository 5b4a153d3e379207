#pragma once

#include <array>

#include "base/aligned.hpp"
#include "kernels/walk_rows.hpp"
#include "ngf/shells.hpp"
#include "shells/walkable.hpp"

namespace ngf::shells {

/// Columns in the order of the graph, ready for the kernels: padded and aligned.
struct Columns {
  AlignedVector<NodeId> root;
  AlignedVector<std::uint8_t> depth;  ///< kernels::unreachable on islands
  NodeId count = 0;
  std::size_t padded = 0;

  explicit Columns(const Walkable& graph);
};

/// One thread's walk: 512 sources at a time from the nodes of a Walkable to all of its nodes.
///
/// `walk` finds, for each node and source, the level at which they met; `write_rows` and
/// `visit_rows` then turn that into rows of hops, one for each source and each node that hangs on
/// it.
class BitWalk {
 public:
  struct Options {
    std::uint32_t hops = all_hops;  ///< levels to walk
    bool keep_hops = true;          ///< false: only count
    int min_paths = 1;
    RowRange rows = {};  ///< that are wanted of a walk
  };

  BitWalk(const Walkable& graph, const Columns& columns, const Options& options);

  /// Walks from at most 512 sources; from none, the rows that follow are those of the islands.
  /// `pairs[k]` grows by the pairs that met at level k, on enough paths; trees that were cut off
  /// are not in it.
  void walk(std::span<const NodeId> sources, std::vector<std::uint64_t>& pairs);
  /// The last level of the last walk at which any met.
  std::uint32_t levels() const { return levels_; }

  /// Writes the rows of the last walk, past the caches where the matrix does not fit there.
  template <typename Hop>
  void write_rows(HopMatrix<Hop>& matrix);

  /// Calls visit(x, row) for each row of the last walk; `row` is as long as `Columns::padded`.
  template <typename Hop, typename Visit>
  void visit_rows(const Visit& visit) {
    row_.resize(columns_.padded * sizeof(Hop));
    auto* const row = reinterpret_cast<Hop*>(row_.data());
    const std::span<const Hop> whole(row, columns_.padded);
    if (sources_.empty()) {
      for (const NodeId x : graph_.islanders()) {
        if (!options_.rows.contains(x)) continue;
        write_island_row(x, row);
        visit(x, whole);
      }
      return;
    }
    prepare_rows();
    transpose(0, columns_.padded);
    for (std::size_t group = 0; group < row_groups(); ++group) {
      expand(group, columns_.padded);
      for (const Row& to : rows_of(group)) {
        emit(to, 0, columns_.padded, false, row);
        patch(to.node, row);
        visit(to.node, whole);
      }
    }
  }

  /// Bytes that one thread takes at most, for hops of `planes` bits.
  static std::uint64_t bytes(NodeId nodes, const Options& options, std::uint32_t planes,
                             bool whole_rows);

 private:
  /// A row to be written: of a source, or of a node that hangs on it.
  struct Row {
    NodeId node;
    std::uint8_t bit;  // of the source among its eight
    std::uint8_t depth;
  };
  using Lines = kernels::Line*;               // one for each node, and one for nobody
  static constexpr std::size_t chunk = 1024;  // columns of a dense row at a time

  void lay_out_lines();
  void start(std::span<const NodeId> sources);
  /// Whether each source alone goes the first two hops quicker than all of them together.
  bool starts_alone(std::span<const NodeId> sources) const;
  /// Takes the first two levels so. False when nobody is two hops away.
  bool start_alone(std::span<const NodeId> sources);
  std::size_t paths() const { return static_cast<std::size_t>(options_.min_paths); }
  void visit(NodeId v);
  /// Has nodes visited from the next level on.
  void activate(std::span<const NodeId> nodes);
  /// Activates what waits next to the nodes that were touched last, so many.
  void activate_neighbors(std::size_t last);
  template <typename Visit>
  void for_each_target(std::span<const NodeId> nodes, const Visit& visit) const;
  bool has_reached_neighbor(NodeId v) const;
  /// What the next level visits for the first time becomes what it has visited.
  void age_visits();
  /// Puts what is to be visited in the order of memory.
  void sort_visits();
  std::size_t active_count() const;
  kernels::LevelResult step(std::uint32_t level);
  void ensure_planes(std::uint32_t level);
  void clear();

  /// Finds which pairs are absent, which lack paths, and what rows there are.
  void prepare_rows();
  void transpose(std::size_t begin, std::size_t count);
  void expand(std::size_t group, std::size_t count);
  std::uint8_t* expanded_row(std::size_t kind, std::size_t bit) {
    return expanded_.data() + (kind * 8 + bit) * table_stride_;
  }
  template <typename Hop>
  void emit(const Row& row, std::size_t begin, std::size_t count, bool stream, Hop* to);
  template <typename Hop>
  void patch(NodeId x, Hop* row) const;
  template <typename Hop>
  void write_island_row(NodeId x, Hop* row) const;

  static constexpr std::size_t together = 8;  // sources whose rows are written at a time
  std::size_t row_groups() const { return row_ends_.size(); }
  std::span<const Row> rows_of(std::size_t group) const {
    const std::size_t begin = group == 0 ? 0 : row_ends_[group - 1];
    return {rows_.data() + begin, row_ends_[group] - begin};
  }
  void list_rows();

  const Walkable& graph_;
  const Columns& columns_;
  Options options_;

  std::vector<NodeId> sources_;
  std::array<std::vector<NodeId>, kernels::row_classes> active_;
  std::array<kernels::Visits, kernels::row_classes> visits_;  // of the level to come
  std::vector<NodeId> newest_;  // room for those that the next level visits for the first time
  std::size_t unsorted_ = 0;    // visits that came since they were last sorted
  std::vector<NodeId> finished_;
  std::size_t finished_count_ = 0;
  std::vector<NodeId> touched_;
  bool touched_all_ = false;
  std::vector<std::uint8_t> row_class_;
  std::vector<std::uint8_t> state_;
  AlignedVector<kernels::Line> reach_;
  AlignedVector<kernels::Line> lines_;  // all that follow, one behind the other
  // What has been seen on at least 1, 2, ... paths, before and after a level, in turn.
  std::array<std::array<Lines, kernels::most_paths>, 2> seen_{};
  std::size_t now_ = 0;  // which of the two holds the last level
  std::vector<Lines> planes_;
  std::uint32_t plane_count_ = 0;
  std::uint32_t levels_ = 0;
  bool all_present_ = true;

  // Byte k of every column's line, for each plane and then for absent and lacking pairs.
  AlignedVector<std::uint8_t> table_;
  std::size_t table_stride_ = 0;
  // Eight rows each of low bytes, high bytes and lacking pairs.
  AlignedVector<std::uint8_t> expanded_;
  AlignedVector<std::uint8_t> row_;
  std::vector<Row> rows_;  // of the last walk, by groups of sources
  std::vector<std::size_t> row_ends_;
};

}  // namespace ngf::shells
