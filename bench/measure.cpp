#include "measure.hpp"

#include <omp.h>

#include <cstring>

#include "detail/aligned.hpp"

namespace ngf::bench {

double write_bandwidth(int threads) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  constexpr std::size_t pieces = 32;
  detail::AlignedVector<char> memory(piece * pieces);
  const int team = threads > 0 ? threads : omp_get_num_procs();
  // The C library writes pieces of this size past the caches.
  const auto write = [&] {
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::size_t i = 0; i < pieces; ++i) std::memset(memory.data() + i * piece, 1, piece);
  };
  write();
  return static_cast<double>(memory.size()) / best_seconds(write);
}

}  // namespace ngf::bench
