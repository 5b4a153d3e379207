// Both the edges and the free pairs of a graph are numbered row by row, so that any of them can be
// found by its number: to draw edges or non-edges evenly is to draw numbers evenly. In row u of an
// undirected graph only the columns v > u count, in a directed one all v != u; leaving out the
// others, columns have places 0, 1, 2, ... A pair that is free is found by binary search: before
// the i-th edge of a row, at place p, lie p - i free places.

#include "ngf/perturb.hpp"

#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <ranges>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "graph/build_rows.hpp"

namespace ngf {

namespace {

/// The edges of one row without its self-loop, and the pairs that are free in it.
class Row {
 public:
  Row(const Graph& graph, NodeId u) : u_(u), nodes_(graph.nodes()), directed_(graph.directed()) {
    const auto row = graph.neighbors(u);
    const auto begin = std::lower_bound(row.begin(), row.end(), u);
    const auto end = begin != row.end() && *begin == u ? begin + 1 : begin;
    row_ = row;
    before_ = static_cast<std::size_t>(begin - row.begin());
    after_ = static_cast<std::size_t>(end - row.begin());
  }

  std::uint64_t edges() const { return row_.size() - after_ + (directed_ ? before_ : 0); }
  std::uint64_t free() const { return (directed_ ? nodes_ : nodes_ - u_) - 1 - edges(); }

  /// Where edge i stands in the whole row.
  std::size_t index_of_edge(std::uint64_t i) const {
    return directed_ && i < before_ ? i : after_ + i - (directed_ ? before_ : 0);
  }

  std::optional<std::size_t> index_of_loop() const {
    if (before_ == after_) return {};
    return before_;
  }

  /// The column of the free pair with this number, counted within the row.
  NodeId free_column(std::uint64_t rank) const {
    std::uint64_t low = 0;
    std::uint64_t high = edges();
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (place_of_edge(middle) - middle > rank) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return column(rank + low);
  }

 private:
  std::uint64_t place_of_edge(std::uint64_t i) const {
    const NodeId v = row_[index_of_edge(i)];
    if (!directed_) return std::uint64_t{v} - u_ - 1;
    return v < u_ ? v : v - 1;
  }

  NodeId column(std::uint64_t place) const {
    if (!directed_) return static_cast<NodeId>(u_ + 1 + place);
    return static_cast<NodeId>(place < u_ ? place : place + 1);
  }

  NodeId u_;
  NodeId nodes_;
  bool directed_;
  std::span<const NodeId> row_;
  std::size_t before_;
  std::size_t after_;
};

/// Numbers that run through the rows: those of row u are begin[u] .. begin[u + 1] - 1.
struct Numbering {
  std::vector<std::uint64_t> begin;

  template <typename Count>
  Numbering(const Graph& graph, int threads, const Count& count)
      : begin(std::size_t{graph.nodes()} + 1) {
    parallel_ranges(graph.nodes(), threads, [&](std::size_t first, std::size_t last) {
      for (auto u = static_cast<NodeId>(first); u < last; ++u) {
        begin[u + std::size_t{1}] = count(Row(graph, u));
      }
    });
    std::inclusive_scan(begin.begin(), begin.end(), begin.begin());
  }

