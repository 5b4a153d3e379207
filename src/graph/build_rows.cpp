// From edges in any order to compressed sparse rows, in parallel:
//
//   count the arcs of each bucket of rows  ->  drop each arc into its bucket
//     ->  sort each bucket into rows, and close the gap that repeated arcs have left before it
//
// A bucket is so small that the caches hold it: to drop each arc right into its row would wait for
// memory at each of them.

#include "graph/build_rows.hpp"

#include <bit>
#include <numeric>
#include <optional>
#include <thread>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "graph/costs.hpp"
#include "kernels/sort_row.hpp"

namespace ngf::detail {

namespace {

struct WeightedArc {
  NodeId target;
  double weight;
};

/// A vector of `size` zeros on huge pages. Threads share the work of bringing the pages into being,
/// which takes longer than to fill them.
template <typename T>
std::vector<T> zeros(std::size_t size, int threads) {
  std::vector<T> result;
  result.reserve(size);
  auto* const bytes = reinterpret_cast<volatile char*>(result.data());
  const std::size_t length = size * sizeof(T);
  prefer_huge_pages(result.data(), length);
  parallel_for(length / huge_page, threads, [&](std::size_t page) { bytes[page * huge_page] = 0; });
  result.resize(size);
  return result;
}

/// Consecutive rows as one range, a power of two of them.
class Buckets {
 public:
  Buckets(NodeId nodes, std::uint64_t arcs) {
    using namespace graph::costs;
    const std::uint64_t wanted = std::clamp<std::uint64_t>(arcs / arcs_in_caches, 1, most_buckets);
    const std::uint64_t rows = (std::uint64_t{nodes} + wanted - 1) / wanted;
    // A row's place in its bucket must fit into LocalRow.
    shift_ = rows > 1 ? std::min(16, static_cast<int>(std::bit_width(rows - 1))) : 0;
    count_ = static_cast<std::size_t>((std::uint64_t{nodes} + rows_each() - 1) >> shift_);
  }

  using LocalRow = std::uint16_t;

  std::size_t count() const { return count_; }
  std::size_t rows_each() const { return std::size_t{1} << shift_; }
  std::size_t of(NodeId u) const { return u >> shift_; }
  LocalRow local(NodeId u) const { return static_cast<LocalRow>(u & (rows_each() - 1)); }

 private:
  int shift_ = 0;
  std::size_t count_ = 0;
};

/// Calls visit(from, to, weight) for each arc that the edges stand for.
template <typename Visit>
void for_each_arc(const EdgeBlock& block, const BuildOptions& options, const Visit& visit) {
  const bool both_ways = !options.directed;
  const bool keep_self_loops = options.keep_self_loops;
  const double* weight = block.weights.empty() ? nullptr : block.weights.data();
  for (const auto [from, to] : block.edges) {
    const double w = weight != nullptr ? *weight++ : 1;
    if (from != to || keep_self_loops) visit(from, to, w);
    if (from != to && both_ways) visit(to, from, w);
  }
}

class RowBuilder {
 public:
  RowBuilder(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options)
      : nodes_(nodes),
        options_(options),
        blocks_(std::move(blocks)),
        weighted_(std::any_of(blocks_.begin(), blocks_.end(),
                              [](const EdgeBlock& block) { return !block.weights.empty(); })),
        buckets_(nodes, count_edges(blocks_) * (options.directed ? 1 : 2)) {
    const auto threads = static_cast<std::size_t>(thread_count(options.threads));
    runs_.resize(std::clamp<std::size_t>(blocks_.size(), 1, 8 * threads));
  }

  Rows build() {
    check_memory();
    const std::size_t arcs = count_buckets();
    rows_.targets = zeros<NodeId>(arcs, options_.threads);
    if (weighted_) rows_.weights = zeros<double>(arcs, options_.threads);
    local_rows_.resize(arcs);
    fill_buckets();
    rows_.offsets = zeros<std::uint64_t>(std::size_t{nodes_} + 1, options_.threads);
    sort_buckets();
    drop_tail();
    return std::move(rows_);
  }

