#include "ngf/shells.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "kernels/bit_walk.hpp"
#include "ngf/components.hpp"
#include "ngf/random.hpp"
#include "shells/bit_walk.hpp"
#include "shells/queue_walk.hpp"
#include "shells/walkable.hpp"

namespace ngf {

template <typename Hop>
HopMatrix<Hop>::HopMatrix(NodeId nodes, const RowRange& rows)
    : nodes_(nodes),
      rows_(rows.within(nodes)),
      stride_((nodes + kernels::column_step - 1) / kernels::column_step * kernels::column_step),
      values_(static_cast<Hop*>(detail::allocate_aligned(rows_.count() * stride_ * sizeof(Hop)))) {}

template <typename Hop>
void HopMatrix<Hop>::Free::operator()(Hop* values) const noexcept {
  std::free(values);
}

template class HopMatrix<std::uint8_t>;
template class HopMatrix<std::uint16_t>;

template <typename Column>
std::uint64_t ColumnLists<Column>::bytes() const {
  const std::size_t row_places = hops_ + std::size_t{1};
  std::uint64_t columns = 0;
  for (std::size_t begin = 0; begin < places_.size(); begin += row_places) {
    columns += places_[begin + hops_] - places_[begin];
  }
  return block_.size() * sizeof(Column) + places_.size() * sizeof(places_[0]) +
         columns * sizeof(Column);
}

template <typename Column>
void ColumnLists<Column>::add(std::size_t block, const ShellRows<Column>& rows) {
  const auto& columns = rows.columns;
  if (columns.size() > std::numeric_limits<std::uint32_t>::max()) {
    detail::fail("lists of {} columns are too long for one block; ask for fewer hops",
                 columns.size());
  }
  // NOLINTNEXTLINE(modernize-avoid-c-arrays)
  blocks_[block] = std::make_unique_for_overwrite<Column[]>(columns.size());
  std::copy(columns.begin(), columns.end(), blocks_[block].get());
  std::uint32_t begin = 0;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    const std::size_t row = rows.rows[i] - rows_.begin;
    block_[row] = static_cast<Column>(block);
    std::uint32_t* const places = places_.data() + row * (hops_ + std::size_t{1});
    places[0] = begin;
    for (std::uint32_t k = 1; k <= hops_; ++k) places[k] = begin + rows.ends[i * hops_ + k - 1];
    begin = places[hops_];
  }
}

template class ColumnLists<std::uint16_t>;
template class ColumnLists<std::uint32_t>;

namespace {

using detail::AlignedVector;
using detail::fail;
using detail::parallel_for;
using shells::BitWalk;
using shells::Columns;
using shells::make_walkable;
using shells::QueueWalk;
using shells::Walkable;

constexpr std::uint32_t most_hops_in_a_byte = 254;
constexpr std::uint32_t most_hops_in_two = 65534;

void check(const ShellOptions& options) {
  if (options.min_paths < 1 || options.min_paths > 3) {
    fail("min_paths is {}; it can be 1, 2 or 3", options.min_paths);
  }
}

/// A worker of its own for each thread of a loop, made when the thread first asks.
template <typename Worker>
class PerThread {
 public:
  explicit PerThread(int threads)
      : workers_(static_cast<std::size_t>(detail::thread_count(threads))) {}

  template <typename Make>
  Worker& get(std::size_t thread, const Make& make) {
    auto& worker = workers_[thread];
    if (!worker) worker = make();
    return *worker;
  }

