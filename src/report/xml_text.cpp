#include "report/xml_text.hpp"

#include <array>
#include <cstdint>

namespace ngf::report {

namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

/// The first character of a text that is not empty. What is no UTF-8 is one byte long.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t length = 0;
  if (lead >= 0xC2) length = 2;
  if (lead >= 0xE0) length = 3;
  if (lead >= 0xF0) length = 4;
  if (length == 0 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3FU);
  }
  // The least code of each length, below which the same character has a shorter form.
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < least[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length, true};
}

bool allowed_in_xml(std::uint32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xFFFE && code != 0xFFFF;
}

/// Calls take(character, its bytes) for all characters.
template <typename Take>
void for_each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const Character character = first_character(text);
    take(character, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string result;
  for_each_character(text, [&](const Character& character, std::string_view bytes) {
    if (!character.valid || !allowed_in_xml(character.code)) {
      result += "\xEF\xBF\xBD";
    } else if (bytes == "&") {
      result += "&amp;";
    } else if (bytes == "<") {
      result += "&lt;";
    } else if (bytes == ">") {
      result += "&gt;";
    } else if (bytes == "\"") {
      result += "&quot;";
    } else {
      result += bytes;
    }
  });
  return result;
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for_each_character(text, [&](const Character&, std::string_view) { ++count; });
  return count;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (character_count(text) <= most) return std::string(text);
  std::string result;
  std::size_t count = 0;
  for_each_character(text, [&](const Character&, std::string_view bytes) {
    if (++count < most) result += bytes;
  });
  return result + "…";
}

}  // namespace ngf::report
