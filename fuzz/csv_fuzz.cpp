#include <bit>
#include <utility>
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
  for (const bool find_labels : {false, true}) {
    ngf::fuzz::read_two_ways(data, size, [&](const Input& input, std::size_t piece_bytes) {
      const Table table = read_csv_table(input, {.threads = 1}, find_labels, piece_bytes);
      const ngf::Matrix& matrix = table.numbers;
      if (!table.text.rows.empty() &&
          table.text.rows.size() != static_cast<std::size_t>(matrix.rows())) {
        std::abort();
      }
      // As bits, so that NaN equals NaN.
      std::vector<std::uint64_t> bits{static_cast<std::uint64_t>(matrix.rows())};
      for (Eigen::Index i = 0; i < matrix.size(); ++i) {
        bits.push_back(std::bit_cast<std::uint64_t>(matrix.data()[i]));
      }
      return std::pair(bits, table.text.rows);
    });
  }
  return 0;
}