 private:
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// All that can be left out where rows are written.
shells::Reduction reduction_for(const ShellOptions& options) {
  return {.trees = true, .twins = options.min_paths == 1};
}

/// As few groups of sources as there can be, but one for each thread: a walk takes hardly less time
/// from fewer sources.
std::size_t group_width(std::size_t sources, int threads) {
  const auto team = static_cast<std::size_t>(detail::thread_count(threads));
  return std::clamp<std::size_t>((sources + team - 1) / team, 64, kernels::batch_width);
}

/// The groups of sources that the rows need.
std::vector<std::vector<NodeId>> groups_for(const Walkable& graph, const ShellOptions& options) {
  const auto nodes = static_cast<NodeId>(graph.root.size());
  if (options.rows.within(nodes).count() == nodes) {
    return group_sources(graph, group_width(graph.size(), options.threads));
  }
  const auto wanted = [&](std::span<const NodeId> members) {
    return std::ranges::any_of(members, [&](NodeId x) { return options.rows.contains(x); });
  };
  std::vector<NodeId> sources;
  for (const std::vector<NodeId>& group : group_sources(graph, kernels::batch_width)) {
    std::ranges::copy_if(group, std::back_inserter(sources),
                         [&](NodeId v) { return wanted(graph.members_of(v)); });
  }
  std::vector<std::vector<NodeId>> groups;
  const std::size_t width = group_width(sources.size(), options.threads);
  for (std::size_t first = 0; first < sources.size(); first += width) {
    const auto begin = sources.begin() + static_cast<std::ptrdiff_t>(first);
    groups.emplace_back(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(width, sources.size() - first)));
  }
  if (wanted(graph.islanders())) groups.emplace_back();
  return groups;
}

/// What a walk from all groups is told.
BitWalk::Options walk_options(const ShellOptions& options, bool keep_hops) {
  return {.hops = options.hops,
          .keep_hops = keep_hops,
          .min_paths = options.min_paths,
          .rows = options.rows};
}

/// Walks from all groups of sources, in parallel. After each group, done(group, walk) is called on
/// the thread that walked. Returns the pairs by hop that the walk itself counted.
template <typename Done>
std::vector<std::uint64_t> walk_all(const Walkable& graph,
                                    const std::vector<std::vector<NodeId>>& groups, bool keep_hops,
                                    const ShellOptions& options, const Done& done) {
  const Columns columns(graph);
  PerThread<BitWalk> walks(options.threads);
  std::vector<std::uint64_t> pairs;
  std::mutex mutex;
  std::atomic<std::uint64_t> finished{0};
  parallel_for(groups.size(), options.threads, [&](std::size_t group, std::size_t thread) {
    throw_if_stopped(options.progress);
    BitWalk& walk = walks.get(thread, [&] {
      return std::make_unique<BitWalk>(graph, columns, walk_options(options, keep_hops));
    });
    std::vector<std::uint64_t> of_group;
    walk.walk(groups[group], of_group);
    done(group, walk);
    const std::lock_guard lock(mutex);
    pairs.resize(std::max(pairs.size(), of_group.size()), 0);
    for (std::size_t k = 0; k < of_group.size(); ++k) pairs[k] += of_group[k];
    if (options.progress != nullptr) options.progress->report(++finished, groups.size());
  });
  return pairs;
}

void drop_empty_tail(std::vector<std::uint64_t>& pairs) {
  while (!pairs.empty() && pairs.back() == 0) pairs.pop_back();
}

/// Thrown when hops turn out not to fit the numbers chosen for them.
struct TooManyHops {};

[[noreturn]] void refuse_hops(std::uint32_t most) {
  fail("some nodes are more than {} hops apart; ask for fewer hops", most);
}

template <typename Hop>
void fill_matrix(const Walkable& graph, const ShellOptions& options, HopMatrix<Hop>& matrix) {
  const auto groups = groups_for(graph, options);
  walk_all(graph, groups, true, options, [&](std::size_t /*group*/, BitWalk& walk) {
    if (walk.levels() + 2 * graph.deepest >= HopMatrix<Hop>::farther &&
        options.hops >= HopMatrix<Hop>::farther) {
      throw TooManyHops();
    }
    walk.write_rows(matrix);
  });
}

template <typename Hop>
HopMatrix<Hop> build_matrix(const Walkable& graph, const ShellOptions& options) {
  HopMatrix<Hop> matrix(static_cast<NodeId>(graph.root.size()), options.rows);
  fill_matrix(graph, options, matrix);
  return matrix;
}

Shells::Held build_dense(const Graph& graph, const ShellOptions& options) {
  const Walkable walkable = make_walkable(graph, reduction_for(options));
  if (std::min(options.hops, walkable.diameter_at_least) <= most_hops_in_a_byte) {
    try {
      return build_matrix<std::uint8_t>(walkable, options);
    } catch (const TooManyHops&) {
      // Known only now; two bytes it is.
    }
  }
  detail::check_budget(
      std::uint64_t{2} * options.rows.within(graph.nodes()).count() * graph.nodes(), options.memory,
      "two bytes for each pair of nodes");
  try {
    return build_matrix<std::uint16_t>(walkable, options);
  } catch (const TooManyHops&) {
    refuse_hops(most_hops_in_two);
  }
}

/// The columns of each hop of a row, one hop after the other.
template <typename Hop, typename Column>
void append_lists(std::span<const Hop> row, NodeId nodes, std::uint32_t hops,
                  AlignedVector<Column>& columns, std::vector<std::uint32_t>& ends) {
  constexpr std::uint32_t few = 16;
  const std::size_t begin = columns.size();
  if constexpr (sizeof(Hop) == 1) {
    if (hops <= few) {
      // Room for every column that can come, and for what the kernel writes beyond the last.
      const std::size_t most = begin + row.size() + kernels::column_step;
      if (columns.capacity() < most) columns.reserve(2 * most);
      columns.resize(most);
      std::size_t end = begin;
      for (std::uint32_t k = 1; k <= hops; ++k) {
        std::size_t found = kernels::columns_at(row.data(), row.size(),
                                                static_cast<std::uint8_t>(k), columns.data() + end);
        // The padding repeats a node; what it adds comes last.
        while (found > 0 && columns[end + found - 1] >= nodes) --found;
        end += found;
        ends.push_back(static_cast<std::uint32_t>(end - begin));
      }
      columns.resize(end);
      return;
    }
  }
  std::vector<std::uint32_t> next(std::size_t{hops} + 2, 0);
  for (NodeId v = 0; v < nodes; ++v) {
    if (row[v] >= 1 && row[v] <= hops) ++next[row[v] + std::size_t{1}];
  }
  std::inclusive_scan(next.begin(), next.end(), next.begin());
  columns.resize(begin + next.back());
  for (std::uint32_t k = 1; k <= hops; ++k) ends.push_back(next[k + std::size_t{1}]);
  for (NodeId v = 0; v < nodes; ++v) {
    if (row[v] >= 1 && row[v] <= hops) {
      columns[begin + next[row[v]]++] = static_cast<Column>(v);
    }
  }
}

/// Streamed rows are handed over when they have so many columns, which fit into a core's cache.
constexpr std::size_t columns_in_stream = std::size_t{1} << 18;

/// Calls begin(blocks), and then take(block, rows) for each block of rows, on any thread; where
/// rows are streamed, several times for a block with some of its rows.
template <typename Hop, typename Column, typename Begin, typename Take>
void find_by_bits(const Graph& graph, const ShellOptions& options, bool streamed,
                  const Begin& begin, const Take& take) {
  const Walkable walkable = make_walkable(graph, reduction_for(options));
  const auto groups = groups_for(walkable, options);
  begin(groups.size());
  walk_all(walkable, groups, true, options, [&](std::size_t group, BitWalk& walk) {
    if (walk.levels() + 2 * walkable.deepest > most_hops_in_two) refuse_hops(most_hops_in_two);
    std::vector<NodeId> rows;
    std::vector<std::uint32_t> ends;
    AlignedVector<Column> found;
    walk.visit_rows<Hop>([&](NodeId x, std::span<const Hop> row) {
      rows.push_back(x);
      append_lists(row, graph.nodes(), options.hops, found, ends);
      if (!streamed || found.size() < columns_in_stream) return;
      take(group, ShellRows<Column>{rows, ends, found});
      rows.clear();
      ends.clear();
      found.clear();
    });
    take(group, ShellRows<Column>{rows, ends, found});
  });
}

/// One thread's searches, and the rows that it has found since it last handed some over.
template <typename Column>
struct QueueWorker {
  QueueWorker(const Graph& graph, const ShellOptions& options)
      : walk(graph, options.hops, options.min_paths) {}

