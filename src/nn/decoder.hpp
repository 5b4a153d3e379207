#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "ngf/nn/layer_filter.hpp"
#include "ngf/nn/optimizer.hpp"

/// The graph decoder x^ = max(H C, 0) v of one signal (Rey, Tenorio, Rozada, Martino and Marques,
/// "Overparametrized deep encoder-decoder schemes for inputs and outputs defined over graphs",
/// 2020): H is a fixed filter, N x N; C, N x F, is learned; v has F fixed entries of 1 / sqrt(F),
/// the second half of them negative.
namespace ngf::nn {

/// Columns f..f+count-1 of a matrix, which the products and passes take at once.
struct DecoderColumns {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// How a decoder multiplies by H, whichever is the fastest by counted cost.
enum class DecoderForm {
  dense,   ///< folded into one matrix
  sparse,  ///< folded into one sparse matrix
  powers,  ///< h_0 + S (h_1 + S (h_2 + ...)) with the sparse shift S of a polynomial filter
  filter,  ///< all columns at once, by the filter: of large graphs
};

/// H as the decoder multiplies by it. Many decoders share one.
template <typename Real>
class DecoderFilter {
 public:
  DecoderFilter(LayerFilter filter, std::int64_t features);

  std::size_t nodes() const { return nodes_; }
  DecoderForm form() const { return form_; }
  /// Whether columns are multiplied panel by panel.
  bool by_panels() const { return form_ != DecoderForm::filter; }
  /// Columns of C = H B, or H' B, whose rows follow each other. `scratch` has as much room as C.
  void multiply(bool transposed, const Real* b, Real* c, std::size_t columns, Real* scratch) const;
  const LayerFilter& filter() const { return filter_; }

 private:
  /// H or S, and its transpose where that is another, as the kernels want them.
  struct SparseMatrix {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> columns;
    std::vector<Real> values;  // empty: all are 1
  };

  void choose_form();
  void pack_dense(const SignalsOf<Real>& h);
  void pack_sparse(const SignalsOf<Real>& h);
  void pack_powers(const PolynomialFilter& filter);

  LayerFilter filter_;
  std::size_t nodes_;
  DecoderForm form_ = DecoderForm::filter;
  detail::AlignedVector<Real> forward_;
  detail::AlignedVector<Real> backward_;  // empty where H is its own transpose
  SparseMatrix sparse_;
  SparseMatrix sparse_back_;  // empty where it is the same
  std::vector<Real> taps_;    // of powers of the sparse matrix
};

struct DecoderStep {
  OptimizerKind optimizer = OptimizerKind::adam;
  double lr = 0.01;
};

/// The decoder of one signal, and what its optimiser remembers. The same bits on any number of
/// threads.
template <typename Real>
class Decoder {
 public:
  /// `filter` must outlive this.
  Decoder(const DecoderFilter<Real>& filter, std::int64_t features, int threads);

  /// C, row by row. The optimiser forgets its past.
  void set_parameters(std::span<const Real> c);

  /// x^ of the parameters as they are.
  std::span<const Real> forward();
  /// By C, row by row, of a loss whose gradient by the outputs of the last `forward` is given.
  /// Needs a `forward` before it is called again.
  std::vector<Real> gradient(std::span<const Real> by_outputs);
  /// One step of the optimiser, by the outputs of the last `forward` or `step`; returns x^ after
  /// it.
  std::span<const Real> step(std::span<const Real> by_outputs, const DecoderStep& step);

 private:
  using Numbers = detail::AlignedVector<Real>;

  /// Where row u of a panel begins: products by panels want them one after the other.
  std::size_t place(std::size_t panel, std::size_t u) const {
    return columns_[panel].first * (filter_.by_panels() ? filter_.nodes() : 1) + u * stride(panel);
  }
  std::size_t stride(std::size_t panel) const {
    return filter_.by_panels() ? columns_[panel].count : width_;
  }
  /// Calls body(place in C row by row, place in panels, count) for the rows of all panels.
  template <typename Body>
  void for_each_row(const Body& body) const;
  void forward_panel(std::size_t panel);
  void backward_panel(std::size_t panel, std::span<const Real> by_outputs);
  void update(std::size_t begin, std::size_t end, const DecoderStep& step);
  /// H C or H' G of all columns, where that is not done by panels.
  void filter_all(bool transposed, const Numbers& from, Numbers& to) const;
  std::span<const Real> sum_units();

  const DecoderFilter<Real>& filter_;
  std::size_t features_;
  std::size_t width_;  // features, and zeros up to whole vectors
  int threads_;
  std::vector<DecoderColumns> columns_;
  std::uint64_t steps_ = 0;
  Numbers v_;
  Numbers c_;
  Numbers z_;         // H C, then the gradient by it
  Numbers gradient_;  // by C
  Numbers scratch_;   // of products by panels
  Numbers mean_;
  Numbers square_;
  Numbers partial_;  // x^ of each unit of columns
  std::vector<Real> outputs_;
};

/// Bytes that a decoder takes.
std::uint64_t decoder_bytes(std::uint64_t nodes, std::int64_t features);

}  // namespace ngf::nn
