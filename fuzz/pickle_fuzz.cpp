#include <cstddef>
#include <cstdint>

#include "fuzz/attempt.hpp"
#include "io/pickle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using ngf::fuzz::attempt;
  using ngf::io::Pickle;
  const ngf::io::Input input("input.pickle", {reinterpret_cast<const char*>(data), size});
  attempt([&] {
    const Pickle pickle(input);
    attempt([&] { pickle.integer(pickle.root(), "it"); });
    attempt([&] { pickle.string(pickle.root(), "it"); });
    attempt([&] { pickle.items(pickle.root(), Pickle::Kind::dict, "it"); });
    attempt([&] { pickle.array(pickle.root(), 'i', "it").ints(); });
    attempt([&] { pickle.array(pickle.root(), 'f', "it").floats(); });
    attempt([&] {
      const auto [csr, values] = pickle.sparse(pickle.root(), "it");
      to_sparse(csr, values, "it");
    });
  });
  return 0;
}