  const BuildCounts& dropped() const { return dropped_; }

 private:
  /// Several blocks of edges: while it counts, the arcs of each bucket among them; then where the
  /// next of them goes.
  using Run = std::vector<std::uint64_t>;

  template <typename Visit>
  void for_each_block(std::size_t run, const Visit& visit) {
    const std::size_t end = blocks_.size() * (run + 1) / runs_.size();
    for (std::size_t b = blocks_.size() * run / runs_.size(); b < end; ++b) {
      throw_if_stopped(options_.progress);
      visit(blocks_[b]);
    }
  }

  void check_memory() const {
    const std::uint64_t edges = count_edges(blocks_);
    const std::uint64_t bytes_an_arc =
        sizeof(NodeId) + (weighted_ ? sizeof(double) : 0) + sizeof(Buckets::LocalRow);
    check_budget((std::uint64_t{nodes_} + 1) * sizeof(std::uint64_t) +
                     edges * (options_.directed ? 1 : 2) * bytes_an_arc,
                 options_.memory, fmt::format("a graph of {} nodes and {} edges", nodes_, edges));
  }

  /// Finds where each bucket begins, and where in it each run. Returns the number of arcs.
  std::size_t count_buckets() {
    std::atomic<std::uint64_t> self_loops{0};
    parallel_for(runs_.size(), options_.threads, [&](std::size_t r) {
      Run counts(buckets_.count(), 0);
      std::uint64_t loops = 0;
      for_each_block(r, [&](const EdgeBlock& block) {
        for (const auto [from, to] : block.edges) {
          if (from >= nodes_ || to >= nodes_) refuse(from, to);
          loops += from == to ? 1 : 0;
        }
        for_each_arc(
            block, options_,
            [counts = counts.data(), buckets = buckets_](
                NodeId from, NodeId /*to*/, double /*weight*/) { ++counts[buckets.of(from)]; });
      });
      self_loops += loops;
      runs_[r] = std::move(counts);
    });
    dropped_.self_loops = self_loops;
    std::uint64_t total = 0;
    begins_.reserve(buckets_.count() + 1);
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      begins_.push_back(total);
      for (Run& run : runs_) total += std::exchange(run[bucket], total);
    }
    begins_.push_back(total);
    for (std::size_t bucket = 0; bucket < buckets_.count(); ++bucket) {
      if (length(bucket) > std::numeric_limits<Place>::max()) {
        fail("{} arcs of {} consecutive nodes are more than 2^32 - 1", length(bucket),
             buckets_.rows_each());
      }
    }
    return total;
  }

  [[noreturn]] void refuse(NodeId from, NodeId to) const {
    fail("edge {}-{} names a node past the last one, {}", from, to,
         static_cast<std::int64_t>(nodes_) - 1);
  }

  void fill_buckets() {
    parallel_for(runs_.size(), options_.threads, [&](std::size_t r) {
      // Copies, which the compiler knows that no store changes.
      const Buckets buckets = buckets_;
      std::uint64_t* const next = runs_[r].data();
      Buckets::LocalRow* const local_rows = local_rows_.data();
      NodeId* const targets = rows_.targets.data();
      double* const weights = weighted_ ? rows_.weights.data() : nullptr;
      for_each_block(r, [&](EdgeBlock& block) {
        for_each_arc(block, options_, [=](NodeId from, NodeId to, double weight) {
          const std::uint64_t place = next[buckets.of(from)]++;
          local_rows[place] = buckets.local(from);
          targets[place] = to;
          if (weights != nullptr) weights[place] = weight;
          // The next cache line but one of this bucket: else stores wait for each new line.
          __builtin_prefetch(targets + place + 32, 1);
          __builtin_prefetch(local_rows + place + 64, 1);
        });
        block = {};
      });
    });
  }