  QueueWalk walk;
  std::vector<NodeId> rows;
  std::vector<std::uint32_t> ends;
  AlignedVector<Column> columns;  ///< more than the rows take
};

/// As `find_by_bits`.
template <typename Column, typename Begin, typename Take>
void find_by_queue(const Graph& graph, const ShellOptions& options, bool streamed,
                   const Begin& begin, const Take& take) {
  constexpr std::size_t most_rows = 256;
  const std::size_t rows_at_a_time =
      streamed ? std::clamp<std::size_t>(columns_in_stream / graph.nodes(), 1, most_rows)
               : most_rows;
  const RowRange rows = options.rows.within(graph.nodes());
  const std::size_t blocks = (rows.count() + rows_at_a_time - 1) / rows_at_a_time;
  begin(blocks);
  PerThread<QueueWorker<Column>> workers(options.threads);
  std::atomic<std::uint64_t> finished{0};
  parallel_for(blocks, options.threads, [&](std::size_t block, std::size_t thread) {
    throw_if_stopped(options.progress);
    auto& worker =
        workers.get(thread, [&] { return std::make_unique<QueueWorker<Column>>(graph, options); });
    const std::size_t first = rows.begin + block * rows_at_a_time;
    worker.rows.resize(std::min(rows.end - first, rows_at_a_time));
    worker.ends.resize(worker.rows.size() * options.hops);
    std::size_t end = 0;
    for (std::size_t i = 0; i < worker.rows.size(); ++i) {
      worker.rows[i] = static_cast<NodeId>(first + i);
      end = worker.walk.write_row(worker.rows[i], end, worker.columns,
                                  worker.ends.data() + i * options.hops);
    }
    take(block, ShellRows<Column>{worker.rows, worker.ends, std::span(worker.columns).first(end)});
    if (options.progress != nullptr) options.progress->report(++finished, blocks);
  });
}

template <typename Column, typename Begin, typename Take>
void find_lists(const Graph& graph, const ShellOptions& options, Engine engine, bool streamed,
                const Begin& begin, const Take& take) {
  if (engine == Engine::queue) {
    find_by_queue<Column>(graph, options, streamed, begin, take);
  } else if (options.hops <= most_hops_in_a_byte) {
    find_by_bits<std::uint8_t, Column>(graph, options, streamed, begin, take);
  } else {
    find_by_bits<std::uint16_t, Column>(graph, options, streamed, begin, take);
  }
}

template <typename Column>
ColumnLists<Column> build_lists(const Graph& graph, const ShellOptions& options, Engine engine) {
  std::optional<ColumnLists<Column>> lists;
  find_lists<Column>(
      graph, options, engine, false,
      [&](std::size_t blocks) {
        lists.emplace(options.rows.within(graph.nodes()), options.hops, blocks);
      },
      [&](std::size_t block, const ShellRows<Column>& rows) { lists->add(block, rows); });
  return std::move(*lists);
}

/// What the shells are expected to hold.
struct Estimate {
  std::vector<double> pairs;  ///< by hop
  double arcs = 0;            ///< that a search from each node would look at, in all
  bool exact = false;
};

void scale(Estimate& estimate, double factor) {
  for (double& pairs : estimate.pairs) pairs *= factor;
  estimate.arcs *= factor;
}

/// From so few searches that they cost little beside the work that they help to choose for.
Estimate estimate_quickly(const Graph& graph, const ShellOptions& options) {
  const RowRange rows = options.rows.within(graph.nodes());
  if (rows.count() == 0) return {};
  const std::uint64_t wanted = std::clamp<std::uint64_t>(rows.count() / 64, 1, 64);
  const std::uint64_t enough_arcs = 4 * graph.arcs() + 100'000;
  QueueWalk walk(graph, options.hops, options.min_paths);
  Random random(options.seed);
  Estimate estimate;
  std::uint64_t arcs = 0;
  std::uint64_t taken = 0;
  for (; taken < wanted && arcs < enough_arcs; ++taken) {
    arcs +=
        walk.count(rows.begin + static_cast<NodeId>(random.below(rows.count())), estimate.pairs);
  }
  estimate.arcs = static_cast<double>(arcs);
  scale(estimate, static_cast<double>(rows.count()) / static_cast<double>(taken));
  return estimate;
}

/// From one random batch of sources, walked exactly; from all rows where one batch holds them.
Estimate estimate_by_batch(const Graph& graph, const ShellOptions& options) {
  const Walkable walkable = make_walkable(graph, {});
  const Columns columns(walkable);
  std::vector<NodeId> sources;
  for (NodeId v = 0; v < walkable.size(); ++v) {
    if (options.rows.contains(walkable.members_of(v).front())) sources.push_back(v);
  }
  const auto rows = static_cast<double>(sources.size());
  Random random(options.seed);
  const std::size_t taken = std::min(sources.size(), kernels::batch_width);
  for (std::size_t i = 0; i < taken; ++i) {
    std::swap(sources[i], sources[i + random.below(sources.size() - i)]);
  }
  sources.resize(taken);
  BitWalk walk(walkable, columns, walk_options(options, false));
  std::vector<std::uint64_t> pairs;
  walk.walk(sources, pairs);
  drop_empty_tail(pairs);
  Estimate estimate;
  estimate.pairs.assign(pairs.begin(), pairs.end());
  estimate.exact = rows == static_cast<double>(taken);
  scale(estimate, rows / std::max(1.0, static_cast<double>(taken)));
  return estimate;
}

/// One hop is the graph itself.
Estimate estimate_one_hop(const Graph& graph, const RowRange& rows) {
  const std::uint64_t all = graph.offsets()[rows.end] - graph.offsets()[rows.begin];
  const auto arcs = static_cast<double>(all - std::min(all, graph.self_loops()));
  return {.pairs = {static_cast<double>(rows.count()), arcs},
          .arcs = arcs,
          .exact = graph.self_loops() == 0 || rows.count() == graph.nodes()};
}

/// When no hop is left out, a node is in a shell with every node of its component: no walk is
/// needed to count that. Hops are not told apart.
Estimate estimate_all_hops(const Graph& graph, const RowRange& rows) {
  Estimate estimate;
  estimate.pairs.assign(2, 0);
  const Components components = connected_components(graph);
  for (NodeId u = rows.begin; u < rows.end; ++u) {
    estimate.pairs[1] += static_cast<double>(components.size[components.label[u]] - 1);
  }
  estimate.pairs[0] = rows.count();
  return estimate;
}

double total(const Estimate& estimate) {
  return std::accumulate(estimate.pairs.begin(), estimate.pairs.end(), 0.0);
}

/// The engine that takes less time for lists, by nanoseconds that were measured on citation
/// networks, random graphs, meshes and social networks. They need to be right only where the two
/// are far apart.
Engine faster_engine(const Graph& graph, const RowRange& range, const Estimate& estimate) {
  const double nodes = graph.nodes();
  const double rows = range.count();
  const double pairs = total(estimate);
  const double queue = 1.5 * estimate.arcs + 7 * pairs + 60 * rows;
  const auto levels = static_cast<double>(estimate.pairs.size()) - 1;
  const double batches = rows / static_cast<double>(kernels::batch_width);
  const double lines = std::min(static_cast<double>(graph.arcs()) * batches, estimate.arcs);
  const double bits = 3 * lines * levels + (0.08 + 0.025 * levels) * rows * nodes + 1.8 * pairs +
                      60 * nodes + 20'000;
  return queue < bits ? Engine::queue : Engine::bits;
}

/// What the walk takes beside the shells: the graph and its copy, and each thread's lines.
std::uint64_t working_bytes(const Graph& graph, const ShellOptions& options, std::uint32_t hops,
                            bool keep_hops, bool whole_rows) {
  const auto planes = static_cast<std::uint32_t>(std::bit_width(hops));
  const auto threads = static_cast<std::uint64_t>(detail::thread_count(options.threads));
  return 2 * graph.bytes() + 16 * std::uint64_t{graph.nodes()} +
         threads *
             BitWalk::bytes(graph.nodes(),
                            {.hops = hops, .keep_hops = keep_hops, .min_paths = options.min_paths},
                            planes, whole_rows);
}

/// What it takes to find rows and hand them over, some at a time.
std::uint64_t stream_bytes(const Graph& graph, const ShellOptions& options, std::uint32_t hops) {
  // While rows are appended, there is room for one more, twice.
  return working_bytes(graph, options, hops, true, true) +
         static_cast<std::uint64_t>(detail::thread_count(options.threads)) * 2 *
             (columns_in_stream + std::uint64_t{graph.nodes()}) * sizeof(NodeId);
}

/// The bytes that may be taken.
std::uint64_t budget_of(const ShellOptions& options) {
  constexpr double share = 0.8;
  if (options.memory > 0) return detail::memory_left(options.memory);
  return static_cast<std::uint64_t>(share * static_cast<double>(detail::memory_left(0)));
}

/// Takes what was asked for, or else the form that filters work fastest on: lists where few pairs
/// are in a shell, and what fits where that does not.
void choose_storage(ShellPlan& plan, const ShellOptions& options, bool few_pairs) {
  const auto fits = [&](Storage kind) { return plan.bytes_of(kind) <= plan.budget; };
  plan.storage = options.storage;
  if (options.storage == Storage::automatic) {
    const Storage better = few_pairs ? Storage::sparse : Storage::dense;
    const Storage other = few_pairs ? Storage::dense : Storage::sparse;
    plan.storage = fits(better) ? better : fits(other) ? other : Storage::stream;
  }
  if (fits(plan.storage)) return;
  const std::uint64_t needed = plan.bytes_of(plan.storage);
  const std::uint64_t enough = detail::sufficient_budget(needed);
  throw MemoryExceeded(
      fmt::format(
          "{} shells need {} of memory{}, and {} may be taken; give --memory {}{}",
          storage_name(plan.storage), detail::human_bytes(needed),
          plan.estimated ? " (estimated)" : "", detail::human_bytes(plan.budget), enough,
          plan.storage != Storage::stream && fits(Storage::stream) ? ", or --storage stream" : ""),
      enough);
}

ShellPlan make_plan(const Graph& graph, const ShellOptions& options, const Estimate& estimate,
                    std::uint32_t hops) {
  const std::uint64_t nodes = graph.nodes();
  const RowRange range = options.rows.within(graph.nodes());
  const std::uint64_t rows = range.count();
  const std::uint64_t column_bytes = nodes <= std::numeric_limits<std::uint16_t>::max() ? 2 : 4;
  const std::uint64_t hop_bytes = hops > most_hops_in_a_byte ? 2 : 1;
  const std::uint64_t stride =
      (nodes + kernels::column_step - 1) / kernels::column_step * kernels::column_step;
  ShellPlan plan;
  for (const double pairs : estimate.pairs) {
    plan.pairs.push_back(static_cast<std::uint64_t>(std::llround(pairs)));
  }
  plan.estimated = !estimate.exact;
  plan.sparse_bytes = static_cast<std::uint64_t>(total(estimate)) * column_bytes +
                      rows * (sizeof(std::uint32_t) * (hops + std::uint64_t{1}) + column_bytes) +
                      working_bytes(graph, options, hops, true, true);
  plan.dense_bytes = rows * stride * hop_bytes + working_bytes(graph, options, hops, true, false);
  plan.stream_bytes = stream_bytes(graph, options, hops);
  plan.budget = budget_of(options);
  plan.engine = options.engine;
  choose_storage(plan, options,
                 options.dense_above * static_cast<double>(rows) * static_cast<double>(nodes) >=
                     total(estimate));
  if (plan.engine == Engine::automatic) {
    plan.engine =
        plan.storage == Storage::sparse ? faster_engine(graph, range, estimate) : Engine::bits;
  }
  return plan;
}

Estimate exactly(const std::vector<std::uint64_t>& pairs) {
  return {.pairs = {pairs.begin(), pairs.end()}, .arcs = 0, .exact = true};
}

/// The plan of `build_shells`, which must not cost much itself. `options.hops` becomes a number
/// where lists need one.
ShellPlan plan_build(const Graph& graph, ShellOptions& options) {
  const RowRange rows = options.rows.within(graph.nodes());
  const bool all = options.hops == all_hops;
  if (all && options.storage != Storage::sparse) {
    const Estimate estimate = estimate_all_hops(graph, rows);
    ShellPlan plan = make_plan(graph, options, estimate, most_hops_in_a_byte);
    if (plan.storage != Storage::sparse) return plan;
  }
  if (!all && (options.storage == Storage::dense || options.storage == Storage::stream)) {
    return make_plan(graph, options, {}, options.hops);
  }
  if (!all) {
    const Estimate estimate =
        options.hops == 1 ? estimate_one_hop(graph, rows) : estimate_quickly(graph, options);
    ShellPlan plan = make_plan(graph, options, estimate, options.hops);
    // An estimate may be off; where that could matter, the pairs are counted.
    if (plan.storage != Storage::sparse || plan.sparse_bytes < plan.budget / 2) return plan;
  }
  const std::vector<std::uint64_t> pairs = shell_sizes(graph, options);
  if (all) options.hops = static_cast<std::uint32_t>(std::max<std::size_t>(pairs.size(), 1) - 1);
  return make_plan(graph, options, exactly(pairs), options.hops);
}

void add(std::vector<std::uint64_t>& pairs, std::size_t hop, std::uint64_t count) {
  if (pairs.size() <= hop) pairs.resize(hop + 1, 0);
  pairs[hop] += count;
}

/// Hop by hop until all of the row is counted: rows fit the nearest caches.
void count_row(std::span<const std::uint8_t> row, std::uint32_t hops,
               std::vector<std::uint64_t>& pairs) {
  constexpr std::uint8_t farther = HopMatrix<std::uint8_t>::farther;
  std::size_t left = row.size() - kernels::count_hop(row.data(), row.size(), farther);
  for (std::uint8_t hop = 0; left > 0 && hop <= hops; ++hop) {
    const std::size_t found = kernels::count_hop(row.data(), row.size(), hop);
    if (found > 0) add(pairs, hop, found);
    left -= found;
  }
}

void count_row(std::span<const std::uint16_t> row, std::uint32_t hops,
               std::vector<std::uint64_t>& pairs) {
  for (const std::uint16_t hop : row) {
    if (hop != HopMatrix<std::uint16_t>::farther && hop <= hops) add(pairs, hop, 1);
  }
}

}  // namespace

