// The eight files of a data set in one: each as 4 bytes of length (little-endian) and its bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "fuzz/attempt.hpp"
#include "io/planetoid.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    std::uint32_t length = 0;
    if (bytes.size() >= sizeof(length)) {
      std::memcpy(&length, bytes.data(), sizeof(length));
      bytes = bytes.subspan(sizeof(length));
    }
    const auto part = bytes.first(std::min<std::size_t>(length, bytes.size()));
    bytes = bytes.subspan(part.size());
    return ngf::io::Input("part", part);
  };
  const ngf::io::Input x = next();
  const ngf::io::Input y = next();
  const ngf::io::Input tx = next();
  const ngf::io::Input ty = next();
  const ngf::io::Input allx = next();
  const ngf::io::Input ally = next();
  const ngf::io::Input graph = next();
  const ngf::io::Input test_index = next();
  ngf::fuzz::attempt([&] {
    ngf::io::read_planetoid({x, y, tx, ty, allx, ally, graph, test_index},
                            {.threads = 1, .memory = std::uint64_t{1} << 20U});
  });
  return 0;
}
