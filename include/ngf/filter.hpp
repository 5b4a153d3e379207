#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/shells.hpp"
#include "ngf/spectrum.hpp"

/// Graph filters: y = sum over k of h_k A_k x on shells (neighbourhood filters), and
/// y = sum over k of h_k S^k x on powers of a shift (classical, polynomial filters).
///
/// Signals X are N x F, one row per node, float or double. Results do not depend on the number of
/// threads. A filter on a range of rows takes the signals of all nodes, and returns the rows of its
/// range.

namespace ngf {

namespace filter {
template <typename Real>
struct ShellFactors;
struct Layouts;
struct ShellScales;
struct ShellSource;
}  // namespace filter

/// The numbers h_k of a filter, k = 0..count-1: one set for all nodes, or one set for each group of
/// nodes ("node-variant").
class Taps {
 public:
  Taps() = default;
  /// One set for all nodes.
  Taps(std::vector<double> values)  // NOLINT(google-explicit-constructor): a list of taps is taps
      : count_(values.size()), values_(std::move(values)) {}
  Taps(std::initializer_list<double> values) : Taps(std::vector<double>(values)) {}
  /// values[g * count + k] is h_k of the nodes u with group[u] == g.
  Taps(std::size_t count, std::vector<double> values, std::vector<std::uint32_t> group);

  std::size_t count() const { return count_; }
  std::size_t groups() const { return count_ == 0 ? 0 : values_.size() / count_; }
  bool node_variant() const { return !group_.empty(); }
  std::size_t group(NodeId u) const { return group_.empty() ? 0 : group_[u]; }
  double operator()(NodeId u, std::size_t k) const { return values_[group(u) * count_ + k]; }
  const std::vector<double>& values() const { return values_; }
  /// Group of each node; empty when there is one set for all.
  const std::vector<std::uint32_t>& group_of() const { return group_; }

 private:
  std::size_t count_ = 0;
  std::vector<double> values_;
  std::vector<std::uint32_t> group_;
};

/// Gradients of a loss by the input and the taps of a filter, given its gradient by the output.
template <typename Real>
struct FilterGradients {
  SignalsOf<Real> input;     ///< by X
  std::vector<double> taps;  ///< by the taps, laid out as Taps::values()
};

/// Normalisation of each shell.
enum class Normalization {
  none,
  lmax,       ///< 1 / its largest eigenvalue; singular value when directed
  symmetric,  ///< D^-1/2 A_k D^-1/2 with D the numbers of nodes in the shell
  row,        ///< D^-1 A_k: the mean over the shell
};

/// Whether to merge twins: nodes of an undirected graph with equal neighbours (apart from each
/// other), and therefore equal distances to all other nodes. Results are equal up to rounding.
enum class Merging {
  automatic,  ///< where that saves time
  never,
  always,  ///< where there are any
};

/// How a product of shells with signals is computed; results are equal up to rounding. Each form
/// belongs to one storage; docs/filters.md describes them.
enum class ProductForm {
  automatic,
  short_lists,     ///< lists of few columns per row, on signals where they lie
  paired_lists,    ///< long lists of two rows that lie close to each other, merged
  lists,           ///< lists row by row
  streamed_lists,  ///< rows that are found again for each product
  hop_sum,         ///< hops; one column, one shell: the signals at that hop are summed
  hop_lookup,      ///< hops; one column: each hop becomes a weight in a register
  hop_half,        ///< the same, each hop looked up once for both of its nodes
  hop_blocks,      ///< hops, the weights of 64 rows at a time
  hop_tiles,       ///< hops, tiles of weights times panels of signals
};

struct FilterOptions {
  Normalization normalization = Normalization::none;
  ShellOptions shells;  ///< `hops` and `transposed` are set by the plan
  /// Shells of pairs that several paths must join are never merged.
  Merging merging = Merging::automatic;
  /// Throws Error if the shells, signals or machine do not allow the form.
  ProductForm form = ProductForm::automatic;
  /// Number of columns of the signals (0: unknown), and whether they are double: the fastest
  /// storage and form depend on it.
  std::int64_t width = 0;
  bool in_double = false;
};

/// The plan of a filter, before it is built.
struct FilterPlan {
  ShellPlan shells;  ///< with the classes of twins, where these are merged
  Normalization normalization = Normalization::none;
  ProductForm form = ProductForm::automatic;  ///< of products with `width` columns
  bool forced = false;                        ///< whether the form was asked for
  std::int64_t width = 0;                     ///< that the plan is for
  double flops = 0;                           ///< of one product, about
  std::uint64_t weight_bytes = 0;             ///< of pair weights, where the plan has any
};

/// Chooses storage, engine, merging and form together. Fast; see `plan_shells`.
FilterPlan plan_filter(const Graph& graph, const Taps& taps, const FilterOptions& options = {},
                       Progress* progress = nullptr);

/// y = sum over k of h_k A_k x, with A_k the shell of k hops.
///
/// Products throw Interrupted if `progress` requests a stop while rows are streamed; their outputs
/// are then undefined.
class NeighborhoodFilter {
 public:
  /// Throws Error for taps that do not match the shells: more hops than shells, or different taps
  /// for merged twins.
  NeighborhoodFilter(Shells shells, Taps taps, Normalization normalization = Normalization::none,
                     ProductForm form = ProductForm::automatic, Progress* progress = nullptr);
  /// The same with given scales of the shells.
  NeighborhoodFilter(Shells shells, Taps taps, std::shared_ptr<const filter::ShellScales> scales,
                     ProductForm form);
  /// On shells built by the plan.
  NeighborhoodFilter(Shells shells, Taps taps, const FilterPlan& plan,
                     Progress* progress = nullptr);
  /// Plans, builds the shells and the filter.
  NeighborhoodFilter(const Graph& graph, Taps taps, const FilterOptions& options = {},
                     Progress* progress = nullptr);

