// An archive's checksums keep random changes away from the arrays inside it. So bytes that do not
// begin as an archive are taken for the arrays themselves, and put into one: each as a line with
// its name, 4 bytes of length (little-endian), and its bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/attempt.hpp"
#include "io/formats.hpp"
#include "tests/binary_bytes.hpp"

namespace {

std::string archive_of(std::string_view bytes) {
  ngf::test::Members members;
  while (!bytes.empty()) {
    const std::string name(bytes.substr(0, bytes.find('\n')));
    bytes.remove_prefix(std::min(name.size() + 1, bytes.size()));
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data(), std::min(sizeof(length), bytes.size()));
    bytes.remove_prefix(std::min(sizeof(length), bytes.size()));
    members[name] = bytes.substr(0, length);
    bytes.remove_prefix(std::min<std::size_t>(length, bytes.size()));
  }
  return ngf::test::npz(members);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string archive(bytes.starts_with("PK") ? std::string(bytes) : archive_of(bytes));
  for (const bool lenient : {false, true}) {
    ngf::fuzz::attempt([&] {
      read_npz(ngf::io::Input("input.npz", archive), {.keep_self_loops = true,
                                                      .lenient = lenient,
                                                      .threads = 1,
                                                      .memory = std::uint64_t{1} << 20U});
    });
  }
  return 0;
}
