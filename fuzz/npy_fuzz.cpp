#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/attempt.hpp"
#include "io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ngf::fuzz::attempt;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  attempt([&] { read_npy_matrix(ngf::io::Input("input.npy", bytes)); });
  attempt([&] {
    const ngf::io::NpyArray array(bytes, "input.npy");
    attempt([&] { array.to_doubles(); });
    attempt([&] { array.to_floats(); });
    attempt([&] { array.to_int64s(); });
    attempt([&] { array.to_bools(); });
    attempt([&] { array.to_indices(100); });
    attempt([&] { array.to_matrix(); });
    attempt([&] { array.to_text(); });
  });
  return 0;
}
