#include "gemm.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>

namespace ngf::bench {

namespace {

/// A function of a shared library; null where that is not installed.
template <typename Function>
Function* find_function(const char* library, const char* name) {
  void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return opened == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(opened, name));
}

using CblasSgemm = void(int order, int transpose_a, int transpose_b, int rows, int columns,
                        int inner, float alpha, const float* a, int a_stride, const float* b,
                        int b_stride, float beta, float* c, int c_stride);
using CblasSgemv = void(int order, int transpose_a, int rows, int columns, float alpha,
                        const float* a, int a_stride, const float* x, int x_step, float beta,
                        float* y, int y_step);
using DnnlSgemm = int(char transpose_a, char transpose_b, std::int64_t rows, std::int64_t columns,
                      std::int64_t inner, float alpha, const float* a, std::int64_t a_stride,
                      const float* b, std::int64_t b_stride, float beta, float* c,
                      std::int64_t c_stride);

void add_cblas(const std::string& name, const char* library, std::vector<Gemm>& result) {
  auto* const sgemm = find_function<CblasSgemm>(library, "cblas_sgemm");
  auto* const sgemv = find_function<CblasSgemv>(library, "cblas_sgemv");
  if (sgemm == nullptr || sgemv == nullptr) return;
  constexpr int row_major = 101;
  constexpr int as_it_is = 111;
  constexpr int other_way_round = 112;
  result.push_back({name, [sgemm, sgemv](const GemmTask& task) {
                      if (task.columns == 1 && !task.a_transposed) {
                        sgemv(row_major, as_it_is, task.rows, task.inner, 1, task.a, task.inner,
                              task.b, 1, 0, task.c, 1);
                        return;
                      }
                      sgemm(row_major, task.a_transposed ? other_way_round : as_it_is,
                            task.b_transposed ? other_way_round : as_it_is, task.rows, task.columns,
                            task.inner, 1, task.a, task.a_stride(), task.b, task.b_stride(), 0,
                            task.c, task.columns);
                    }});
}

}  // namespace

std::vector<Gemm> gemms(int threads) {
  const std::string count = fmt::format("{}", threads);
  if (__builtin_cpu_supports("avx512vl") != 0) setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
  setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
  setenv("BLIS_NUM_THREADS", count.c_str(), 1);
  std::vector<Gemm> result;
  add_cblas("OpenBLAS", "libopenblas.so.0", result);
  add_cblas("BLIS", "libblis.so.4", result);
  if (auto* const sgemm = find_function<DnnlSgemm>("libdnnl.so.2", "dnnl_sgemm")) {
    result.push_back({"oneDNN", [sgemm](const GemmTask& task) {
                        sgemm(task.a_transposed ? 'T' : 'N', task.b_transposed ? 'T' : 'N',
                              task.rows, task.columns, task.inner, 1, task.a, task.a_stride(),
                              task.b, task.b_stride(), 0, task.c, task.columns);
                      }});
  }
  return result;
}

}  // namespace ngf::bench
