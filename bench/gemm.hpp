#pragma once

#include <functional>
#include <string>
#include <vector>

// Libraries that multiply dense matrices, where they are installed. They are opened at run time,
// told beforehand what they must be told to use the processor well (Debian's OpenBLAS falls back to
// SSE3 on processors that it does not know), and use the threads that they are given.

namespace ngf::bench {

/// C = A B, all row-major: A is rows x inner, B inner x columns. One that is transposed lies in
/// memory as its transpose.
struct GemmTask {
  int rows = 0;
  int columns = 0;
  int inner = 0;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  bool a_transposed = false;
  bool b_transposed = false;

  int a_stride() const { return a_transposed ? rows : inner; }
  int b_stride() const { return b_transposed ? inner : columns; }
};

struct Gemm {
  std::string name;
  /// A single column is a vector to those that tell the two apart.
  std::function<void(const GemmTask&)> multiply;
};

std::vector<Gemm> gemms(int threads);

}  // namespace ngf::bench
