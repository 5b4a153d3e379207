#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "ngf/progress.hpp"

struct evp_md_ctx_st;

namespace ngf::io {

/// SHA-256 of bytes that come piece by piece.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// Forgets all that was added.
  void restart();
  /// The sum of all that was added, as 64 lower-case hexadecimal digits; then it starts again.
  std::string finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// The sum of a whole file. Throws Error when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path, const Progress* progress = nullptr);

}  // namespace ngf::io
