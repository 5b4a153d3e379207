#include "io/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "io/text.hpp"

namespace ngf::io {

namespace {

bool ends_word(const char* at, char separator) {
  return at_line_end(at) || *at == separator || (separator == ' ' && *at == '\t');
}

bool is_letter_or_digit(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

/// Of the characters that a line can hold.
bool is_control(char c) {
  return c != '\t' && (static_cast<unsigned char>(c) < ' ' || c == '\x7F');
}

}  // namespace

const char* skip_quotes(const char* at) {
  if (*at != '"') return at;
  for (const char* c = at + 1; !at_line_end(c); ++c) {
    if (*c != '"') continue;
    if (c[1] != '"') return c + 1;
    ++c;
  }
  return at;
}

char separator_of(const char* line) {
  bool tab = false;
  for (const char* at = skip_blanks(line); !at_line_end(at) && *at != '{';) {
    if (*at == ',') return ',';
    tab |= *at == '\t';
    at = std::max(at + 1, skip_quotes(at));
  }
  return tab ? '\t' : ' ';
}

const char* parse_word(const char* at, char separator, Word& word) {
  const char* const begin = at;
  word.text.clear();
  word.quoted = *at == '"';
  if (!word.quoted) {
    while (!ends_word(at, separator)) ++at;
    const char* last = at;
    while (last > begin && is_blank(last[-1])) --last;
    word.text.assign(begin, last);
  } else {
    at = skip_quotes(begin);
    if (at == begin) throw LineError{begin, "has a quote without its end"};
    for (const char* c = begin + 1; c < at - 1; ++c) {
      word.text += *c;
      if (*c == '"') ++c;
    }
    if (separator != ' ') {
      while (*at == ' ' || (*at == '\t' && separator != '\t')) ++at;
    }
    if (!ends_word(at, separator)) throw LineError{begin, "goes on behind a closing quote"};
  }
  if (std::any_of(word.text.begin(), word.text.end(), is_control)) {
    throw LineError{begin, fmt::format("{} holds control characters", quoted(word.text))};
  }
  return at;
}

const char* skip_word_separator(const char* at, char separator) {
  if (separator != ' ' && *at == separator) ++at;
  return separator == '\t' && *at == '\t' ? at : skip_blanks(at);
}

bool is_text(const Word& word) {
  std::string_view text = word.text;
  if (text.empty() || std::string_view("<{[(|=").find(text.front()) != std::string_view::npos ||
      (!word.quoted && text.find(';') != std::string_view::npos)) {
    return false;
  }
  while (!text.empty() && !is_letter_or_digit(text.front())) text.remove_prefix(1);
  while (!text.empty() && !is_letter_or_digit(text.back())) text.remove_suffix(1);
  double value = 0;
  return !text.empty() && !parse_number(text.data(), text.data() + text.size(), value);
}

std::string as_field(std::string_view name, char separator) {
  const bool plain = !name.empty() && name.find_first_of("\"\r\n\t,{") == std::string_view::npos &&
                     (separator != ' ' || name.find(' ') == std::string_view::npos) &&
                     !is_comment(name.front()) && !is_blank(name.front()) && !is_blank(name.back());
  if (plain) return std::string(name);
  std::string field = "\"";
  for (const char c : name) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

}  // namespace ngf::io
