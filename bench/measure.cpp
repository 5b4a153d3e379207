#include "measure.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "linalg/product.hpp"

namespace ngf::bench {

std::vector<double> best_seconds(const std::vector<std::function<void()>>& bodies, double enough) {
  // A turn is long enough for short calls to find their data in the caches again.
  constexpr double turn = 0.02;
  std::vector<double> best(bodies.size(), std::numeric_limits<double>::max());
  std::vector<double> spent(bodies.size(), 0);
  while (*std::min_element(spent.begin(), spent.end()) < enough) {
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (spent[i] >= enough) continue;
      for (double used = 0; used < turn;) {
        const double seconds = seconds_of(bodies[i]);
        best[i] = std::min(best[i], seconds);
        used += seconds;
        spent[i] += seconds;
      }
    }
  }
  return best;
}

double write_bandwidth(int threads) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  constexpr std::size_t pieces = 32;
  detail::AlignedVector<char> memory(piece * pieces);
  // The C library writes pieces of this size past the caches.
  const auto write = [&] {
    detail::parallel_for(pieces, threads,
                         [&](std::size_t i) { std::memset(memory.data() + i * piece, 1, piece); });
  };
  write();
  return static_cast<double>(memory.size()) / best_seconds({write}).front();
}

double multiplication_rate(int threads, double enough) {
  return detail::product_rate(threads, enough);
}

}  // namespace ngf::bench
