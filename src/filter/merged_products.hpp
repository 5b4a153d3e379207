#pragma once

#include "filter/shell_products.hpp"
#include "filter/twins.hpp"

/// The products of `shell_products.hpp` where `shells` are those of the graph of classes of twins.
/// Signals and factors are of all nodes; factors are the same within a class.

namespace ngf::filter {

template <typename Real>
void multiply_merged(const ShellSource& shells, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real> y);

/// A row for each class: what `correlate` has in the rows of its nodes, added up.
template <typename Real>
Matrix correlate_merged(const ShellSource& shells, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                        SignalsSlice<Real>* product, bool totals);

}  // namespace ngf::filter
