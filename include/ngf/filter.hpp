#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/partition.hpp"
#include "ngf/shells.hpp"
#include "ngf/spectrum.hpp"

/// Graph filters: y = sum over k of h_k A_k x on shells (neighbourhood filters), and
/// y = sum over k of h_k S^k x on powers of a shift (classical, polynomial filters).
///
/// Signals X are N x F, one row a node, float or double. The answer does not depend on the number
/// of threads. Where nodes are dealt to a team of processes, each has the rows of its own nodes, of
/// signals and of results, and all of them filter at the same time.

namespace ngf {

namespace filter {
struct ListLayout;
struct Twins;
}  // namespace filter

/// The signals of all nodes from those of each rank's own.
template <typename Real>
SignalsOf<Real> gathered(const Partition& partition, const SignalsView<Real>& own);

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

/// What training needs of a filter, for a loss whose gradient by the output is given.
template <typename Real>
struct FilterGradients {
  SignalsOf<Real> input;     ///< by X
  std::vector<double> taps;  ///< by the taps, laid out as Taps::values()
};

/// What each shell is multiplied by before the taps.
enum class Normalization {
  none,
  lmax,       ///< 1 / its largest eigenvalue; singular value when directed
  symmetric,  ///< D^-1/2 A_k D^-1/2 with D the numbers of nodes in the shell
  row,        ///< D^-1 A_k: the mean over the shell
};

/// Whether twins, nodes of an undirected graph with the same neighbours apart from each other,
/// share their part of the shells: they are as far from everybody else. Results are the same but
/// for rounding.
enum class Merging {
  automatic,  ///< where that saves time
  never,
  always,  ///< where there are any
};

struct FilterOptions {
  Normalization normalization = Normalization::none;
  ShellOptions shells;  ///< `hops` is set by the number of taps
  /// Shells of pairs that several paths must join are never merged.
  Merging merging = Merging::automatic;
  /// Columns of the signals to come, 0 where that is not known, and whether they are double: which
  /// form of storage is the fastest depends on it.
  std::int64_t width = 0;
  bool in_double = false;
  /// Where given, each process holds the shells of its own nodes. All have the whole graph, and all
  /// taps.
  std::shared_ptr<const Partition> partition;
};

/// y = sum over k of h_k A_k x, with A_k the shell of k hops.
class NeighborhoodFilter {
 public:
  /// Finds the shells 0..taps.count()-1 of the graph. Throws Error for taps that do not match it.
  NeighborhoodFilter(const Graph& graph, Taps taps, FilterOptions options = {});

  NodeId nodes() const { return nodes_; }
  /// Those that this process has the signals of.
  NodeId rows() const;
  /// How nodes are dealt; null where this process has all.
  const Partition* partition() const { return options_.partition.get(); }
  const Taps& taps() const { return taps_; }
  /// Other taps for the same shells. Where they tell twins apart that were merged, the shells are
  /// found again.
  void set_taps(Taps taps);
  /// Of the graph, or where twins are merged, of one node of each class of them.
  const Shells& shells() const { return *shells_; }
  /// Multiplications and additions of one `apply` on signals of this width.
  double flops(std::int64_t width) const;
  /// The largest eigenvalue of A_k, before it is normalised; the largest singular value when the
  /// graph is directed.
  LargestValue largest_value(std::size_t k) const;

  /// H X.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x) const;
  /// H' X, with the transpose H'.
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x) const;
  /// The same into columns that are there, and no part of x.
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const;
  /// A_k X, normalised.
  template <typename Real>
  SignalsOf<Real> apply_shell(std::size_t k, const SignalsOf<Real>& x) const;
  /// Gradients by X and by the taps, from X and the gradient by the output.
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output) const;
  /// The same for columns of matrices.
  template <typename Real>
  FilterGradients<Real> gradients_of(const SignalsView<Real>& x,
                                     const SignalsView<Real>& by_output) const;
  /// The same, the gradient by X into columns that are there. Returns the one by the taps.
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input) const;

 private:
  struct Scales;
  friend class FilterRun;

  void find_shells(const Graph& graph);
  Storage agreed_storage(const Graph& graph, const ShellOptions& options) const;

  NodeId nodes_;
  Taps taps_;
  FilterOptions options_;
  std::shared_ptr<const filter::Twins> twins_;  // null where they are not merged
  std::shared_ptr<const Graph> whole_;          // the graph with all twins, where they are
  std::shared_ptr<const Graph> graph_;          // to find the shells in, where they are not held
  std::shared_ptr<const Graph> back_graph_;     // transposed; the same when undirected
  std::shared_ptr<const Partition> shells_partition_;  // of the shells' rows, where nodes are dealt
  std::shared_ptr<const ShellOptions> walking_;        // how shells are found in it
  std::shared_ptr<const Shells> shells_;
  std::shared_ptr<const Shells> back_;  // of the transposed graph; the same when undirected
  std::shared_ptr<const filter::ListLayout> layout_;       // of the shells
  std::shared_ptr<const filter::ListLayout> back_layout_;  // of the transposed graph's
  std::shared_ptr<const Scales> scales_;
};

