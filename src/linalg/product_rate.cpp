#include "linalg/product_rate.hpp"

#include <chrono>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "kernels/hops.hpp"

namespace ngf::detail {

double product_rate(int threads, double seconds) {
  constexpr std::size_t rows = 84;
  constexpr std::size_t lines = kernels::most_product_lines;
  constexpr std::size_t width = lines * kernels::columns_in_line<float>;
  constexpr int repetitions = 200;
  const int team = thread_count(threads);
  const auto multiply = [&] {
    parallel_for(static_cast<std::size_t>(team), team, [&](std::size_t) {
      AlignedVector<float> w(rows * kernels::tile_columns, 0.5F);
      AlignedVector<float> x(kernels::tile_columns * width, 0.5F);
      AlignedVector<float> y(rows * width, 0.0F);
      for (int i = 0; i < repetitions; ++i) {
        kernels::hop_kernels<float>().multiply_rows(w.data(), rows, x.data(), kernels::tile_columns,
                                                    lines, y.data(), width);
      }
    });
  };
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (double spent = 0; spent < seconds;) {
    const auto begun = Clock::now();
    multiply();
    const double taken = std::chrono::duration<double>(Clock::now() - begun).count();
    best = std::min(best, taken);
    spent += taken;
  }
  return 2.0 * rows * kernels::tile_columns * width * repetitions * team / best;
}

}  // namespace ngf::detail
