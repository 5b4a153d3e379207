#include "fuzz/two_ways.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ngf::io;
  for (const ReadOptions& options : {ngf::fuzz::small, ngf::fuzz::lenient}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      return read_matrix_market(input, options, piece_bytes).dataset.graph;
    });
  }
  ngf::fuzz::read_two_ways(data, size, [](const Input& input, std::size_t /*piece_bytes*/) {
    return is_matrix_market(input) || is_bannerless_matrix_market(input);
  });
  return 0;
}
