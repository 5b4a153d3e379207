#pragma once

#include <atomic>

#include "ngf/shells.hpp"

namespace ngf::shells {

inline constexpr std::uint32_t most_hops_in_a_byte = 254;
inline constexpr std::uint32_t most_hops_in_two = 65534;

/// Plans made, and passes over all pairs, in this process: tests count them.
inline std::atomic<std::uint64_t> plans_made{0};
inline std::atomic<std::uint64_t> pair_scans{0};

/// Throws Error for options that mean nothing.
void check(const ShellOptions& options);

/// Sizes from so few searches that they cost little beside the work that they help to plan. For one
/// hop, and for all, they are counted in the graph.
ShellEstimate estimate_quickly(const Graph& graph, const ShellOptions& options);

/// As `plan_shells`. Where both fit, automatic storage is dense if more than this share of all
/// pairs is in a shell. Where lists were to be held that the estimate finds near the budget, their
/// pairs are counted before.
ShellPlan plan_from(const Graph& graph, ShellOptions options, ShellEstimate estimate,
                    double dense_above, Progress* progress = nullptr);

/// Whether a plan for these options needs an estimate.
bool needs_estimate(const ShellOptions& options);

/// What a walk takes beside the shells: the graph and its copy, and each thread's lines.
std::uint64_t working_bytes(const Graph& graph, const ShellOptions& options, std::uint32_t hops,
                            bool keep_hops, bool whole_rows);

}  // namespace ngf::shells
