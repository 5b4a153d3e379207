#pragma once

#include <cstddef>
#include <cstdint>

namespace ngf::kernels {

/// to[f] = sum over i < count of values[i] * b[rows[i] * stride + f], for f < width; added to what
/// is there with `add`. Each f is summed in the order of i, whatever the width.
template <typename Real>
void sum_rows(const std::uint32_t* rows, const Real* values, std::size_t count, const Real* b,
              std::size_t stride, std::size_t width, bool add, Real* to);

}  // namespace ngf::kernels
