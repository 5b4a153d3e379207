#pragma once

#include "filter/shell_products.hpp"
#include "shells/twins.hpp"

/// The products of `shell_products.hpp` where the shells are those of the graph of classes of
/// twins. X has all nodes, Y and G the nodes of the classes whose rows are here; factors are of all
/// nodes, and the same within a class.
namespace ngf::filter {

template <typename Real>
void multiply_merged(const ShellSource& source, ProductForm form, const Twins& twins,
                     const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                     SignalsSlice<Real>& y);

/// A row for each class: what `correlate` has in the rows of its nodes, added up.
template <typename Real>
Matrix correlate_merged(const ShellSource& source, ProductForm form, const Twins& twins,
                        const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                        const SignalsView<Real>& g, const AlsoProduct<Real>& product, bool totals);

}  // namespace ngf::filter
