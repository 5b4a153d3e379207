#pragma once

#include <string>
#include <string_view>

namespace ngf::io {

/// Bytes of a file, fit for an error: in quotes, printable, at most 40 of them. An object rather
/// than a function, so that a call with a std::string does not find std::quoted.
inline constexpr auto quoted = [](std::string_view bytes) {
  std::string text = "'";
  for (const char byte : bytes.substr(0, 40)) text += byte >= ' ' && byte <= '~' ? byte : '?';
  text += bytes.size() > 40 ? "...'" : "'";
  return text;
};

}  // namespace ngf::io
