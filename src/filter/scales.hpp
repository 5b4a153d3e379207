#pragma once

#include <functional>

#include "ngf/filter.hpp"

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

ShellScales make_scales(Normalization normalization, std::size_t count,
                        const ShellMeasures& measures);

/// The largest eigenvalue of a symmetric operator, or the largest singular value of another, from
/// products with a column.
LargestValue largest_of(NodeId nodes, bool symmetric,
                        const std::function<Matrix(bool transposed, const Matrix& x)>& multiply);

}  // namespace ngf::filter
