#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ngf/graph.hpp"

/// Who is exactly k hops from whom. Shell k is the matrix A_k with a 1 at (u, v) where the shortest
/// path from u to v (along arcs, when directed) has exactly k hops; A_0 is the identity.

namespace ngf {

/// As many hops as the graph has.
inline constexpr std::uint32_t all_hops = std::numeric_limits<std::uint32_t>::max();

enum class Storage {
  automatic,
  sparse,  ///< for each row and hop the sorted columns
  dense,   ///< for each pair its hop, one byte, or two where hops pass 254
  stream,  ///< nothing kept
};

/// How the shells are found; the answer is the same.
enum class Engine {
  automatic,
  bits,   ///< 512 sources walk at once, a bit each
  queue,  ///< one source after another: for few hops, where little is reached
};

struct ShellOptions {
  std::uint32_t hops = all_hops;  ///< shells 0..hops
  RowRange rows = {};             ///< these rows of the shells alone
  Storage storage = Storage::automatic;
  /// Automatic storage holds hops where a larger share of all pairs is in a shell, lists where not.
  double dense_above = 0.25;
  Engine engine = Engine::automatic;
  /// A pair at 2 hops or more counts only if at least this many shortest paths join it: 1, 2 or 3.
  int min_paths = 1;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes that may be taken; 0: a share of what the machine has free
  std::uint64_t seed = 1;    ///< of the sample that sizes are estimated from
  Progress* progress = nullptr;
};

/// What it would take to hold the shells, told before it is taken.
struct ShellPlan {
  std::vector<std::uint64_t> pairs;  ///< by hop: ordered pairs of the rows, exact or estimated
  bool estimated = false;            ///< from a sample of the sources
  std::uint64_t sparse_bytes = 0;
  std::uint64_t dense_bytes = 0;
  std::uint64_t stream_bytes = 0;
  std::uint64_t budget = 0;
  Storage storage = Storage::stream;  ///< the choice, or what was asked for
  Engine engine = Engine::bits;

  std::uint64_t bytes_of(Storage kind) const;
};

/// Estimates sizes by walking from one random batch of sources, exactly, and chooses. Throws Error,
/// with the smallest budget that would do, when what was asked for cannot fit.
ShellPlan plan_shells(const Graph& graph, const ShellOptions& options = {});

/// The number of ordered pairs at 0, 1, ... hops, exactly, of the rows that the options name; no
/// more entries than there are hops. Throws MemoryExceeded before the walk where its memory, with a
/// share for each thread, passes the budget.
std::vector<std::uint64_t> shell_sizes(const Graph& graph, const ShellOptions& options = {});

/// One of `parts` shares of them, of about equal work: those of all parts add up to the sizes.
std::vector<std::uint64_t> part_of_shell_sizes(const Graph& graph, const ShellOptions& options,
                                               std::size_t part, std::size_t parts);

/// Hops of all pairs, or of some rows of them.
template <typename Hop>
class HopMatrix {
 public:
  static constexpr Hop farther = std::numeric_limits<Hop>::max();

  /// Rows are padded to whole cache lines; what is in the padding means nothing.
  explicit HopMatrix(NodeId nodes, const RowRange& rows = {});

  NodeId nodes() const { return nodes_; }
  const RowRange& rows() const { return rows_; }
  std::size_t stride() const { return stride_; }
  Hop operator()(NodeId u, NodeId v) const { return row(u)[v]; }
  std::span<const Hop> row(NodeId u) const { return {values_.get() + place(u), nodes_}; }
  Hop* row_data(NodeId u) { return values_.get() + place(u); }
  std::uint64_t bytes() const { return std::uint64_t{rows_.count()} * stride_ * sizeof(Hop); }

 private:
  struct Free {
    void operator()(Hop* values) const noexcept;
  };
  std::size_t place(NodeId u) const { return (u - rows_.begin) * stride_; }

