#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fuzz/attempt.hpp"
#include "io/tensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ngf::fuzz::attempt([&] {
    const ngf::io::Input input("file", std::span(reinterpret_cast<const char*>(data), size));
    const ngf::TensorFile file = ngf::io::read_tensors(input);
    // No more than four bytes come of each two in the file.
    std::size_t values = 0;
    for (const ngf::Tensor& tensor : file.tensors) values += tensor.values.size();
    if (2 * values > size) std::abort();
  });
  return 0;
}
