#pragma once

#include <memory>

#include "base/parallel.hpp"
#include "kernels/bit_walk.hpp"
#include "shells/bit_walk.hpp"

/// Bit-parallel walks from all sources, by all threads.
namespace ngf::shells {

/// A worker of its own for each thread of a loop, made when the thread first asks.
template <typename Worker>
class PerThread {
 public:
  explicit PerThread(int threads) : workers_(static_cast<std::size_t>(thread_count(threads))) {}

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
inline Reduction reduction_for(const ShellOptions& options) {
  return {.trees = true, .twins = options.min_paths == 1};
}

/// As few groups of sources as there can be, but one for each thread: a walk takes hardly less time
/// from fewer sources.
inline std::size_t group_width(std::size_t sources, int threads) {
  const auto workers = static_cast<std::size_t>(thread_count(threads));
  return std::clamp<std::size_t>((sources + workers - 1) / workers, 64, kernels::batch_width);
}

/// The groups of sources that the rows need.
inline std::vector<std::vector<NodeId>> groups_for(const Walkable& graph,
                                                   const ShellOptions& options) {
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

inline BitWalk::Options walk_options(const ShellOptions& options, bool keep_hops) {
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
                                    const ShellOptions& options, Progress* progress,
                                    const Done& done) {
  const Columns columns(graph);
  PerThread<BitWalk> walks(options.threads);
  std::vector<std::uint64_t> pairs;
  std::mutex mutex;
  std::atomic<std::uint64_t> finished{0};
  parallel_for(groups.size(), options.threads, [&](std::size_t group, std::size_t thread) {
    throw_if_stopped(progress);
    BitWalk& walk = walks.get(thread, [&] {
      return std::make_unique<BitWalk>(graph, columns, walk_options(options, keep_hops));
    });
    std::vector<std::uint64_t> of_group;
    walk.walk(groups[group], of_group);
    done(group, walk);
    const std::lock_guard lock(mutex);
    pairs.resize(std::max(pairs.size(), of_group.size()), 0);
    for (std::size_t k = 0; k < of_group.size(); ++k) pairs[k] += of_group[k];
    if (progress != nullptr) progress->report(++finished, groups.size());
  });
  return pairs;
}

}  // namespace ngf::shells
