#pragma once

#include <cstddef>

namespace ngf::kernels {

/// Numbers in a cache line.
template <typename Real>
inline constexpr std::size_t columns_in_line = 64 / sizeof(Real);

}  // namespace ngf::kernels