  NodeId nodes() const { return shells_.graph_nodes(); }
  /// The nodes of this filter's rows.
  RowRange rows() const { return shells_.graph_rows(); }
  const Taps& taps() const { return taps_; }
  /// The same shells with other taps. Throws Error if merged twins would differ.
  void set_taps(Taps taps);
  /// Of the graph, or where twins are merged, of one node of each class of them.
  const Shells& shells() const { return shells_; }
  /// The form of a product with signals of this width.
  template <typename Real>
  ProductForm form(std::int64_t width) const;
  /// Multiplications and additions of one `apply` on signals of this width.
  double flops(std::int64_t width) const;
  /// The largest eigenvalue of A_k, before it is normalised; the largest singular value when the
  /// graph is directed.
  LargestValue largest_value(std::size_t k, Progress* progress = nullptr) const;

  /// H X.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  /// H' X, with the transpose H'.
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  /// The same into existing columns, which are no part of x.
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                Progress* progress = nullptr) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress = nullptr) const;
  /// A_k X, normalised; or A_k' X.
  template <typename Real>
  SignalsOf<Real> apply_shell(std::size_t k, const SignalsOf<Real>& x, bool transposed = false,
                              Progress* progress = nullptr) const;
  /// Number of nodes at hop k (column) of node u (row), or of the transposed graph.
  Matrix shell_degrees(bool transposed = false, Progress* progress = nullptr) const;
  /// Gradients by X and by the taps, from X and the gradient by the output.
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output,
                                  Progress* progress = nullptr) const;
  /// The same, the gradient by X into existing columns. Returns the one by the taps: where some
  /// rows alone are here, their part of the sum. Then X may have those rows alone, unless taps
  /// differ by node.
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input, Progress* progress = nullptr) const;

 private:
  std::size_t shell_count() const;
  template <typename Real>
  filter::ShellFactors<Real> factors_without_taps(bool transposed) const;
  template <typename Real>
  filter::ShellFactors<Real> factors(bool transposed) const;
  filter::ShellSource source(bool transposed, Progress* progress) const;
  void check_taps(const Taps& taps) const;
  void check_shell(std::size_t k) const;

  Shells shells_;
  Taps taps_;
  ProductForm form_;
  std::shared_ptr<const filter::Layouts> layouts_;
  std::shared_ptr<const filter::ShellScales> scales_;
};

