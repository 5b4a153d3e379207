#include "fuzz/two_ways.hpp"
#include "io/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ngf::io;
  for (const ReadOptions& options : {ngf::fuzz::small, ngf::fuzz::lenient}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      return read_metis(input, options, piece_bytes).dataset.graph;
    });
  }
  std::string text(reinterpret_cast<const char*>(data), size);
  text += '\n';
  is_metis(text, true, false);
  return 0;
}
