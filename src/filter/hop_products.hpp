#pragma once

#include "filter/shell_products.hpp"

namespace ngf::filter {

/// `multiply` on the hops of all pairs. `turned` has those of the transposed graph, where they are
/// at hand.
template <typename Hop, typename Real>
void multiply_hops(const HopMatrix<Hop>& matrix, const HopMatrix<Hop>* turned,
                   const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                   SignalsSlice<Real>& y, int threads);

/// `correlate`, without a product. With `half`, for hops that are the same both ways and factors
/// that are the same for all nodes, only the sums of columns count.
template <typename Hop, typename Real>
Matrix correlate_hops(const HopMatrix<Hop>& matrix, const HopMatrix<Hop>* turned,
                      const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                      const SignalsView<Real>& g, bool half, int threads);

}  // namespace ngf::filter
