#pragma once

#include <functional>
#include <string>
#include <vector>

// Libraries that multiply dense matrices, where they are installed. They are opened at run time,
// told beforehand what they must be told to use the processor well (Debian's OpenBLAS falls back to
// SSE3 on processors that it does not know), and use the threads that they are given.

namespace ngf::bench {

struct Gemm {
  std::string name;
  /// C = A B, all row-major: A is rows x inner, B inner x columns. A single column is a vector to
  /// those that tell the two apart.
  std::function<void(int rows, int columns, int inner, const float* a, const float* b, float* c)>
      multiply;
};

std::vector<Gemm> gemms(int threads);

}  // namespace ngf::bench