/// The matrix S of a polynomial filter. All but the first two are for undirected graphs.
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
  /// Throws Error for a shift that a directed graph does not have.
  /// With MPI, each rank stores the rows of the nodes assigned to it.
  /// Products throw Interrupted when `progress`, which must outlive the operator, asks to stop.
  ShiftOperator(const Graph& graph, Shift shift, int threads = 0,
                std::shared_ptr<const Partition> partition = nullptr,
                const Progress* progress = nullptr);

  NodeId nodes() const { return partition_ == nullptr ? rows() : partition_->nodes(); }
  NodeId rows() const { return static_cast<NodeId>(forward_.offsets.size() - 1); }
  const Partition* partition() const { return partition_.get(); }
  /// Of the first row here.
  NodeId first_node() const { return partition_ == nullptr ? 0 : partition_->own().begin; }
  std::uint64_t entries() const { return forward_.columns.size(); }
  /// Of S, or of S'.
  template <typename Real>
  ValuedRows<Real> rows(bool transposed) const;
  /// S X.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x) const;
  /// S' X.
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x) const;
  /// y += S x, or y += S' x. Nothing is checked.
  template <typename Real>
  void add_to(bool transposed, const SignalsView<Real>& x, SignalsSlice<Real> y) const;
  int threads() const { return threads_; }
  const Progress* progress() const { return progress_; }

 private:
  void divide_by_largest(bool negative);

  struct Rows {
    std::vector<std::uint64_t> offsets;
    std::vector<NodeId> columns;
    std::vector<double> values;
    std::vector<float> singles;  // the same in float
  };

  static void keep(const RowRange& range, Rows& rows);

  int threads_ = 0;
  bool symmetric_ = true;
  std::shared_ptr<const Partition> partition_;
  const Progress* progress_ = nullptr;
  Rows forward_;
  Rows back_;  // the transpose, where it is another
};

/// y = sum over k of h_k S^k x.
class PolynomialFilter {
 public:
  /// `progress` as in ShiftOperator. Outputs of a product that was interrupted are undefined.
  PolynomialFilter(const Graph& graph, Taps taps, Shift shift = Shift::adjacency, int threads = 0,
                   std::shared_ptr<const Partition> partition = nullptr,
                   const Progress* progress = nullptr);

  NodeId nodes() const { return shift_->nodes(); }
  /// Those that this process has the signals of.
  NodeId rows() const { return shift_->rows(); }
  const Partition* partition() const { return shift_->partition(); }
  const Taps& taps() const { return taps_; }
  void set_taps(Taps taps);
  const ShiftOperator& shift() const { return *shift_; }
  double flops(std::int64_t width) const;

  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x) const;
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x) const;
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const;
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output) const;
  template <typename Real>
  FilterGradients<Real> gradients_of(const SignalsView<Real>& x,
                                     const SignalsView<Real>& by_output) const;
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input) const;

 private:
  template <typename Real>
  void sum_by_horner(bool transposed, const SignalsView<Real>& x, SignalsSlice<Real> y) const;

  Taps taps_;
  std::shared_ptr<const ShiftOperator> shift_;
};

/// The taps that take X to Y best, in the sense of least squares, and how well they do.
struct FittedTaps {
  std::vector<double> taps;
  std::vector<double> standard_errors;  ///< of the taps; infinite where the data do not tell
  double residual = 0;                  ///< |Y - H X|^2 / |Y|^2
};

/// Fits the taps of a neighbourhood filter, 0..count-1, whose own taps do not matter.
FittedTaps fit_taps(const NeighborhoodFilter& filter, const Matrix& x, const Matrix& y);
FittedTaps fit_taps(const PolynomialFilter& filter, const Matrix& x, const Matrix& y);

}  // namespace ngf