std::string_view storage_name(Storage storage) {
  constexpr std::array<std::string_view, 4> names{"auto", "sparse", "dense", "stream"};
  return names[static_cast<std::size_t>(storage)];
}

std::string_view engine_name(Engine engine) {
  constexpr std::array<std::string_view, 3> names{"auto", "bits", "queue"};
  return names[static_cast<std::size_t>(engine)];
}

std::vector<std::uint64_t> shell_sizes(const Graph& graph, const ShellOptions& options) {
  return part_of_shell_sizes(graph, options, 0, 1);
}

std::vector<std::uint64_t> part_of_shell_sizes(const Graph& graph, const ShellOptions& options,
                                               std::size_t part, std::size_t parts) {
  check(options);
  if (graph.nodes() == 0) return {};
  const std::uint32_t hops = std::min(options.hops, most_hops_in_a_byte);
  detail::check_budget(working_bytes(graph, options, hops, false, false), options.memory,
                       "counting the pairs of each shell");
  const Walkable walkable = make_walkable(graph, {});
  // In turn, since groups that follow each other are alike.
  std::vector<std::vector<NodeId>> own;
  const auto groups = groups_for(walkable, options);
  for (std::size_t group = part; group < groups.size(); group += parts)
    own.push_back(groups[group]);
  auto pairs = walk_all(walkable, own, false, options,
                        [](std::size_t /*group*/, const BitWalk& /*walk*/) {});
  drop_empty_tail(pairs);
  return pairs;
}

