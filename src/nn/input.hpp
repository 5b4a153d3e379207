#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.hpp"
#include "linalg/product.hpp"
#include "ngf/nn/network.hpp"
#include "nn/dropout.hpp"

namespace ngf::nn {

/// Products with the features X, N x F, of R runs at once: X [B_1 .. B_R] and X' [G_1 .. G_R]. With
/// dropout each run has an X of its own, of which entries are 0.
template <typename Real>
class Input {
 public:
  Input(FeaturesOf<Real> features, std::size_t runs, int threads);

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  bool sparse() const { return sparse_; }
  /// Those that are multiplied.
  std::size_t entries() const { return sparse_ ? by_row_.index.size() : rows_ * cols_; }

  /// Products until the next call are with these masks, those of layer 0; with none where null.
  void draw(const Masks* masks);

  /// C = X B, or C += X B, of some runs: B is F x (runs W), C is N x (runs W).
  void multiply(const Runs& runs, const detail::ConstView<Real>& b,
                const detail::MutableView<Real>& c, detail::Into into) const;
  /// C = X' G; G is N x (runs W), C is F x (runs W).
  void multiply_transpose(const Runs& runs, const detail::ConstView<Real>& g,
                          const detail::MutableView<Real>& c) const;

 private:
  /// Compressed rows: row i has the columns index[offsets[i]] up to index[offsets[i + 1]]. `place`
  /// says where each entry is in X; empty where that is here.
  struct Rows {
    std::vector<std::size_t> offsets;
    std::vector<std::int32_t> index;
    std::vector<Real> values;
    std::vector<std::uint32_t> place;
  };
  using Sparse = Eigen::SparseMatrix<Real, Eigen::RowMajor, std::int64_t>;

  void compress(const Sparse& features);
  void multiply_rows(const Rows& rows, const Runs& runs, const detail::ConstView<Real>& b,
                     const detail::MutableView<Real>& c, bool add) const;
  /// Columns of B, its rows one behind the other, until the next call.
  const Real* packed(const detail::ConstView<Real>& b, std::size_t first, std::size_t count) const;
  /// A row of one run, without what is dropped.
  struct Kept {
    std::vector<std::int32_t> index;
    std::vector<Real> values;
  };
  void keep(const Rows& rows, std::size_t row, std::size_t run, Kept& kept) const;
  /// C = X B or C = X' B of dense features.
  void multiply_dense(bool transposed, const Runs& runs, const detail::ConstView<Real>& b,
                      const detail::MutableView<Real>& c, detail::Into into) const;
  /// The dense X of run r with its mask, until the next call.
  detail::ConstView<Real> dropped(std::size_t r) const;

  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t runs_;
  int threads_;
  bool sparse_ = false;
  SignalsOf<Real> dense_;
  Rows by_row_;
  Rows by_column_;
  const Masks* masks_ = nullptr;
  std::vector<std::uint8_t> kept_;               // of sparse X: [entry * runs + r]
  mutable detail::AlignedVector<Real> scratch_;  // a dense X with a mask, or columns of B
};

}  // namespace ngf::nn
