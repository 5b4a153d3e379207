#include <utility>

#include "fuzz/two_ways.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ngf::io;
  ReadOptions rows = ngf::fuzz::small;
  rows.directed = true;
  rows.base = 1;
  ReadOptions names = ngf::fuzz::small;
  names.ids = Ids::names;
  for (const ReadOptions& options : {ngf::fuzz::small, ngf::fuzz::lenient, rows, names}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      const ngf::Dataset dataset = read_edge_list(input, options, piece_bytes).dataset;
      if (!dataset.names.empty() && dataset.names.size() != dataset.graph.nodes()) std::abort();
      return std::pair(dataset.graph, dataset.names);
    });
  }
  ngf::fuzz::read_two_ways(data, size, [](const Input& input, std::size_t /*piece_bytes*/) {
    return static_cast<int>(detect_format(input));
  });
  return 0;
}
