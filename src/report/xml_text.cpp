#include "report/xml_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ngf::report {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// The text with replacement characters for what is no UTF-8, which JSON cannot hold either.
std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80; }

}  // namespace

std::string xml_text(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string result;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const bool control = c >= '\0' && c < ' ' && c != '\t' && c != '\n' && c != '\r';
    // U+FFFE and U+FFFF are three bytes each.
    const bool no_character = valid.compare(i, 2, "\xEF\xBF") == 0 && valid[i + 2] >= '\xBE';
    if (control || no_character) {
      result += replacement;
      i += no_character ? 2 : 0;
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(valid_utf8(text), begins_character));
}

std::string shortened(std::string_view text, std::size_t most) {
  std::string valid = valid_utf8(text);
  std::size_t count = 0;
  std::size_t cut = 0;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (begins_character(valid[i]) && ++count == most) cut = i;
  }
  return count <= most ? valid : valid.substr(0, cut) + "…";
}

}  // namespace ngf::report
