#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers that choose how many runs or signals are at work together, and how. Measured on two
/// cores of an AMD EPYC (Zen 4). `ngf bench costs` measures `sparse_share` and `eigenvector_nodes`
/// again. Sizes of batches follow the caches and take minutes to measure: `bench/train_bench.py`
/// and `bench/denoise_bench.py` time what depends on them.
namespace ngf::tasks::costs {

/// Runs of a batch: wider ones are no faster once what they write, in bytes, fills the caches.
inline constexpr std::uint64_t batch_runs = 25;
inline constexpr std::uint64_t batch_bytes = std::uint64_t{24} << 20;

/// Share of entries that are not 0, up to which products take less time with these alone.
inline constexpr double sparse_share = 0.1;

/// Signals of a batch where each core has its own: those whose bytes fit into its second cache.
inline constexpr std::uint64_t signal_batch_bytes = std::uint64_t{1} << 20;

/// Threads take a decoder each, instead of one together, from this share of them on.
inline constexpr std::size_t threads_per_decoder = 2;

/// Nodes of which eigenvectors take a second.
inline constexpr std::int64_t eigenvector_nodes = 512;

}  // namespace ngf::tasks::costs
