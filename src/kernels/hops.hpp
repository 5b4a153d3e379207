#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "kernels/line.hpp"

/// The inner loops of filters on hops, one byte per pair. Numbers by hop come in tables with an
/// entry for each byte: those of hops that do not count are 0, and so is that of "farther", 255.
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

/// Rows of a tile of weights are this far apart.
inline constexpr std::size_t tile_columns = 256;

/// Panels of signals for products of tiles have 1 or 2 lines, or 0 for a single column.
inline constexpr std::size_t most_product_lines = 2;

template <typename Real>
struct HopKernels {
  /// w[v] = table[hops[v]] for v < count; table[k] is 0 for all k > last_hop.
  void (*look_up)(const std::uint8_t* hops, std::size_t count, const Real* table,
                  std::size_t last_hop, Real* w);
  /// w[v] *= right[hops[v]][first + v] for v < count, where hops[v] <= last_hop; null stands for
  /// ones.
  void (*weigh)(const std::uint8_t* hops, std::size_t first, std::size_t count,
                const Real* const* right, std::size_t last_hop, Real* w);
  /// The sum over `blocks` blocks of table[hops[v]] * x_v, with the x of a block laid out for it.
  Real (*look_up_dot)(const std::uint8_t* hops, std::size_t blocks, const Real* table,
                      std::size_t last_hop, const Real* x);
  /// The sum of those x[v], v < count, whose hop is the given one.
  Real (*sum_at_hop)(const std::uint8_t* hops, std::size_t count, std::uint8_t hop, const Real* x);
  /// Adds values[v], for v < count, to the bin of hops[v], for hops up to `last_hop`. A bin is a
  /// line: the sum of its columns counts.
  void (*add_by_hop)(const std::uint8_t* hops, const Real* values, std::size_t count,
                     std::size_t last_hop, Real* bins);
  /// to[r * to_stride + f] += sum over v < count of w[r * tile_columns + v] * x_v[f], for all
  /// r < rows, with x a panel of `lines` lines.
  void (*multiply_rows)(const Real* w, std::size_t rows, const Real* x, std::size_t count,
                        std::size_t lines, Real* to, std::size_t to_stride);
};

using AllHopKernels = std::tuple<HopKernels<float>, HopKernels<double>>;
/// The kernels of the instruction set in use.
const AllHopKernels& all_hop_kernels();

template <typename Real>
const HopKernels<Real>& hop_kernels() {
  return std::get<HopKernels<Real>>(all_hop_kernels());
}

}  // namespace ngf::kernels
