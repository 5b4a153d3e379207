#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "kernels/gemm.hpp"
#include "linalg/product.hpp"

namespace ngf::detail {

/// A sparse matrix X of features that is multiplied many times, from both sides: it holds its
/// transpose too. Each row of a product is one sum, so that threads do not change its bits.
template <typename Real>
class SparseFeatures {
 public:
  using Sparse = Eigen::SparseMatrix<Real, Eigen::RowMajor>;

  explicit SparseFeatures(Sparse x) : x_(std::move(x)) {
    x_.makeCompressed();
    transposed_ = x_.transpose();
    transposed_.makeCompressed();
  }

  Eigen::Index rows() const { return x_.rows(); }
  Eigen::Index cols() const { return x_.cols(); }
  const Sparse& matrix() const { return x_; }

  /// c = X b, or c += X b. c must not overlap b. Throws Error where the shapes do not fit.
  void multiply(const ConstView<Real>& b, const MutableView<Real>& c, Into into,
                int threads) const {
    multiply(x_, b, c, into, threads);
  }

  /// c = X' b, or c += X' b.
  void multiply_transposed(const ConstView<Real>& b, const MutableView<Real>& c, Into into,
                           int threads) const {
    multiply(transposed_, b, c, into, threads);
  }

 private:
  static void multiply(const Sparse& x, const ConstView<Real>& b, const MutableView<Real>& c,
                       Into into, int threads) {
    if (b.transposed || b.rows != x.cols() || c.rows != x.rows() || c.cols != b.cols) {
      fail("a product of {} x {}, sparse, with {} x {}{} does not fit {} x {}", x.rows(), x.cols(),
           b.rows, b.cols, b.transposed ? ", transposed," : "", c.rows, c.cols);
    }
    // A task this small is done before another thread is awake.
    constexpr double worth_a_thread = 2e5;
    const double work = static_cast<double>(x.nonZeros()) * static_cast<double>(b.cols);
    const int team = static_cast<int>(
        std::clamp(work / worth_a_thread, 1.0, static_cast<double>(thread_count(threads))));
    // Many more pieces than threads, since rows differ in cost.
    const auto rows = static_cast<std::size_t>(x.rows());
    const std::size_t step = std::max<std::size_t>(8, rows / (static_cast<std::size_t>(team) * 32));
    parallel_for((rows + step - 1) / step, team, [&](std::size_t piece) {
      const std::size_t end = std::min(rows, (piece + 1) * step);
      for (std::size_t r = piece * step; r < end; ++r) {
        const auto begin = x.outerIndexPtr()[r];
        const auto count = static_cast<std::size_t>(x.outerIndexPtr()[r + 1] - begin);
        Real* const to = c.data + static_cast<std::ptrdiff_t>(r) * c.stride;
        kernels::sum_rows<Real>({.values = x.valuePtr() + begin,
                                 .columns = x.innerIndexPtr() + begin,
                                 .count = count,
                                 .b = b.data,
                                 .stride = static_cast<std::size_t>(b.stride),
                                 .own = into == Into::add ? to : nullptr},
                                static_cast<std::size_t>(b.cols), to);
      }
    });
  }

  Sparse x_;
  Sparse transposed_;
};

}  // namespace ngf::detail
