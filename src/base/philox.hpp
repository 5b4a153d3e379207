#pragma once

#include <array>
#include <cstdint>

namespace ngf::detail {

/// Philox4x32-10: ten rounds that turn a counter and a key into four random words. One round on
/// (c0, c1, c2, c3), where M0 and M1 are odd constants and hi, lo the halves of a product:
///
///     c0' = hi(M1 c2) ^ c1 ^ k0        c1' = lo(M1 c2)
///     c2' = hi(M0 c0) ^ c3 ^ k1        c3' = lo(M0 c0)
///
/// after which the key steps by Weyl's constants.
constexpr std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace ngf::detail
