#include "measure.hpp"

#include <cstring>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"

namespace ngf::bench {

double write_bandwidth(int threads) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  constexpr std::size_t pieces = 32;
  detail::AlignedVector<char> memory(piece * pieces);
  const int team = detail::thread_count(threads);
  // The C library writes pieces of this size past the caches.
  const auto write = [&] {
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::size_t i = 0; i < pieces; ++i) std::memset(memory.data() + i * piece, 1, piece);
  };
  write();
  return static_cast<double>(memory.size()) / best_seconds(write);
}

}  // namespace ngf::bench
