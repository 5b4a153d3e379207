#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ngf/graph.hpp"

/// k-hop matrices. Shell k is the matrix A_k with a 1 at (u, v) if the shortest path from u to v
/// (along arcs, if directed) has exactly k hops; A_0 is the identity.

namespace ngf {

struct Twins;

/// All hops, up to the diameter.
inline constexpr std::uint32_t all_hops = std::numeric_limits<std::uint32_t>::max();

enum class Storage {
  automatic,
  sparse,  ///< for each row and hop the sorted columns
  dense,   ///< for each pair its hop, one byte, or two where hops pass 254
  stream,  ///< nothing kept
};

/// Algorithm that computes the shells; results are equal.
enum class Engine {
  automatic,
  bits,   ///< 512 sources walk at once, a bit each
  queue,  ///< one source after another: for few hops, where little is reached
};

/// Settings of the shells.
struct ShellOptions {
  std::uint32_t hops = all_hops;  ///< shells 0..hops
  RowRange rows = {};             ///< these rows of the shells alone
  Storage storage = Storage::automatic;
  Engine engine = Engine::automatic;
  /// Keep a pair at 2 or more hops only if it has at least this many shortest paths: 1, 2 or 3.
  int min_paths = 1;
  /// Also compute the shells of the transposed graph if it is directed: transposed filters need
  /// them.
  bool transposed = false;
  /// The caller reads stored shells: Storage::stream is neither chosen nor advised.
  bool must_store = false;
  int threads = 0;           ///< 0: all that the machine offers
  std::uint64_t memory = 0;  ///< bytes that may be taken; 0: a share of what the machine has free
  std::uint64_t seed = 1;    ///< of the sample that sizes are estimated from
};

/// Estimated number of ordered pairs of the rows, by hop.
struct ShellEstimate {
  std::vector<double> pairs;  ///< by hop; hops may be taken together
  double arcs = 0;            ///< that a search from each row would look at, in all
  bool exact = false;         ///< otherwise from a sample of the sources

  double total() const { return std::accumulate(pairs.begin(), pairs.end(), 0.0); }
};

/// The plan of the shells: algorithm, storage and memory.
struct ShellPlan {
  /// No aggregate: braces in `build_shells(graph, {...})` are options.
  ShellPlan() = default;

  NodeId nodes = 0;                   ///< of the graph, or classes of twins
  ShellOptions options;               ///< that the plan is for
  ShellEstimate estimate;             ///< empty where no choice depends on it
  Storage storage = Storage::stream;  ///< chosen, or what was asked for
  Engine engine = Engine::bits;
  /// If given, the shells are those of one node per class of twins.
  std::shared_ptr<const Twins> twins = {};
  std::uint64_t sparse_bytes = 0;
  std::uint64_t dense_bytes = 0;
  std::uint64_t stream_bytes = 0;
  std::uint64_t budget = 0;

  std::uint64_t bytes_of(Storage kind) const;
  std::uint64_t bytes() const { return bytes_of(storage); }
};

/// Chooses storage and engine. Fast compared with the work that it plans: sizes are estimated from
/// a few searches, and counted only if lists may exceed the budget. Throws MemoryExceeded, with the
/// smallest sufficient budget, if the shells do not fit.
ShellPlan plan_shells(const Graph& graph, const ShellOptions& options = {},
                      Progress* progress = nullptr);
/// The same from an estimate of each shell; `all_hops` then stands for those of the estimate.
ShellPlan plan_shells(const Graph& graph, ShellOptions options, ShellEstimate estimate);

/// Estimates the size of each shell by an exact walk from one random batch of sources.
ShellEstimate estimate_shells(const Graph& graph, const ShellOptions& options = {});

/// The number of ordered pairs at 0, 1, ... hops, exactly, of the rows that the options name; no
/// more entries than there are hops. Throws MemoryExceeded before the walk where its memory, with a
/// share for each thread, passes the budget.
std::vector<std::uint64_t> shell_sizes(const Graph& graph, const ShellOptions& options = {},
                                       Progress* progress = nullptr);

/// One of `parts` shares of them, of about equal work: those of all parts add up to the sizes.
std::vector<std::uint64_t> part_of_shell_sizes(const Graph& graph, const ShellOptions& options,
                                               std::size_t part, std::size_t parts,
                                               Progress* progress = nullptr);

/// Hop distances of all pairs, or of some rows.
template <typename Hop>
class HopMatrix {
 public:
  static constexpr Hop farther = std::numeric_limits<Hop>::max();