std::uint64_t ShellPlan::bytes_of(Storage kind) const {
  switch (kind) {
    case Storage::sparse:
      return sparse_bytes;
    case Storage::dense:
      return dense_bytes;
    default:
      return stream_bytes;
  }
}

ShellPlan plan_shells(const Graph& graph, const ShellOptions& options) {
  check(options);
  if (graph.nodes() == 0) return make_plan(graph, options, exactly({}), 0);
  detail::check_budget(stream_bytes(graph, options, std::min(options.hops, most_hops_in_a_byte)),
                       options.memory, "estimating the shells");
  const Estimate estimate = estimate_by_batch(graph, options);
  const auto found = static_cast<std::uint32_t>(std::max<std::size_t>(estimate.pairs.size(), 1));
  const std::uint32_t hops = std::min(options.hops, found - 1);
  return make_plan(graph, options, estimate, hops);
}

Shells build_shells(const Graph& graph, const ShellOptions& options) {
  check(options);
  const NodeId nodes = graph.nodes();
  const RowRange rows = options.rows.within(nodes);
  if (nodes == 0) return {0, rows, 0, plan_shells(graph, options), std::monostate()};
  ShellOptions work = options;
  const ShellPlan plan = plan_build(graph, work);
  const auto held_as = [&](Shells::Held held) {
    return Shells(nodes, rows, work.hops, plan, std::move(held));
  };
  if (plan.storage == Storage::stream) return held_as(std::monostate());
  if (plan.storage == Storage::dense) return held_as(build_dense(graph, work));
  if (nodes <= std::numeric_limits<std::uint16_t>::max()) {
    return held_as(build_lists<std::uint16_t>(graph, work, plan.engine));
  }
  return held_as(build_lists<std::uint32_t>(graph, work, plan.engine));
}

