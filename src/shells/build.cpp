// Walks that fill what holds shells, hand rows over, or count.

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "kernels/walk_rows.hpp"
#include "ngf/shells.hpp"
#include "shells/bit_walk.hpp"
#include "shells/costs.hpp"
#include "shells/plan.hpp"
#include "shells/queue_walk.hpp"
#include "shells/twins.hpp"
#include "shells/walkable.hpp"
#include "shells/walks.hpp"

namespace ngf {

namespace {

using namespace shells;

/// Thrown when hops turn out not to fit the numbers chosen for them.
struct TooManyHops {};

[[noreturn]] void refuse_hops(std::uint32_t most) {
  fail("some nodes are more than {} hops apart; ask for fewer hops", most);
}

template <typename Hop>
void fill_matrix(const Walkable& graph, const ShellOptions& options, HopMatrix<Hop>& matrix,
                 Progress* progress) {
  const auto groups = groups_for(graph, options);
  walk_all(graph, groups, true, options, progress, [&](std::size_t /*group*/, BitWalk& walk) {
    if (walk.levels() + 2 * graph.deepest >= HopMatrix<Hop>::farther &&
        options.hops >= HopMatrix<Hop>::farther) {
      throw TooManyHops();
    }
    walk.write_rows(matrix);
  });
}

template <typename Hop>
HopMatrix<Hop> build_matrix(const Walkable& graph, const ShellOptions& options,
                            Progress* progress) {
  HopMatrix<Hop> matrix(static_cast<NodeId>(graph.root.size()), options.rows);
  fill_matrix(graph, options, matrix, progress);
  return matrix;
}

Shells::Held build_dense(const Graph& graph, const ShellOptions& options, Progress* progress) {
  const Walkable walkable = make_walkable(graph, reduction_for(options));
  if (std::min(options.hops, walkable.diameter_at_least) <= most_hops_in_a_byte) {
    try {
      return build_matrix<std::uint8_t>(walkable, options, progress);
    } catch (const TooManyHops&) {
      // Known only now; two bytes it is.
    }
  }
  check_budget(std::uint64_t{2} * options.rows.within(graph.nodes()).count() * graph.nodes(),
               options.memory, "two bytes for each pair of nodes");
  try {
    return build_matrix<std::uint16_t>(walkable, options, progress);
  } catch (const TooManyHops&) {
    refuse_hops(most_hops_in_two);
  }
}

template <typename Column>
auto columns_kernel() {
  if constexpr (sizeof(Column) == 2) {
    return kernels::walk_rows().columns_at_16;
  } else {
    return kernels::walk_rows().columns_at_32;
  }
}

/// The columns of each hop of a row, one hop after the other.
template <typename Hop, typename Column>
void append_lists(std::span<const Hop> row, NodeId nodes, std::uint32_t hops,
                  AlignedVector<Column>& columns, std::vector<std::uint32_t>& ends) {
  const std::size_t begin = columns.size();
  if constexpr (sizeof(Hop) == 1) {
    if (hops <= shells::costs::hops_by_vector) {
      // Room for every column that can come, and for what the kernel writes beyond the last.
      const std::size_t most = begin + row.size() + kernels::column_step;
      if (columns.capacity() < most) columns.reserve(2 * most);
      columns.resize(most);
      std::size_t end = begin;
      const auto columns_at = columns_kernel<Column>();
      for (std::uint32_t k = 1; k <= hops; ++k) {
        std::size_t found =
            columns_at(row.data(), row.size(), static_cast<std::uint8_t>(k), columns.data() + end);
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

/// Calls begin(blocks), and then take(block, rows) for each block of rows, on any thread; where
/// rows are streamed, several times for a block with some of its rows.
template <typename Hop, typename Column, typename Begin, typename Take>
void find_by_bits(const Graph& graph, const ShellOptions& options, bool streamed,
                  Progress* progress, const Begin& begin, const Take& take) {
  const Walkable walkable = make_walkable(graph, reduction_for(options));
  const auto groups = groups_for(walkable, options);
  begin(groups.size());
  walk_all(walkable, groups, true, options, progress, [&](std::size_t group, BitWalk& walk) {
    if (walk.levels() + 2 * walkable.deepest > most_hops_in_two) refuse_hops(most_hops_in_two);
    std::vector<NodeId> rows;
    std::vector<std::uint32_t> ends;
    AlignedVector<Column> found;
    walk.visit_rows<Hop>([&](NodeId x, std::span<const Hop> row) {
      rows.push_back(x);
      append_lists(row, graph.nodes(), options.hops, found, ends);
      if (!streamed || found.size() < costs::columns_in_stream) return;
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
                   Progress* progress, const Begin& begin, const Take& take) {
  const std::size_t rows_at_a_time =
      streamed
          ? std::clamp<std::size_t>(costs::columns_in_stream / graph.nodes(), 1, costs::queue_rows)
          : costs::queue_rows;
  const RowRange rows = options.rows.within(graph.nodes());
  const std::size_t blocks = (rows.count() + rows_at_a_time - 1) / rows_at_a_time;
  begin(blocks);
  PerThread<QueueWorker<Column>> workers(options.threads);
  std::atomic<std::uint64_t> finished{0};
  parallel_for(blocks, options.threads, [&](std::size_t block, std::size_t thread) {
    throw_if_stopped(progress);
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
    if (progress != nullptr) progress->report(++finished, blocks);
  });
}

template <typename Column, typename Begin, typename Take>
void find_lists(const Graph& graph, const ShellPlan& plan, bool streamed, Progress* progress,
                const Begin& begin, const Take& take) {
  const ShellOptions& options = plan.options;
  if (plan.engine == Engine::queue) {
    find_by_queue<Column>(graph, options, streamed, progress, begin, take);
  } else if (options.hops <= most_hops_in_a_byte) {
    find_by_bits<std::uint8_t, Column>(graph, options, streamed, progress, begin, take);
  } else {
    find_by_bits<std::uint16_t, Column>(graph, options, streamed, progress, begin, take);
  }
}

template <typename Column>
ColumnLists<Column> build_lists(const Graph& graph, const ShellPlan& plan, Progress* progress) {
  std::optional<ColumnLists<Column>> lists;
  find_lists<Column>(
      graph, plan, false, progress,
      [&](std::size_t blocks) { lists.emplace(plan.options.rows, plan.options.hops, blocks); },
      [&](std::size_t block, const ShellRows<Column>& rows) { lists->add(block, rows); });
  return std::move(*lists);
}

Shells::Held build_held(const Graph& graph, const ShellPlan& plan, Progress* progress) {
  if (graph.nodes() == 0 || plan.storage == Storage::stream) return std::monostate();
  if (plan.storage == Storage::dense) return build_dense(graph, plan.options, progress);
  if (graph.nodes() <= std::numeric_limits<std::uint16_t>::max()) {
    return build_lists<std::uint16_t>(graph, plan, progress);
  }
  return build_lists<std::uint32_t>(graph, plan, progress);
}

}  // namespace

std::vector<std::uint64_t> shell_sizes(const Graph& graph, const ShellOptions& options,
                                       Progress* progress) {
  return part_of_shell_sizes(graph, options, 0, 1, progress);
}

std::vector<std::uint64_t> part_of_shell_sizes(const Graph& graph, const ShellOptions& options,
                                               std::size_t part, std::size_t parts,
                                               Progress* progress) {
  check(options);
  if (graph.nodes() == 0) return {};
  const std::uint32_t hops = std::min(options.hops, most_hops_in_a_byte);
  check_budget(working_bytes(graph, options, hops, false, false), options.memory,
               "counting the pairs of each shell");
  const Walkable walkable = make_walkable(graph, {});
  // In turn, since groups that follow each other are alike.
  std::vector<std::vector<NodeId>> own;
  const auto groups = groups_for(walkable, options);
  for (std::size_t group = part; group < groups.size(); group += parts)
    own.push_back(groups[group]);
  auto pairs = walk_all(walkable, own, false, options, progress,
                        [](std::size_t /*group*/, const BitWalk& /*walk*/) {});
  while (!pairs.empty() && pairs.back() == 0) pairs.pop_back();
  return pairs;
}

Shells build_shells(const Graph& graph, const ShellPlan& plan, Progress* progress) {
  const Graph& merged = plan.twins == nullptr ? graph : plan.twins->graph;
  std::shared_ptr<const Shells> transposed;
  Shells::Held held = build_held(merged, plan, progress);
  if (merged.directed() && plan.options.transposed) {
    const Graph back = transpose(merged);
    transposed = std::make_shared<const Shells>(back, plan, build_held(back, plan, progress));
  }
  return {merged, plan, std::move(held), std::move(transposed)};
}

Shells build_shells(const Graph& graph, const ShellOptions& options, Progress* progress) {
  return build_shells(graph, plan_shells(graph, options, progress), progress);
}

void stream_shells(const Graph& graph, const ShellPlan& plan, const VisitRows& visit,
                   Progress* progress) {
  if (plan.options.hops == all_hops) fail("to stream shells, say how many hops");
  if (graph.nodes() == 0) return;
  find_lists<NodeId>(
      graph, plan, true, progress, [](std::size_t /*blocks*/) {},
      [&](std::size_t /*block*/, const ShellRows<NodeId>& rows) { visit(rows); });
}

template <typename Hop>
void write_hops(const Graph& graph, const ShellOptions& options, HopMatrix<Hop>& into,
                Progress* progress) {
  check(options);
  if (into.nodes() != graph.nodes()) {
    fail("a matrix for {} nodes cannot take the hops of {}", into.nodes(), graph.nodes());
  }
  if (graph.nodes() == 0) return;
  ShellOptions of_rows = options;
  of_rows.rows = into.rows();
  try {
    fill_matrix(make_walkable(graph, reduction_for(options)), of_rows, into, progress);
  } catch (const TooManyHops&) {
    refuse_hops(HopMatrix<Hop>::farther - 1);
  }
}

template void write_hops(const Graph&, const ShellOptions&, HopMatrix<std::uint8_t>&, Progress*);
template void write_hops(const Graph&, const ShellOptions&, HopMatrix<std::uint16_t>&, Progress*);

}  // namespace ngf