  /// Sorts the rows of each bucket, removes duplicates, and moves them behind the bucket before.
  void sort_buckets() {
    constexpr std::uint64_t unknown = ~std::uint64_t{0};
    std::vector<std::atomic<std::uint64_t>> ends(buckets_.count() + 1);
    for (auto& end : ends) end = unknown;
    ends.front() = 0;
    std::atomic<bool> given_up{false};
    std::atomic<std::uint64_t> conflicts{0};
    first_conflicts_.resize(buckets_.count());
    // Buckets are begun in their order, so that nobody waits for one that nobody has begun.
    parallel_for(buckets_.count(), options_.threads, [&](std::size_t bucket) {
      std::uint64_t kept = 0;
      try {
        throw_if_stopped(options_.progress);
        kept = weighted_ ? sort_weighted(bucket, conflicts) : sort_unweighted(bucket);
      } catch (...) {
        given_up = true;
        throw;
      }
      while (ends[bucket] == unknown) {
        if (given_up) return;
        std::this_thread::yield();
      }
      move_bucket(bucket, kept, begins_[bucket] - ends[bucket]);
      ends[bucket + 1] = ends[bucket] + kept;
    });
    rows_.offsets.back() = ends.back();
    dropped_.duplicates = begins_.back() - ends.back();
    dropped_.conflicting_weights = conflicts;
    const auto first = std::find_if(first_conflicts_.begin(), first_conflicts_.end(),
                                    [](const auto& conflict) { return conflict.has_value(); });
    if (first != first_conflicts_.end()) dropped_.first_conflict = *first;
  }

  /// Writes the sorted rows without duplicates to the bucket's beginning. Returns the number of
  /// arcs kept.
  std::uint64_t sort_unweighted(std::size_t bucket) {
    const NodeId* const targets = rows_.targets.data() + begins_[bucket];
    AlignedVector<NodeId> sorted(length(bucket));
    const auto ends =
        drop_into_rows(bucket, [targets, into = sorted.data()](std::size_t arc, std::size_t place) {
          into[place] = targets[arc];
        });
    std::size_t begin = 0;
    return finish_rows(bucket, ends, [&](NodeId /*u*/, std::size_t end, std::uint64_t into) {
      NodeId* const row = sorted.data() + std::exchange(begin, end);
      return sort_distinct(row, static_cast<std::size_t>(sorted.data() + end - row),
                           rows_.targets.data() + into);
    });
  }

