#pragma once

#include <cstddef>
#include <vector>

namespace ngf::bench {

/// A sparse matrix row by row, as Eigen has it.
struct SparseRows {
  std::vector<int> starts;
  std::vector<int> columns;
  std::vector<float> values;
};

/// Y = A X by Eigen; X and Y are row-major, `width` columns wide.
void multiply_by_eigen(const SparseRows& a, const float* x, std::ptrdiff_t width, float* y,
                       int threads);

}  // namespace ngf::bench
