#include "io/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/fail.hpp"
#include "io/input.hpp"

namespace ngf::io {

namespace {

void check(int result) {
  if (result != 1) fail("SHA-256 failed in OpenSSL");
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  check(context_ != nullptr ? 1 : 0);
  restart();
}

void Sha256::restart() { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

void Sha256::add(std::string_view bytes) {
  check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> sum{};
  check(EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr));
  restart();
  return fmt::format("{:02x}", fmt::join(sum, ""));
}

std::string sha256_of_file(const std::filesystem::path& path, const Progress* progress) {
  constexpr std::uint64_t piece = 1U << 20;
  const Input input(path);
  Sha256 sum;
  for (std::uint64_t offset = 0; offset < input.size(); offset += piece) {
    throw_if_stopped(progress);
    sum.add(input.read_at(offset, piece));
  }
  return sum.finish();
}

}  // namespace ngf::io
