#include "filter/scales.hpp"

#include <cmath>

namespace ngf::filter {

namespace {

/// 1 / d^power for one column, and 0 where there is nobody to take a mean over.
std::vector<double> powers(const Matrix& degrees, std::size_t k, double power) {
  std::vector<double> result(static_cast<std::size_t>(degrees.rows()));
  for (std::size_t u = 0; u < result.size(); ++u) {
    const double degree = degrees(static_cast<Eigen::Index>(u), static_cast<Eigen::Index>(k));
    result[u] = degree == 0 ? 0.0 : std::pow(degree, -power);
  }
  return result;
}

}  // namespace

ShellScales make_scales(Normalization normalization, std::size_t count,
                        const ShellMeasures& measures) {
  ShellScales scales{std::vector<double>(count, 1),
                     std::vector<std::vector<double>>(count),
                     std::vector<std::vector<double>>(count),
                     {}};
  if (normalization == Normalization::lmax) {
    scales.largest.push_back({.value = 1});  // of the identity
    for (std::size_t k = 1; k < count; ++k) {
      scales.largest.push_back(measures.largest(k));
      // An empty shell is a tap that does nothing.
      if (scales.largest[k].value > 0) scales.factor[k] = 1 / scales.largest[k].value;
    }
  } else if (normalization != Normalization::none) {
    const bool both = normalization == Normalization::symmetric;
    const Matrix rows = measures.degrees(false);
    const Matrix columns = both ? measures.degrees(true) : Matrix();
    for (std::size_t k = 1; k < count; ++k) {
      scales.left[k] = powers(rows, k, both ? 0.5 : 1);
      if (both) scales.right[k] = powers(columns, k, 0.5);
    }
  }
  return scales;
}

LargestValue largest_of(NodeId nodes, bool symmetric,
                        const std::function<Matrix(bool transposed, const Matrix& x)>& multiply) {
  const auto as_operator = [&](bool transposed) -> Operator {
    return [&multiply, transposed](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
      y = multiply(transposed, x);
    };
  };
  return symmetric ? largest_eigenvalue(nodes, as_operator(false))
                   : largest_singular_value(nodes, as_operator(false), as_operator(true));
}

}  // namespace ngf::filter
