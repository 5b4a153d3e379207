#pragma once

#include "filter/shell_products.hpp"
#include "filter/twins.hpp"

/// The products of `shell_products.hpp` where nodes are dealt to a team. Signals and results have
/// the rows of this rank's nodes; factors are of all nodes. Columns of signals are gathered some at
/// a time, while those before them are multiplied.
namespace ngf::filter {

/// Whose the rows of signals and of shells are.
struct DealtShells {
  RowRange nodes;           ///< of this rank
  const Partition& shells;  ///< of the rows of the shells: nodes, or classes of twins
  const Twins* twins;       ///< null where they are not merged
};

template <typename Real>
void multiply_dealt(const ShellSource& shells, const DealtShells& dealt,
                    const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                    SignalsSlice<Real> y);

/// As `correlate`, or `correlate_merged`, for this rank's rows of the shells.
template <typename Real>
Matrix correlate_dealt(const ShellSource& shells, const DealtShells& dealt,
                       const ShellFactors<Real>& factors, const SignalsView<Real>& x,
                       const SignalsView<Real>& g, const ShellFactors<Real>* of_product,
                       SignalsSlice<Real>* product);

}  // namespace ngf::filter
