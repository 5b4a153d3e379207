#include <curl/curl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <zip.h>

#include <string>

#include "base/parallel.hpp"
#include "common.hpp"
#include "kernels/target.hpp"
#include "verbs.hpp"

namespace ngf::cli {

void print_version(bool json) {
#if defined(__clang__)
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "gcc " __VERSION__;
#endif
  const std::string libraries = fmt::format(
      "libzip {}, libcurl {}, OpenSSL {}", zip_libzip_version(),
      curl_version_info(CURLVERSION_NOW)->version, OpenSSL_version(OPENSSL_VERSION_STRING));
  if (json) {
    print_json({{"version", NGF_VERSION},
                {"compiler", compiler},
                {"target", kernels::current_target()},
                {"targets", kernels::available_targets()},
                {"threads", detail::processor_count()},
                {"libraries", libraries}});
    return;
  }
  fmt::print("ngf {}\ncompiler   {}\ntarget     {} (available: {})\nthreads    {}\nlibraries  {}\n",
             NGF_VERSION, compiler, kernels::current_target(),
             fmt::join(kernels::available_targets(), ", "), detail::processor_count(), libraries);
}

}  // namespace ngf::cli