void stream_shells(const Graph& graph, const ShellOptions& options,
                   const std::function<void(const ShellRows<NodeId>&)>& visit) {
  check(options);
  if (options.hops == all_hops) fail("to stream shells, say how many hops");
  if (graph.nodes() == 0) return;
  Engine engine = options.engine;
  if (engine == Engine::automatic) {
    engine = options.hops < 2 ? Engine::queue
                              : faster_engine(graph, options.rows.within(graph.nodes()),
                                              estimate_quickly(graph, options));
  }
  find_lists<NodeId>(
      graph, options, engine, true, [](std::size_t /*blocks*/) {},
      [&](std::size_t /*block*/, const ShellRows<NodeId>& rows) { visit(rows); });
}

template <typename Hop>
void write_hops(const Graph& graph, const ShellOptions& options, HopMatrix<Hop>& into) {
  check(options);
  if (into.nodes() != graph.nodes()) {
    fail("a matrix for {} nodes cannot take the hops of {}", into.nodes(), graph.nodes());
  }
  if (graph.nodes() == 0) return;
  ShellOptions of_rows = options;
  of_rows.rows = into.rows();
  try {
    fill_matrix(make_walkable(graph, reduction_for(options)), of_rows, into);
  } catch (const TooManyHops&) {
    refuse_hops(HopMatrix<Hop>::farther - 1);
  }
}