  /// Rows are padded to whole cache lines; the padding is undefined.
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
  /// Of all rows and hops.
  std::uint64_t columns_held() const;
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

/// The shells of a graph, in one of the forms that hold them. They never change; copies share them.
class Shells {
 public:
  using Held = std::variant<std::monostate, HopMatrix<std::uint8_t>, HopMatrix<std::uint16_t>,
                            ColumnLists<std::uint16_t>, ColumnLists<std::uint32_t>>;

  /// `graph` is used with Storage::stream, to compute the shells for each product.
  Shells(const Graph& graph, ShellPlan plan, Held held,
         std::shared_ptr<const Shells> transposed = nullptr);

  NodeId nodes() const { return nodes_; }
  /// The stored rows.
  const RowRange& rows() const { return plan_->options.rows; }
  /// The last shell that was asked for; `all_hops` when that was all.
  std::uint32_t hops() const { return plan_->options.hops; }
  const ShellPlan& plan() const { return *plan_; }
  Storage storage() const { return plan_->storage; }
  const Held& held() const { return *held_; }
  const Graph& graph() const { return graph_; }
  /// Of this and of the transposed graph's.
  std::uint64_t bytes() const;

  /// If twins were merged, the classes, which are the nodes here; otherwise null.
  const Twins* twins() const { return plan_->twins.get(); }
  /// Of the graph that the shells were asked for, twins counted one by one: all nodes, and those
  /// that have their rows here.
  NodeId graph_nodes() const;
  RowRange graph_rows() const;

  /// Those of the transposed graph: the same when it is undirected; null where a directed graph's
  /// were not asked for.
  const Shells* transposed() const;

  /// Ordered pairs by hop, counted, up to the last hop that any pair is apart.
  std::vector<std::uint64_t> pairs() const;

  /// Row u of the shell of `hop`: the nodes that far from u, increasing.
  std::vector<NodeId> columns(NodeId u, std::uint32_t hop) const;

 private:
  NodeId nodes_ = 0;
  bool directed_ = false;
  Graph graph_;
  std::shared_ptr<const ShellPlan> plan_;
  std::shared_ptr<const Held> held_;
  std::shared_ptr<const Shells> transposed_;
};

/// Computes the shells by the plan. With Storage::stream nothing is stored.
Shells build_shells(const Graph& graph, const ShellPlan& plan, Progress* progress = nullptr);
/// Plans and builds.
Shells build_shells(const Graph& graph, const ShellOptions& options = {},
                    Progress* progress = nullptr);

/// Finds the shells 1..hops, a number, and holds nothing: visit(rows) is called, from several
/// threads at once, until each row has come.
using VisitRows = std::function<void(const ShellRows<NodeId>&)>;
void stream_shells(const Graph& graph, const ShellPlan& plan, const VisitRows& visit,
                   Progress* progress = nullptr);

/// Writes into the rows of an existing matrix, with the options' hops, paths and threads.
/// Throws Error if a hop does not fit.
template <typename Hop>
void write_hops(const Graph& graph, const ShellOptions& options, HopMatrix<Hop>& into,
                Progress* progress = nullptr);

std::string_view storage_name(Storage storage);
std::string_view engine_name(Engine engine);

}  // namespace ngf
