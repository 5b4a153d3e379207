#pragma once

#include "filter/shell_products.hpp"

/// Products of shells as hops of all pairs, one byte or two for each: those of
/// ProductForm::hop_sum, hop_lookup, hop_half, hop_blocks and hop_tiles.
namespace ngf::filter {

/// Signals of one column.
template <typename Real>
void multiply_hop_sum(const ShellSource& source, const ShellFactors<Real>& factors,
                      const SignalsView<Real>& x, SignalsSlice<Real>& y);
template <typename Real>
void multiply_hop_lookup(const ShellSource& source, const ShellFactors<Real>& factors,
                         const SignalsView<Real>& x, SignalsSlice<Real>& y);
void multiply_hop_half(const ShellSource& source, const ShellFactors<float>& factors,
                       const SignalsView<float>& x, SignalsSlice<float>& y);

/// Any number of columns.
void multiply_hop_blocks(const ShellSource& source, const ShellFactors<float>& factors,
                         const SignalsView<float>& x, SignalsSlice<float>& y);
template <typename Real>
void multiply_hop_tiles(const ShellSource& source, const ShellFactors<Real>& factors,
                        const SignalsView<Real>& x, SignalsSlice<Real>& y);

/// `correlate`, without a product, by hop_blocks or hop_tiles. With `half`, for hops that are the
/// same both ways and factors that are the same for all nodes, only the sums of columns count.
template <typename Real>
Matrix correlate_hops(const ShellSource& source, ProductForm form,
                      const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                      const SignalsView<Real>& g, bool half);
Matrix correlate_hop_blocks(const ShellSource& source, const ShellFactors<float>& factors,
                            const SignalsView<float>& x, const SignalsView<float>& g, bool half);

}  // namespace ngf::filter