template void write_hops(const Graph&, const ShellOptions&, HopMatrix<std::uint8_t>&);
template void write_hops(const Graph&, const ShellOptions&, HopMatrix<std::uint16_t>&);

std::uint64_t Shells::bytes() const {
  return std::visit(
      [](const auto& held) -> std::uint64_t {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return 0;
        } else {
          return held.bytes();
        }
      },
      held_);
}

std::vector<std::uint64_t> Shells::pairs(int threads) const {
  std::vector<std::uint64_t> result;
  std::mutex mutex;
  const auto count = [&](const auto& held) {
    using Type = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Type, HopMatrix<std::uint8_t>> ||
                  std::is_same_v<Type, HopMatrix<std::uint16_t>>) {
      detail::parallel_ranges(rows_.count(), threads, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint64_t> own;
        for (std::size_t row = begin; row < end; ++row) {
          count_row(held.row(rows_.begin + static_cast<NodeId>(row)), hops_, own);
        }
        const std::lock_guard lock(mutex);
        for (std::size_t hop = 0; hop < own.size(); ++hop) add(result, hop, own[hop]);
      });
    } else if constexpr (!std::is_same_v<Type, std::monostate>) {
      result.assign(held.hops() + std::size_t{1}, 0);
      result[0] = rows_.count();
      for (NodeId u = rows_.begin; u < rows_.end; ++u) {
        for (std::uint32_t k = 1; k <= held.hops(); ++k) result[k] += held.columns(u, k).size();
      }
    }
  };
  std::visit(count, held_);
  drop_empty_tail(result);
  return result;
}

std::vector<NodeId> Shells::columns(NodeId u, std::uint32_t hop) const {
  std::vector<NodeId> result;
  const auto collect = [&](const auto& held) {
    using Type = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Type, HopMatrix<std::uint8_t>> ||
                  std::is_same_v<Type, HopMatrix<std::uint16_t>>) {
      for (NodeId v = 0; v < nodes_; ++v) {
        if (held(u, v) == hop) result.push_back(v);
      }
    } else if constexpr (!std::is_same_v<Type, std::monostate>) {
      if (hop == 0) {
        result.push_back(u);
      } else if (hop <= held.hops()) {
        const auto found = held.columns(u, hop);
        result.assign(found.begin(), found.end());
      }
    }
  };
  std::visit(collect, held_);
  return result;
}

}  // namespace ngf
