#pragma once

#include <cstddef>
#include <cstdint>

/// The inner loops of filters on hops, one byte a pair. Numbers by hop come in tables with an entry
/// for each byte: those of hops that do not count are 0, and so is that of "farther", 255.
namespace ngf::kernels {

inline constexpr std::size_t table_entries = 256;

/// Hops come in blocks of a cache line.
inline constexpr std::size_t block_hops = 64;

/// Where number i of a block lies among numbers that are laid out for it: as the hops do, seen as
/// words as wide as a Real, the lowest bytes of all words first.
template <typename Real>
constexpr std::size_t place_in_block(std::size_t i) {
  return i % sizeof(Real) * (block_hops / sizeof(Real)) + i / sizeof(Real);
}

/// w[v] = table[hops[v]] for v < count; table[k] is 0 for all k > last_hop.
template <typename Real>
void look_up(const std::uint8_t* hops, std::size_t count, const Real* table, std::size_t last_hop,
             Real* w);

/// w[v] *= right[hops[v]][first + v] for v < count, where hops[v] <= last_hop; null stands for
/// ones.
template <typename Real>
void weigh(const std::uint8_t* hops, std::size_t first, std::size_t count, const Real* const* right,
           std::size_t last_hop, Real* w);

/// The sum over `blocks` blocks of table[hops[v]] * x_v, with the x of a block laid out for it.
template <typename Real>
Real look_up_dot(const std::uint8_t* hops, std::size_t blocks, const Real* table,
                 std::size_t last_hop, const Real* x);

/// The sum of those x[v], v < count, whose hop is the one given.
template <typename Real>
Real sum_at_hop(const std::uint8_t* hops, std::size_t count, std::uint8_t hop, const Real* x);

/// Adds values[v], for v < count, to the bin of hops[v], for hops up to `last_hop`. A bin is a
/// line: the sum of its columns counts.
template <typename Real>
void add_by_hop(const std::uint8_t* hops, const Real* values, std::size_t count,
                std::size_t last_hop, Real* bins);

// ---- Blocks of rows ----
//
// The hops of 64 rows u to a node v are a block, as row v of the transposed matrix has them.

/// Whether this instruction set has what follows, for tables that end with `last_hop`.
bool has_block_products(std::size_t last_hop);

/// The most columns, or nodes v, of one call.
inline constexpr std::size_t most_block_columns = 6;
/// Entries of the tables of `multiply_block`, which are no longer than they must be.
inline constexpr std::size_t block_table_entries = 32;

/// Blocks of 64 rows where they lie, one a cache line.
struct Lines {
  const std::uint8_t* first = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;
};

/// So many rows `add_both` takes at once.
inline constexpr std::size_t rows_of_both = 4;

/// For rows of a symmetric matrix that begin `stride` apart with the block of the diagonal:
/// dots[r] += sum over all blocks of table[hops_r[v]] * x_v, and, for all blocks but the first,
/// sums_v += sum over the rows of table[hops_r[v]] * own[r]. x and sums are laid out for blocks.
void add_both(const std::uint8_t* hops, std::size_t stride, std::size_t blocks, const float* table,
              std::size_t last_hop, const float* x, const float* own, float* dots, float* sums);

/// With sums that are laid out for the block,
/// sums[c * 64 + u] += sum over v < count of table_v[hops[v * 64 + u]] * x[v * columns + c], for
/// c < columns. Table v begins `table_step` behind table v - 1: 0 where all nodes share one; no hop
/// is above `last_hop` but "farther". What is `ahead` is brought into the caches meanwhile.
void multiply_block(const std::uint8_t* hops, std::size_t count, const float* tables,
                    std::size_t table_step, std::size_t last_hop, const float* x,
                    std::size_t columns, float* sums, const Lines& ahead);

/// w[v * 64 + u] = table_v[hops[v * stride + u]], for v < count, with such tables.
void look_up_block(const std::uint8_t* hops, std::size_t stride, std::size_t count,
                   const float* tables, std::size_t table_step, float* w);

/// products[v * 64 + u] = sum over f < depth of g[f * 64 + u] * x[v * x_stride + f], for v <
/// columns; with `add`, that is added to what is there.
void multiply_turned(const float* g, const float* x, std::size_t x_stride, std::size_t depth,
                     std::size_t columns, bool add, float* products);

/// bins[k * 64 + u] += sum over those v < count with hops[v * stride + u] == k of products[v * 64 +
/// u], for k from 1 to last_hop.
void add_block_by_hop(const std::uint8_t* hops, std::size_t stride, const float* products,
                      std::size_t count, std::size_t last_hop, float* bins);

}  // namespace ngf::kernels