  std::uint64_t total() const { return begin.back(); }
  NodeId row_of(std::uint64_t number) const {
    const auto past = std::upper_bound(begin.begin(), begin.end(), number);
    return static_cast<NodeId>(past - begin.begin() - 1);
  }
};

using Numbers = std::vector<std::uint64_t>;  // increasing

/// `count` of the numbers below `total`, all sets being equally likely.
Numbers distinct_numbers(std::uint64_t count, std::uint64_t total, Use use,
                         const PerturbOptions& options) {
  Numbers numbers;
  if (count > total / 2) {
    const Numbers left_out = distinct_numbers(total - count, total, use, options);
    numbers.reserve(count);
    std::ranges::set_difference(std::views::iota(std::uint64_t{0}, total), left_out,
                                std::back_inserter(numbers));
    return numbers;
  }
  // What is missing is drawn again until nothing is drawn twice: at most half are, each time.
  std::uint64_t drawn = 0;
  while (numbers.size() < count) {
    const std::size_t kept = numbers.size();
    numbers.resize(count);
    parallel_ranges(count - kept, options.threads, [&](std::size_t begin, std::size_t end) {
      throw_if_stopped(options.progress);
      for (std::size_t i = begin; i < end; ++i) {
        numbers[kept + i] = random_for(options.seed, use, drawn + i).below(total);
      }
    });
    drawn += count - kept;
    const auto fresh = numbers.begin() + static_cast<std::ptrdiff_t>(kept);
    std::sort(fresh, numbers.end());
    std::inplace_merge(numbers.begin(), fresh, numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  return numbers;
}

/// Each number with the given probability, at the cost of those chosen and of the rows.
Numbers flipped_numbers(const Numbering& numbering, double probability, Use use,
                        const PerturbOptions& options) {
  Numbers numbers;
  if (probability <= 0) return numbers;
  std::mutex mutex;
  const std::size_t rows = numbering.begin.size() - 1;
  parallel_ranges(rows, options.threads, [&](std::size_t first, std::size_t last) {
    throw_if_stopped(options.progress);
    Numbers found;
    for (std::size_t u = first; u < last; ++u) {
      Random random = random_for(options.seed, use, u);
      const std::uint64_t end = numbering.begin[u + 1];
      for (std::uint64_t number = numbering.begin[u]; number < end; ++number) {
        const std::uint64_t skip = random.geometric(probability);
        if (skip >= end - number) break;
        number += skip;
        found.push_back(number);
      }
    }
    const std::lock_guard lock(mutex);
    numbers.insert(numbers.end(), found.begin(), found.end());
  });
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// `percent` of the edges, rounded; at most 2^56, which is more than any memory holds.
std::uint64_t share_of(std::uint64_t edges, double percent) {
  const double share = std::round(percent * static_cast<double>(edges) / 100);
  return static_cast<std::uint64_t>(std::min(share, 0x1p56));
}

void check(const PerturbOptions& options) {
  const bool flips = options.as_probability;
  const double most = flips ? 1 : 100;
  if (!(options.destroy >= 0 && options.destroy <= most)) {
    fail("destroy={} must be a {}", options.destroy,
         flips ? "probability from 0 to 1" : "percentage from 0 to 100");
  }
  if (!(options.create >= 0 &&
        options.create <= (flips ? 1 : std::numeric_limits<double>::max()))) {
    fail("create={} must be a {}", options.create,
         flips ? "probability from 0 to 1" : "percentage of 0 or more");
  }
}

/// What changes, by number.
struct Plan {
  Numbering edges;
  Numbering free;
  Numbers created;
  Numbers destroyed;
};

Plan make_plan(const Graph& graph, const PerturbOptions& options) {
  Plan plan{.edges = {graph, options.threads, [](const Row& row) { return row.edges(); }},
            .free = {graph, options.threads, [](const Row& row) { return row.free(); }},
            .created = {},
            .destroyed = {}};
  const std::uint64_t edges = plan.edges.total();
  const std::uint64_t free = plan.free.total();
  const std::uint64_t to_create = options.as_probability ? share_of(free, 100 * options.create)
                                                         : share_of(edges, options.create);
  if (to_create > free) {
    fail("create={}: that is {} edges, but only {} pairs of nodes are not yet joined",
         options.create, to_create, free);
  }
  // Per edge a number and a place in a list, which grow to twice their size, and two in the rows.
  const std::uint64_t bytes = graph.weighted() ? 64 : 40;
  check_budget(3 * graph.bytes() + to_create * bytes, options.memory,
               fmt::format("a graph with {} edges more", to_create));
  if (options.as_probability) {
    plan.destroyed = flipped_numbers(plan.edges, options.destroy, Use::perturb_destroyed, options);
    plan.created = flipped_numbers(plan.free, options.create, Use::perturb_created, options);
  } else {
    plan.destroyed =
        distinct_numbers(share_of(edges, options.destroy), edges, Use::perturb_destroyed, options);
    plan.created = distinct_numbers(to_create, free, Use::perturb_created, options);
  }
  return plan;
}

/// Makes the graph without what the plan destroys and with what it creates.
class Rebuild {
 public:
  Rebuild(const Graph& graph, const Plan& plan, const PerturbOptions& options)
      : graph_(graph), plan_(plan), options_(options) {}

  Graph graph() const {
    std::vector<EdgeBlock> blocks;
    std::mutex mutex;
    parallel_ranges(graph_.nodes(), options_.threads, [&](std::size_t begin, std::size_t end) {
      throw_if_stopped(options_.progress);
      EdgeBlock block;
      for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
        keep_edges(u, block);
        add_edges(u, block);
      }
      const std::lock_guard lock(mutex);
      blocks.push_back(std::move(block));
    });
    return build_graph(graph_.nodes(), std::move(blocks),
                       {.directed = graph_.directed(),
                        .keep_self_loops = true,
                        .threads = options_.threads,
                        .memory = options_.memory,
                        .progress = options_.progress});
  }

 private:
  void push(NodeId u, NodeId v, double weight, EdgeBlock& block) const {
    block.edges.push_back({u, v});
    if (graph_.weighted()) block.weights.push_back(weight);
  }

  void keep_edges(NodeId u, EdgeBlock& block) const {
    const Row row(graph_, u);
    if (const auto loop = row.index_of_loop()) push(u, u, weight_at(graph_, u, *loop), block);
    auto next =
        std::lower_bound(plan_.destroyed.begin(), plan_.destroyed.end(), plan_.edges.begin[u]);
    for (std::uint64_t i = 0; i < row.edges(); ++i) {
      if (next != plan_.destroyed.end() && *next == plan_.edges.begin[u] + i) {
        ++next;
        continue;
      }
      const std::size_t index = row.index_of_edge(i);
      push(u, graph_.neighbors(u)[index], weight_at(graph_, u, index), block);
    }
  }

  void add_edges(NodeId u, EdgeBlock& block) const {
    const Row row(graph_, u);
    auto next = std::lower_bound(plan_.created.begin(), plan_.created.end(), plan_.free.begin[u]);
    for (; next != plan_.created.end() && *next < plan_.free.begin[u + std::size_t{1}]; ++next) {
      const auto item = static_cast<std::uint64_t>(next - plan_.created.begin());
      push(u, row.free_column(*next - plan_.free.begin[u]), drawn_weight(item), block);
    }
  }

  double drawn_weight(std::uint64_t item) const {
    if (!graph_.weighted() || plan_.edges.total() == 0) return 1;
    const std::uint64_t number =
        random_for(options_.seed, Use::perturb_weights, item).below(plan_.edges.total());
    const NodeId u = plan_.edges.row_of(number);
    return weight_at(graph_, u, Row(graph_, u).index_of_edge(number - plan_.edges.begin[u]));
  }

  const Graph& graph_;
  const Plan& plan_;
  const PerturbOptions& options_;
};

}  // namespace

Perturbed perturb(const Graph& graph, const PerturbOptions& options) {
  check(options);
  const Plan plan = make_plan(graph, options);
  return {.graph = Rebuild(graph, plan, options).graph(),
          .created = plan.created.size(),
          .destroyed = plan.destroyed.size()};
}

}  // namespace ngf
