#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace ngf {

/// Signals and features: one row a node, one column a feature, rows contiguous.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using SparseMatrixF = Eigen::SparseMatrix<float, Eigen::RowMajor>;

}  // namespace ngf