/// The graph shift operator S of a polynomial filter. All but the first two require an undirected
/// graph.
enum class Shift {
  adjacency,             ///< the weights
  adjacency_lmax,        ///< divided by the largest eigenvalue (singular value when directed)
  laplacian,             ///< D - A
  normalized_laplacian,  ///< I - D^-1/2 A D^-1/2
  gcn,                   ///< (D + I)^-1/2 (A + I) (D + I)^-1/2
};

std::string_view shift_name(Shift shift);
std::string_view normalization_name(Normalization normalization);
std::string_view merging_name(Merging merging);
std::string_view form_name(ProductForm form);

/// A matrix with values, as compressed rows.
template <typename Real>
struct ValuedRows {
  std::span<const std::uint64_t> offsets;
  std::span<const NodeId> columns;
  std::span<const Real> values;
};

/// A graph's matrix with values: what a polynomial filter multiplies by.
class ShiftOperator {
 public:
  /// Throws Error for a shift that requires an undirected graph. Keeps only the given rows, if any.
  ShiftOperator(const Graph& graph, Shift shift, int threads = 0, const RowRange& rows = {},
                Progress* progress = nullptr);

  NodeId nodes() const { return nodes_; }
  /// Those that are here.
  const RowRange& rows() const { return range_; }
  std::uint64_t entries() const { return forward_.columns.size(); }
  std::uint64_t bytes() const;
  /// Of S, or of S'.
  template <typename Real>
  ValuedRows<Real> values(bool transposed) const;
  /// S X. X has all nodes, the result the rows that are here.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x) const;
  /// S' X.
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x) const;
  /// y += S x, or y += S' x. Nothing is checked.
  template <typename Real>
  void add_to(bool transposed, const SignalsView<Real>& x, SignalsSlice<Real> y,
              Progress* progress = nullptr) const;
  int threads() const { return threads_; }

 private:
  struct Rows {
    std::vector<std::uint64_t> offsets;
    std::vector<NodeId> columns;
    std::vector<double> values;
    std::vector<float> singles;  // the same in float
  };

  void divide_by_largest(bool negative, Progress* progress);
  static void keep(const RowRange& range, Rows& rows);

  NodeId nodes_ = 0;
  RowRange range_;
  int threads_ = 0;
  bool symmetric_ = true;
  Rows forward_;
  Rows back_;  // the transpose, where it is another
};

/// y = sum over k of h_k S^k x.
///
/// Products throw Interrupted where `progress` asks to stop; their outputs are then undefined.
class PolynomialFilter {
 public:
  PolynomialFilter(const Graph& graph, Taps taps, Shift shift = Shift::adjacency, int threads = 0,
                   Progress* progress = nullptr);

  NodeId nodes() const { return shift_->nodes(); }
  RowRange rows() const { return shift_->rows(); }
  const Taps& taps() const { return taps_; }
  void set_taps(Taps taps);
  const ShiftOperator& shift() const { return *shift_; }
  double flops(std::int64_t width) const;

  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                Progress* progress = nullptr) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress = nullptr) const;
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output,
                                  Progress* progress = nullptr) const;
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input, Progress* progress = nullptr) const;

 private:
  Taps taps_;
  std::shared_ptr<const ShiftOperator> shift_;
};

/// Least-squares estimate of taps, with standard errors and residual.
struct FittedTaps {
  std::vector<double> taps;
  std::vector<double> standard_errors;  ///< of the taps; infinite where the data do not tell
  double residual = 0;                  ///< |Y - H X|^2 / |Y|^2
};

/// Fits them to the signals B_0, B_1, ... that the taps are multiplied with: B_k = A_k X, or S^k X.
FittedTaps fit_basis(const std::vector<Matrix>& basis, const Matrix& y);
/// Fits the taps of a filter, 0..count-1, whose own taps do not matter.
FittedTaps fit_taps(const NeighborhoodFilter& filter, const Matrix& x, const Matrix& y);
FittedTaps fit_taps(const PolynomialFilter& filter, const Matrix& x, const Matrix& y);

}  // namespace ngf
