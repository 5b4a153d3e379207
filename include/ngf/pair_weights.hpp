#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/filter.hpp"

/// Neighbourhood filters with a weight for each pair: y = sum over k of h_k N(A_k o W) x, where
/// W_uv = max(0, cos(e_u, e_v))^p for embeddings e of the nodes, o multiplies entry by entry, and N
/// normalises the weighted shell. A_0 stays the identity.

namespace ngf {

namespace filter {
struct PairTables;
struct UnitRows;
}  // namespace filter

/// Embeddings of nodes, divided by their norms. They never change; copies share them.
class Embeddings {
 public:
  /// One row per node. Throws Error for values that are not finite.
  explicit Embeddings(const Matrix& rows);
  explicit Embeddings(const MatrixF& rows);
  explicit Embeddings(const SparseMatrixF& rows);
  explicit Embeddings(std::shared_ptr<const filter::UnitRows> rows);

  NodeId nodes() const;
  /// Nodes whose embedding is 0: their cosine with every node is 0.
  NodeId zero_rows() const;
  std::uint64_t bytes() const;
  const filter::UnitRows& rows() const { return *rows_; }

 private:
  std::shared_ptr<const filter::UnitRows> rows_;
};

/// The features of a data set as embeddings. Counts (no value is negative) are weighted by TF-IDF:
/// each row is divided by its sum, and feature f multiplied by log(N / number of nodes with f).
/// Features with negative values are used as they are. Throws Error if the data set has no
/// features, or TF-IDF makes all of them 0.
Embeddings feature_embeddings(const Dataset& dataset);

/// The plan of a PairFilter: of shells as lists, or streamed where options.shells asks for that,
/// without merged twins. `weight_bytes` counts the weights. Throws Error for options that pair
/// weights do not allow, and MemoryExceeded if lists and weights do not fit.
FilterPlan plan_pair_filter(const Graph& graph, const Taps& taps, const FilterOptions& options = {},
                            Progress* progress = nullptr);

/// The filter on shells with pair weights. Weights are computed once and stored as one
/// float per pair; those of streamed shells are computed again for each product. Products are those
/// of NeighborhoodFilter.
class PairFilter {
 public:
  /// Throws Error for shells that are hops, of some rows or with merged twins, for embeddings of
  /// another number of nodes, a negative power, and normalisation by lmax; MemoryExceeded if the
  /// weights do not fit into the memory of the shells' options.
  PairFilter(Shells shells, Taps taps, const Embeddings& embeddings, double power = 1,
             Normalization normalization = Normalization::none,
             ProductForm form = ProductForm::automatic, Progress* progress = nullptr);
  /// Plans, builds the shells and the filter.
  PairFilter(const Graph& graph, Taps taps, const Embeddings& embeddings, double power = 1,
             const FilterOptions& options = {}, Progress* progress = nullptr);

  NodeId nodes() const { return shells_.nodes(); }
  RowRange rows() const { return shells_.rows(); }
  const Taps& taps() const { return taps_; }
  /// The same shells and weights with other taps.
  void set_taps(Taps taps);
  const Shells& shells() const { return shells_; }
  /// Bytes of the weights.
  std::uint64_t weight_bytes() const;
  /// The form of a product with signals of this width.
  template <typename Real>
  ProductForm form(std::int64_t width) const;
  /// Multiplications and additions of one `apply` on signals of this width.
  double flops(std::int64_t width) const;
  /// Weights of the pairs of row u at `hop`, normalised: those of shells().columns(u, hop). Throws
  /// Error for streamed shells.
  std::vector<float> weights(NodeId u, std::uint32_t hop) const;

  /// H X.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  /// H' X.
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  /// The same into existing columns, which are no part of x.
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                Progress* progress = nullptr) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress = nullptr) const;
  /// N(A_k o W) X into existing columns; or its transpose.
  template <typename Real>
  void apply_shell_to(std::size_t k, const SignalsView<Real>& x, SignalsSlice<Real> y,
                      bool transposed = false) const;
  /// Gradients by X and by the taps, from X and the gradient by the output.
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output,
                                  Progress* progress = nullptr) const;
  /// The same, the gradient by X into existing columns. Returns the one by the taps.
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input, Progress* progress = nullptr) const;
  /// Gradient by the weight W_uv of each pair before normalisation, W_uv and W_vu being apart: row
  /// after row, and in each those of hops 1, 2, ... in the order of `weights`. Throws Error for
  /// streamed shells.
  template <typename Real>
  std::vector<float> pair_gradients(const SignalsView<Real>& x,
                                    const SignalsView<Real>& by_output) const;

 private:
  template <typename Real>
  filter::ShellFactors<Real> factors_without_taps(bool transposed) const;
  template <typename Real>
  filter::ShellFactors<Real> factors(bool transposed) const;
  filter::ShellSource source(bool transposed, Progress* progress) const;

  Shells shells_;
  Taps taps_;
  ProductForm form_;
  std::shared_ptr<const filter::Layouts> layouts_;
  std::shared_ptr<const filter::PairTables> tables_;
};

/// Fits the taps of a filter, 0..count-1, whose own taps do not matter.
FittedTaps fit_taps(const PairFilter& filter, const Matrix& x, const Matrix& y);

}  // namespace ngf
