#pragma once

#include "filter/forms.hpp"
#include "filter/list_layout.hpp"
#include "filter/shell_factors.hpp"
#include "shells/twins.hpp"

/// Products of shells with signals, one function per ProductForm.
namespace ngf::filter {

struct PairStream;
struct PairValues;

/// The shells of a product, and how they are read.
struct ShellSource {
  const Shells& shells;
  const Shells* transposed;  ///< the same when undirected; null where they were not found
  const ListLayout& layout;
  Progress* progress = nullptr;
  /// Where given, values of the pairs: shells that are lists, of all rows, in the forms short_lists
  /// and lists.
  const PairValues* values = nullptr;
  /// Where given, how values of streamed rows are found.
  const PairStream* stream = nullptr;

  int threads() const { return shells.plan().options.threads; }
};

/// What the form of a product with this number of columns depends on.
template <typename Real>
ProductShape shape_of(const ShellSource& source, const ShellFactors<Real>& factors,
                      std::int64_t columns);

/// Y = sum over k of the shells, with their factors, times X, in the form asked for, or the
/// fastest. X has all rows, Y those of the shells that are here; factors are of all nodes.
template <typename Real>
void multiply(const ShellSource& source, ProductForm form, const ShellFactors<Real>& factors,
              const SignalsView<Real>& x, SignalsSlice<Real>& y);

/// What `correlate` computes beside the dots: the product of the shells with these factors, which
/// differ from the others at most in `scale` and `left`.
template <typename Real>
struct AlsoProduct {
  const ShellFactors<Real>* factors = nullptr;
  SignalsSlice<Real>* to = nullptr;
};

/// For each node u and shell k with its factors, <g_u, (shell X)_u>: row u, column k. G and the
/// result have the rows of the shells that are here. With `totals`, only the sums of columns count.
template <typename Real>
Matrix correlate(const ShellSource& source, ProductForm form, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, const SignalsView<Real>& g,
                 const AlsoProduct<Real>& product, bool totals);

/// The same where the shells are those of the graph of classes of twins. X has all nodes, Y and G
/// the nodes of the classes whose rows are here; factors are of all nodes, and the same within a
/// class.
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