  NodeId nodes_ = 0;
  RowRange rows_;
  std::size_t stride_ = 0;
  std::unique_ptr<Hop, Free> values_;
};

/// Some rows of the shells: rows[i] holds, one hop after the other, the sorted columns that lie
/// behind those of rows[i - 1]; ends[i * hops + k - 1] is where hop k ends, counted from the row's
/// own beginning.
template <typename Column>
struct ShellRows {
  std::span<const NodeId> rows;
  std::span<const std::uint32_t> ends;
  std::span<const Column> columns;
};

/// For each row and hop the sorted columns. Shell 0 is implied: each node is in its own.
template <typename Column>
class ColumnLists {
 public:
  /// To be filled by `blocks` calls of `add`, no more than there are rows.
  ColumnLists(const RowRange& rows, std::uint32_t hops, std::size_t blocks)
      : rows_(rows),
        hops_(hops),
        block_(rows.count(), 0),
        places_(rows.count() * (hops + std::size_t{1}), 0),
        blocks_(blocks) {}

  const RowRange& rows() const { return rows_; }

  /// The columns of row u at `hop`, from 1 to `hops()`.
  std::span<const Column> columns(NodeId u, std::uint32_t hop) const {
    const auto place = places(u);
    return {block(u) + place[hop - 1], place[hop] - place[hop - 1]};
  }
  /// The block that row u is in; places(u) are where in it the row begins, and each hop ends.
  const Column* block(NodeId u) const { return blocks_[block_[u - rows_.begin]].get(); }
  std::span<const std::uint32_t> places(NodeId u) const {
    const std::size_t count = hops_ + std::size_t{1};
    return {places_.data() + (u - rows_.begin) * count, count};
  }
  std::uint32_t hops() const { return hops_; }
  std::uint64_t bytes() const;

  /// Copies rows as block number `block`. Threads may add different blocks at the same time.
  void add(std::size_t block, const ShellRows<Column>& rows);

 private:
  RowRange rows_;
  std::uint32_t hops_ = 0;
  std::vector<Column> block_;  // by row, the block that it is in
  std::vector<std::uint32_t> places_;
  std::vector<std::unique_ptr<Column[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
};

/// The shells of a graph, in one of the forms that hold them.
class Shells {
 public:
  using Held = std::variant<std::monostate, HopMatrix<std::uint8_t>, HopMatrix<std::uint16_t>,
                            ColumnLists<std::uint16_t>, ColumnLists<std::uint32_t>>;

  Shells(NodeId nodes, const RowRange& rows, std::uint32_t hops, ShellPlan plan, Held held)
      : nodes_(nodes), rows_(rows), hops_(hops), plan_(std::move(plan)), held_(std::move(held)) {}

  NodeId nodes() const { return nodes_; }
  /// The rows that are here.
  const RowRange& rows() const { return rows_; }
  /// The last shell that was asked for; `all_hops` when that was all.
  std::uint32_t hops() const { return hops_; }
  const ShellPlan& plan() const { return plan_; }
  Storage storage() const { return plan_.storage; }
  const Held& held() const { return held_; }
  std::uint64_t bytes() const;

  /// Ordered pairs by hop, counted, up to the last hop that any pair is apart.
  std::vector<std::uint64_t> pairs(int threads = 1) const;

  /// Row u of the shell of `hop`: the nodes that far from u, increasing.
  std::vector<NodeId> columns(NodeId u, std::uint32_t hop) const;

 private:
  NodeId nodes_ = 0;
  RowRange rows_;
  std::uint32_t hops_ = 0;
  ShellPlan plan_;
  Held held_;
};

/// Finds the shells 0..hops and holds them as planned. With Storage::stream nothing is held.
Shells build_shells(const Graph& graph, const ShellOptions& options = {});

/// Finds the shells 1..hops, a number, and holds nothing: visit(rows) is called, from several
/// threads at once, until each row has come.
void stream_shells(const Graph& graph, const ShellOptions& options,
                   const std::function<void(const ShellRows<NodeId>&)>& visit);

/// Writes the rows of a matrix that is there already, by the options' hops, paths and threads.
/// Throws Error where a hop does not fit.
template <typename Hop>
void write_hops(const Graph& graph, const ShellOptions& options, HopMatrix<Hop>& into);

std::string_view storage_name(Storage storage);
std::string_view engine_name(Engine engine);

}  // namespace ngf
