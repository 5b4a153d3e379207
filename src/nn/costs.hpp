#pragma once

#include <cstddef>
#include <cstdint>

/// Numbers that choose the order of products, the width of batches and the form of filters in
/// networks. Measured on two cores of an AMD EPYC (Zen 4). `ngf bench costs` measures times of
/// operations again; widths follow the caches, and `bench/train_bench.py` and
/// `bench/denoise_bench.py` time what depends on them.
namespace ngf::nn::costs {

/// Time of a multiplication and addition in a product with lists, or with a shift whose rows are
/// read in no order, in those of a dense product.
inline constexpr double flop_of_lists = 2.5;
inline constexpr double flop_of_shifts = 8;
/// The same of a product with sparse features.
inline constexpr double flop_of_sparse = 6;

/// Columns that are best multiplied at once: by hops, which become numbers once for all of them,
/// and by lists, while a panel of this number of bytes fits into the second cache of a core.
inline constexpr std::size_t columns_of_hops = 4096;
inline constexpr std::size_t columns_of_lists = 64;
/// By sparse features, while a panel of weights stays in the caches, by dense weights, which want
/// no more for full speed, and of H X, which is computed once.
inline constexpr std::size_t columns_of_sparse = 128;
inline constexpr std::size_t columns_of_dense = 512;
inline constexpr std::int64_t columns_of_hx = 512;
inline constexpr std::size_t panel_bytes = std::size_t{1} << 20;

/// Decoders: nodes up to which panels stay in the second cache, and a folded matrix takes 256 MB;
/// how many times the filter's time a folded matrix may take, since it saves passes over memory;
/// entries of a dense matrix in the time of one of a sparse matrix, or of the tap of a node.
inline constexpr std::size_t decoder_panel_nodes = 512;
inline constexpr std::size_t decoder_folded_nodes = 8192;
inline constexpr double decoder_folded = 2;
inline constexpr double decoder_sparse_entry = 1.5;

}  // namespace ngf::nn::costs
