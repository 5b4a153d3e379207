#pragma once

#include <cstddef>

/// Numbers that choose the order of products and the width of batches in networks. Measured on two
/// cores of an AMD EPYC (Zen 4).
namespace ngf::nn::costs {

/// Time of a multiplication and addition in a product with lists, or with a shift whose rows are
/// read in no order, in those of a dense product.
inline constexpr double flop_of_lists = 2.5;
inline constexpr double flop_of_shifts = 8;

/// Columns that are best multiplied at once: by hops, which become numbers once for all of them,
/// and by lists, while a panel of this number of bytes fits into the second cache of a core.
inline constexpr std::size_t columns_of_hops = 4096;
inline constexpr std::size_t columns_of_lists = 64;
inline constexpr std::size_t panel_bytes = std::size_t{1} << 20;

}  // namespace ngf::nn::costs
