// Taps, and those of least squares: Y is taken to be a sum of the columns B_k = A_k X (or S^k X),
// and the taps solve the small system of their inner products.

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "base/names.hpp"
#include "filter/checks.hpp"
#include "ngf/pair_weights.hpp"

namespace ngf {

Taps::Taps(std::size_t count, std::vector<double> values, std::vector<std::uint32_t> group)
    : count_(count), values_(std::move(values)), group_(std::move(group)) {
  if (count == 0 || values_.empty() || values_.size() % count != 0) {
    fail("{} numbers are no taps of {} hops for each group", values_.size(), count);
  }
  const std::size_t groups = values_.size() / count;
  for (std::size_t u = 0; u < group_.size(); ++u) {
    if (group_[u] >= groups) fail("node {} is in group {}, but there are {}", u, group_[u], groups);
  }
}

std::string_view shift_name(Shift shift) {
  return detail::name_in(
      {"adjacency", "adjacency-lmax", "laplacian", "normalized-laplacian", "gcn"}, shift);
}

std::string_view normalization_name(Normalization normalization) {
  return detail::name_in({"none", "lmax", "symmetric", "row"}, normalization);
}

std::string_view merging_name(Merging merging) {
  return detail::name_in({"auto", "never", "always"}, merging);
}

FittedTaps fit_basis(const std::vector<Matrix>& basis, const Matrix& y) {
  const auto count = static_cast<Eigen::Index>(basis.size());
  // Columns of one length make the system as well-conditioned as it can be.
  Eigen::VectorXd length(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    length[k] = basis[static_cast<std::size_t>(k)].norm();
  }
  // A QR factorisation of the tall matrix itself: inner products would square its condition.
  Eigen::MatrixXd tall(y.size(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Matrix& signals = basis[static_cast<std::size_t>(k)];
    tall.col(k) = Eigen::Map<const Eigen::VectorXd>(signals.data(), signals.size());
    if (length[k] > 0) tall.col(k) /= length[k];
  }
  const Eigen::Map<const Eigen::VectorXd> target(y.data(), y.size());
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(tall);
  const Eigen::VectorXd solution = qr.solve(target);
  const double squares = (target - tall * solution).squaredNorm();
  const double all_squares = target.squaredNorm();

  FittedTaps result;
  result.residual = all_squares > 0 ? squares / all_squares : 0;
  const auto freedom = static_cast<double>(y.size() - qr.rank());
  const double variance = freedom > 0 ? squares / freedom : 0;
  // The variances of the taps are those of the noise times the diagonal of (B'B)^-1.
  const Eigen::MatrixXd gram = tall.transpose() * tall;
  const Eigen::MatrixXd inverse = gram.completeOrthogonalDecomposition().pseudoInverse();
  for (Eigen::Index k = 0; k < count; ++k) {
    const bool told = length[k] > 0 && qr.rank() == count;
    result.taps.push_back(length[k] > 0 ? solution[k] / length[k] : 0);
    result.standard_errors.push_back(told ? std::sqrt(variance * inverse(k, k)) / length[k]
                                          : std::numeric_limits<double>::infinity());
  }
  return result;
}

FittedTaps fit_taps(const NeighborhoodFilter& filter, const Matrix& x, const Matrix& y) {
  filter::check_pairs(x, y, filter.nodes());
  std::vector<Matrix> basis;
  for (std::size_t k = 0; k < filter.taps().count(); ++k) basis.push_back(filter.apply_shell(k, x));
  return fit_basis(basis, y);
}

FittedTaps fit_taps(const PairFilter& filter, const Matrix& x, const Matrix& y) {
  filter::check_pairs(x, y, filter.nodes());
  std::vector<Matrix> basis;
  for (std::size_t k = 0; k < filter.taps().count(); ++k) {
    filter.apply_shell_to<double>(k, x, basis.emplace_back(x.rows(), x.cols()));
  }
  return fit_basis(basis, y);
}

FittedTaps fit_taps(const PolynomialFilter& filter, const Matrix& x, const Matrix& y) {
  filter::check_pairs(x, y, filter.nodes());
  std::vector<Matrix> basis{x};
  while (basis.size() < filter.taps().count()) {
    basis.push_back(filter.shift().apply(basis.back()));
  }
  return fit_basis(basis, y);
}

}  // namespace ngf
