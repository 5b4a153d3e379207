#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace ngf {

/// Signals and features: one row per node, one column per feature, rows contiguous.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SparseMatrixF = Eigen::SparseMatrix<float, Eigen::RowMajor>;

template <typename Real>
using SignalsOf = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Signals that are columns of a matrix, to read and to write.
template <typename Real>
using SignalsView = Eigen::Ref<const SignalsOf<Real>, 0, Eigen::OuterStride<>>;
template <typename Real>
using SignalsSlice = Eigen::Ref<SignalsOf<Real>, 0, Eigen::OuterStride<>>;

}  // namespace ngf
