#pragma once

#include <functional>

#include "filter/shell_factors.hpp"

namespace ngf::filter {

/// How shells are normalised: shell k stands for factor[k] diag(left[k]) A_k diag(right[k]). Empty
/// vectors stand for ones.
struct ShellScales {
  std::vector<double> factor;
  std::vector<std::vector<double>> left;
  std::vector<std::vector<double>> right;
  std::vector<LargestValue> largest;  ///< by hop, where they were needed
};

struct ShellMeasures {
  /// How many nodes are at each hop of each node, or of the transposed graph: row u, column k.
  std::function<Matrix(bool transposed)> degrees;
  std::function<LargestValue(std::size_t k)> largest;
};

/// The factors of shells that are normalised by these scales, without taps. Shells beyond `taps` do
/// not count.
template <typename Real>
ShellFactors<Real> scale_factors(const ShellScales* scales, std::size_t taps, std::size_t count,
                                 bool transposed) {
  ShellFactors<Real> result(count);
  std::fill(result.scale.begin() + static_cast<std::ptrdiff_t>(taps), result.scale.end(), Real{0});
  if (scales == nullptr) return result;
  const auto as_real = [](const std::vector<double>& values) {
    return std::vector<Real>(values.begin(), values.end());
  };
  for (std::size_t k = 0; k < taps; ++k) {
    result.scale[k] = static_cast<Real>(scales->factor[k]);
    result.left[k] = as_real(transposed ? scales->right[k] : scales->left[k]);
    result.right[k] = as_real(transposed ? scales->left[k] : scales->right[k]);
  }
  return result;
}

ShellScales make_scales(Normalization normalization, std::size_t count,
                        const ShellMeasures& measures);

/// The largest eigenvalue of a symmetric operator, or the largest singular value of another, from
/// products with a column.
LargestValue largest_of(NodeId nodes, bool symmetric,
                        const std::function<Matrix(bool transposed, const Matrix& x)>& multiply);

}  // namespace ngf::filter
