#pragma once

#include <cstdint>

/// Numbers that choose how work is divided among ranks. Measured with two ranks on two cores of an
/// AMD EPYC (Zen 4); `bench/scaling_bench.py` times what depends on them.
namespace ngf::sharding::costs {

/// Columns that are gathered while the same number is multiplied: a panel of lists, or more.
inline constexpr std::int64_t columns_gathered = 128;

/// The work of a row with no columns, in pairs.
inline constexpr double pairs_of_row = 16;

/// Up to this number of hops, what a node reaches is estimated by the ends of its walks; beyond,
/// by its component.
inline constexpr std::uint32_t hops_by_walks = 6;

/// Nodes that walk together stay on one rank unless its share grows by more than this part.
inline constexpr double slack = 0.05;

}  // namespace ngf::sharding::costs
