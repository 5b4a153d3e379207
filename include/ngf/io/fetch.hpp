#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "ngf/progress.hpp"

namespace ngf::io {

/// A file to download, with its size and checksum.
struct Download {
  std::string url;
  std::uint64_t size = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  /// An address that the user has typed may be http://. Otherwise only this machine's own may.
  bool allow_http = false;
};

/// Downloads a file to `target`, which appears only when its size and SHA-256 are right. Until then
/// the bytes lie in `target`.part: where an earlier call was cut off or interrupted, they are kept
/// and only the rest is asked for. Redirects are followed, at most 5 of them and never from https
/// to http. Proxies are those that libcurl knows of. Throws Error that names the address and what
/// went wrong with it.
void fetch(const Download& download, const std::filesystem::path& target,
           Progress* progress = nullptr);

}  // namespace ngf::io
