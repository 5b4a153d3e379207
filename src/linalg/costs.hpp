#pragma once

#include <cstddef>

/// Numbers that choose how dense products are cut. Measured on two cores of an AMD EPYC (Zen 4);
/// `bench/product_bench` times what depends on them.
namespace ngf::linalg::costs {

/// Multiplications and additions that are done before another thread is awake.
inline constexpr double work_per_thread = 5e5;
/// Rows and columns of a part, at least: what registers hold, four times or twice.
inline constexpr std::size_t least_rows = 28;
inline constexpr std::size_t least_columns = 64;

/// The inner dimension is cut into parts where the product has no more entries than the first
/// number: parts of at least the second, and at most the third of them. They are added up in order,
/// so the order of sums, and every bit of the result, depends on these.
inline constexpr std::size_t small_product = 4096;
inline constexpr std::size_t shortest_part = 2048;
inline constexpr std::size_t most_parts = 8;

}  // namespace ngf::linalg::costs
