#pragma once

#include "kernels/hops.hpp"

/// Products on blocks of hops: those of 64 rows u to a node v, as row v of the transposed matrix
/// has them. They need an instruction set whose registers hold a table of weights.
namespace ngf::kernels {

/// The most columns, or nodes v, of one call.
inline constexpr std::size_t most_block_columns = 6;
/// Entries of the tables of `multiply_block`, which are no longer than they must be.
inline constexpr std::size_t block_table_entries = 32;

/// Blocks of 64 rows where they lie, one per cache line.
struct Lines {
  const std::uint8_t* first = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
};

/// The number of rows that `add_both` takes at once.
inline constexpr std::size_t rows_of_both = 4;

struct HopBlockKernels {
  /// Entries of a table in registers, of which "farther" takes one.
  std::size_t table_entries;
  /// For rows of a symmetric matrix that begin `stride` apart with the block of the diagonal:
  /// dots[r] += sum over all blocks of table[hops_r[v]] * x_v, and, for all blocks but the first,
  /// sums_v += sum over the rows of table[hops_r[v]] * own[r]. x and sums are laid out for blocks.
  void (*add_both)(const std::uint8_t* hops, std::size_t stride, std::size_t blocks,
                   const float* table, std::size_t last_hop, const float* x, const float* own,
                   float* dots, float* sums);
  /// With sums that are laid out for the block,
  /// sums[c * 64 + u] += sum over v < count of table_v[hops[v * 64 + u]] * x[v * columns + c], for
  /// c < columns. Table v begins `table_step` behind table v - 1: 0 where all nodes share one; no
  /// hop is above `last_hop` but "farther". What is `ahead` is brought into the caches meanwhile.
  void (*multiply_block)(const std::uint8_t* hops, std::size_t count, const float* tables,
                         std::size_t table_step, std::size_t last_hop, const float* x,
                         std::size_t columns, float* sums, const Lines& ahead);
  /// products[v * 64 + u] = sum over f < depth of g[f * 64 + u] * x[v * x_stride + f], for v <
  /// columns; with `add`, that is added to the current products.
  void (*multiply_transposed)(const float* g, const float* x, std::size_t x_stride,
                              std::size_t depth, std::size_t columns, bool add, float* products);
  /// w[v * 64 + u] = table_v[hops[v * stride + u]], for v < count, with such tables.
  void (*look_up_block)(const std::uint8_t* hops, std::size_t stride, std::size_t count,
                        const float* tables, std::size_t table_step, float* w);
  /// bins[k * 64 + u] += sum over those v < count with hops[v * stride + u] == k of
  /// products[v * 64 + u], for k from 1 to last_hop.
  void (*add_block_by_hop)(const std::uint8_t* hops, std::size_t stride, const float* products,
                           std::size_t count, std::size_t last_hop, float* bins);
};

/// Those of the instruction set in use; null where it has none.
const HopBlockKernels* hop_block_kernels();

}  // namespace ngf::kernels
