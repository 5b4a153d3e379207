#pragma once

#include <cstddef>
#include <cstdint>

/// The inner loops of filters. Signals are row-major; `width` is how many columns are taken, a
/// multiple of `lanes_of<Real>` unless it is 1, and `stride` how far rows are apart.
namespace ngf::kernels {

/// Columns are padded to a multiple of so many: a cache line.
template <typename Real>
inline constexpr std::size_t lanes_of = 64 / sizeof(Real);

/// sum[f] = sum over i < count of weight[columns[i]] * x[columns[i] * stride + f], for all
/// f < width. A null `weight` stands for ones.
template <typename Column, typename Real>
void sum_rows(const Column* columns, std::size_t count, const Real* weight, const Real* x,
              std::size_t stride, std::size_t width, Real* sum);

/// Rows of a matrix that are multiplied at a time by `multiply_rows`.
inline constexpr std::size_t rows_together = 8;

/// to[r * to_stride + f] += sum over v < count of w[r * w_stride + v] * x[v * stride + f], for
/// r < rows <= rows_together.
template <typename Real>
void multiply_rows(const Real* w, std::size_t w_stride, std::size_t rows, const Real* x,
                   std::size_t stride, std::size_t count, std::size_t width, Real* to,
                   std::size_t to_stride);

/// w[v] = table[hops[v]] for v < count. `table` has an entry for each hop up to `last_hop`; greater
/// hops become 0.
template <typename Real>
void look_up(const std::uint8_t* hops, std::size_t count, const Real* table, std::size_t last_hop,
             Real* w);

}  // namespace ngf::kernels
