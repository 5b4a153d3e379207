#pragma once

#include <cstdint>

/// Numbers that choose how graphs are built and searched. Measured on two cores of an AMD EPYC
/// (Zen 4); `bench/load_bench` times the first.
namespace ngf::graph::costs {

/// Arcs of a bucket of rows that stay in the second cache of a core (1 MB), and buckets at most:
/// each is a stream of writes.
inline constexpr std::uint64_t arcs_in_caches = std::uint64_t{1} << 17;
inline constexpr std::uint64_t most_buckets = 512;

/// Searches from nodes that are as far as possible from all before them, before bounds decide.
inline constexpr int first_probes = 4;

}  // namespace ngf::graph::costs
