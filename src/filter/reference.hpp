#pragma once

#include <Eigen/Core>

#include "ngf/filter.hpp"

/// The specification of neighbourhood filters, for tests: each shell is a dense matrix, found by a
/// plain search from every node and normalised by definition; a filter is the sum of them times its
/// taps. Takes N^2 memory per shell.
namespace ngf::filter {

/// N(A_0), ..., N(A_{count - 1}); with weights W of pairs, N(A_k o W) from k = 1 on.
std::vector<Eigen::MatrixXd> reference_shells(const Graph& graph, std::size_t count,
                                              Normalization normalization,
                                              const Eigen::MatrixXd* weights = nullptr);

/// W_uv = max(0, cos(e_u, e_v))^power; the cosine with a row of zeros is 0.
Eigen::MatrixXd reference_pair_weights(const Matrix& embeddings, double power);

/// H = sum over k of diag(h_k) M_k, for these matrices M_k.
Eigen::MatrixXd reference_filter(const Taps& taps, const std::vector<Eigen::MatrixXd>& matrices);

/// The square root of the largest eigenvalue of M' M.
double reference_singular_value(const Eigen::MatrixXd& matrix);

}  // namespace ngf::filter