  /// The same; counts repeated arcs that have another weight than the one kept, the largest.
  std::uint64_t sort_weighted(std::size_t bucket, std::atomic<std::uint64_t>& conflicts) {
    const NodeId* const targets = rows_.targets.data() + begins_[bucket];
    const double* const weights = rows_.weights.data() + begins_[bucket];
    AlignedVector<WeightedArc> sorted(length(bucket));
    const auto ends = drop_into_rows(bucket, [&](std::size_t arc, std::size_t place) {
      sorted[place] = {targets[arc], weights[arc]};
    });
    auto begin = sorted.begin();
    std::optional<WeightConflict>& first_conflict = first_conflicts_[bucket];
    return finish_rows(bucket, ends, [&](NodeId u, std::size_t end, std::uint64_t into) {
      const auto row = std::exchange(begin, sorted.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(row, begin, [](const WeightedArc& a, const WeightedArc& b) {
        return a.target != b.target ? a.target < b.target : a.weight > b.weight;
      });
      const std::uint64_t first = into;
      for (auto arc = row; arc != begin; ++arc) {
        if (into > first && rows_.targets[into - 1] == arc->target) {
          const double kept = rows_.weights[into - 1];
          if (arc->weight == kept || arc->target == u) continue;
          ++conflicts;
          if (!first_conflict) first_conflict = {{u, arc->target}, kept, arc->weight};
        } else {
          rows_.targets[into] = arc->target;
          rows_.weights[into++] = arc->weight;
        }
      }
      return into - first;
    });
  }

  /// Of an arc in its bucket. So small that those of a bucket's rows stay in the nearest cache.
  using Place = std::uint32_t;

  std::size_t length(std::size_t bucket) const { return begins_[bucket + 1] - begins_[bucket]; }

  /// Calls drop(arc, place) for each arc of the bucket with its place among the sorted rows, both
  /// counted from the bucket's first arc. Returns where the rows end.
  template <typename Drop>
  std::vector<Place> drop_into_rows(std::size_t bucket, const Drop& drop) const {
    const Buckets::LocalRow* const local_rows = local_rows_.data() + begins_[bucket];
    // Counts, moved up by one; then beginnings, which become ends.
    std::vector<Place> next(buckets_.rows_each() + 1, 0);
    const std::size_t arcs = length(bucket);
    for (std::size_t arc = 0; arc < arcs; ++arc) ++next[local_rows[arc] + std::size_t{1}];
    std::inclusive_scan(next.begin(), next.end(), next.begin());
    for (std::size_t arc = 0; arc < arcs; ++arc) drop(arc, next[local_rows[arc]]++);
    return next;
  }

  /// Calls finish(u, end, into) for each row u of the bucket: with where it ends, and where its
  /// arcs go, of which it returns how many they are. Returns how many they all are.
  template <typename Finish>
  std::uint64_t finish_rows(std::size_t bucket, const std::vector<Place>& ends,
                            const Finish& finish) {
    std::uint64_t into = begins_[bucket];
    const std::size_t first = bucket * buckets_.rows_each();
    const std::size_t rows = std::min(buckets_.rows_each(), nodes_ - first);
    for (std::size_t row = 0; row < rows; ++row) {
      rows_.offsets[first + row] = into;
      into += finish(static_cast<NodeId>(first + row), ends[row], into);
    }
    return into - begins_[bucket];
  }

  void drop_tail() {
    const std::uint64_t total = rows_.offsets.back();
    const bool wasteful = total < begins_.back() - begins_.back() / 8;
    rows_.targets.resize(total);
    if (wasteful) rows_.targets.shrink_to_fit();
    if (!weighted_) return;
    rows_.weights.resize(total);
    if (wasteful) rows_.weights.shrink_to_fit();
  }

  /// Moves the `kept` arcs of a bucket that is sorted by `gap` arcs to the front.
  void move_bucket(std::size_t bucket, std::uint64_t kept, std::uint64_t gap) {
    if (gap == 0) return;
    const auto move = [&](auto& values) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(begins_[bucket]);
      std::copy_n(begin, kept, begin - static_cast<std::ptrdiff_t>(gap));
    };
    move(rows_.targets);
    if (weighted_) move(rows_.weights);
    const std::size_t first = bucket * buckets_.rows_each();
    const std::size_t end = std::min<std::size_t>(nodes_, first + buckets_.rows_each());
    for (std::size_t u = first; u < end; ++u) rows_.offsets[u] -= gap;
  }

  NodeId nodes_;
  const BuildOptions& options_;
  std::vector<EdgeBlock> blocks_;
  bool weighted_;
  Buckets buckets_;
  std::vector<Run> runs_;
  std::vector<std::uint64_t> begins_;  // of the buckets, among the arcs, and the end of the last
  AlignedVector<Buckets::LocalRow> local_rows_;  // of each arc, while the rows are not sorted
  Rows rows_;
  std::vector<std::optional<WeightConflict>> first_conflicts_;  // of each bucket
  BuildCounts dropped_;
};

}  // namespace

std::size_t sort_distinct(NodeId* row, std::size_t length, NodeId* into) {
  if (length <= kernels::short_row) return kernels::sort_short_row(row, length, into);
  std::sort(row, row + length);
  return static_cast<std::size_t>(std::unique_copy(row, row + length, into) - into);
}

Rows build_rows(NodeId nodes, std::vector<EdgeBlock> blocks, const BuildOptions& options,
                BuildCounts& dropped) {
  RowBuilder builder(nodes, std::move(blocks), options);
  Rows rows = builder.build();
  dropped = builder.dropped();
  return rows;
}

}  // namespace ngf::detail
