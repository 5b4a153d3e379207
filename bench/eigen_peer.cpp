// In a file of its own, since it is compiled for this machine: Eigen has no other way to use its
// instructions.

#include "eigen_peer.hpp"

#include <Eigen/Sparse>

namespace ngf::bench {

void multiply_by_eigen(const SparseRows& a, const float* x, std::ptrdiff_t width, float* y,
                       int threads) {
  using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor>;
  Eigen::setNbThreads(threads);
  const auto rows = static_cast<Eigen::Index>(a.starts.size()) - 1;
  const Eigen::Map<const Sparse> matrix(rows, rows, static_cast<Eigen::Index>(a.columns.size()),
                                        a.starts.data(), a.columns.data(), a.values.data());
  Eigen::Map<Dense>(y, rows, width).noalias() = matrix * Eigen::Map<const Dense>(x, rows, width);
}

}  // namespace ngf::bench
