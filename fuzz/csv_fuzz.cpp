#include <bit>
#include <vector>

#include "fuzz/two_ways.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ngf::io;
  for (const ReadOptions& options : {ngf::fuzz::small, ngf::fuzz::lenient}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      return read_adjacency_csv(input, options, piece_bytes).dataset.graph;
    });
  }
  ngf::fuzz::read_two_ways(data, size, [](const Input& input, std::size_t piece_bytes) {
    const ngf::Matrix matrix = read_csv_matrix(input, {.threads = 1}, piece_bytes);
    // As bits, so that NaN equals NaN.
    std::vector<std::uint64_t> bits{static_cast<std::uint64_t>(matrix.rows())};
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
      bits.push_back(std::bit_cast<std::uint64_t>(matrix.data()[i]));
    }
    return bits;
  });
  return 0;
}
