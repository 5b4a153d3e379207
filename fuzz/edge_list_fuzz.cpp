#include "fuzz/two_ways.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ngf::io;
  ReadOptions rows = ngf::fuzz::small;
  rows.directed = true;
  rows.base = 1;
  for (const ReadOptions& options : {ngf::fuzz::small, ngf::fuzz::lenient, rows}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      return read_edge_list(input, options, piece_bytes).dataset.graph;
    });
  }
  ngf::fuzz::read_two_ways(data, size, [](const Input& input, std::size_t /*piece_bytes*/) {
    return static_cast<int>(detect_format(input));
  });
  return 0;
}
