#pragma once

#include "filter/shell_products.hpp"

/// Products on blocks of 64 rows, where `kernels::has_block_products`. `turned` has the hops of the
/// transposed graph: what its row v has of 64 columns is how far those nodes are from v.
namespace ngf::filter {

/// Y = sum over k of the shells, with factors that are the same for all rows, times X.
void multiply_blocks(const HopMatrix<std::uint8_t>& turned, const ShellFactors<float>& factors,
                     const SignalsView<float>& x, SignalsSlice<float>& y, int threads);

/// As `correlate_hops`.
Matrix correlate_blocks(const HopMatrix<std::uint8_t>& turned, const ShellFactors<float>& factors,
                        const SignalsView<float>& x, const SignalsView<float>& g, bool half,
                        int threads);

}  // namespace ngf::filter
