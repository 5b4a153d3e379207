#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ngf::report {

/// The text as XML may hold it, between tags and in attributes: escaped, and with a replacement
/// character for what is no UTF-8 and for what XML has no way to write.
std::string xml_text(std::string_view text);

/// How many characters a text has. Those in pieces of broken UTF-8 count as well.
std::size_t character_count(std::string_view text);

/// The text, cut to that many characters with an ellipsis where it is longer.
std::string shortened(std::string_view text, std::size_t most);

}  // namespace ngf::report
