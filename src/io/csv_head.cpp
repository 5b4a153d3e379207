#include "io/csv_head.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/fail.hpp"
#include "io/words.hpp"

namespace ngf::io {

namespace {

/// A line with data on it.
struct DataLine {
  std::string text;  ///< behind the blanks at its front, with its '\n'
  std::uint64_t number = 0;
  std::uint64_t offset = 0;

  const char* at() const { return text.data(); }
};

std::optional<DataLine> next_data_line(LineReader& lines) {
  while (lines.next()) {
    const char* const at = skip_blanks(lines.text().data());
    if (is_comment(*at) || at_line_end(at)) continue;
    const auto blanks = static_cast<std::size_t>(at - lines.text().data());
    return DataLine{std::string(lines.text().substr(blanks)), lines.number(), lines.begin()};
  }
  return {};
}

bool has_text(const char* line, bool commas) {
  bool text = false;
  for_each_field(line, commas, [&](const char* begin, const char* end) {
    double value = 0;
    text |= !parse_value(begin, end, value);
  });
  return text;
}

/// Whether the columns behind the first are called 0, 1, 2, ..., as Pandas calls those of arrays.
bool numbers_columns(const char* line) {
  std::uint64_t column = 0;
  bool numbered = true;
  for_each_field(line, true, [&](const char* begin, const char* end) {
    const std::string_view field(begin, static_cast<std::size_t>(end - begin));
    numbered = numbered && field == (column == 0 ? "" : std::to_string(column - 1));
    ++column;
  });
  return numbered && column > 1;
}

/// The first field of a line. One with a broken quote is no label of ours.
std::string label_of(const char* line, bool commas) {
  Word word;
  try {
    parse_word(line, commas ? ',' : ' ', word);
  } catch (const LineError&) {
    return std::string(field_at(line));
  }
  return word.text;
}

/// Whether the first field has text, and all others, of which there are some, are numbers.
bool begins_with_label(const char* line, bool commas) {
  const char* const rest = skip_label(line, commas);
  double value = 0;
  const std::string label = label_of(line, commas);
  return !label.empty() && !parse_number(label.data(), label.data() + label.size(), value) &&
         !at_line_end(rest) && !has_text(commas ? rest + 1 : rest, commas);
}

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), lower_case(name)) != names.end();
}

/// Whether a first column with this name has ids. Pandas writes its index without a name.
bool is_name_of_ids(const std::string& name) {
  return is_one_of(name, {"", "id", "node", "name", "station", "sensor", "index"});
}

bool is_name_of_times(const std::string& name) {
  return is_one_of(name, {"timestamp", "datetime", "date", "time"});
}

/// A date, with or without a time behind it: 2012-03-01T00:05, 3/1/2012 0:05, 01.03.2012.
bool is_time(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" T"), text.size());
  std::array<std::size_t, 3> digits{};
  std::size_t group = 0;
  char separator = '\0';
  for (const char c : text.substr(0, end)) {
    if (is_digit(c)) {
      ++digits[group];
    } else if (group == 2 || std::string_view("-/.").find(c) == std::string_view::npos ||
               (group == 1 && c != separator)) {
      return false;
    } else {
      separator = c;
      ++group;
    }
  }
  const auto day = [](std::size_t count) { return count == 1 || count == 2; };
  return day(digits[1]) &&
         ((digits[0] == 4 && day(digits[2])) || (day(digits[0]) && digits[2] == 4));
}

/// Whether the first line is a header. A row may begin with text, as "a,1.5,2"; then the names of
/// ids and times tell headers whose other names are numbers.
bool is_header(const DataLine& first, const std::optional<DataLine>& second, bool commas,
               bool find_labels) {
  if (!find_labels) return has_text(first.at(), commas);
  const std::string corner = label_of(first.at(), commas);
  const bool row_follows = second && begins_with_label(second->at(), commas);
  if (!has_text(first.at(), commas)) {
    return corner.empty() && (row_follows || (second && commas && numbers_columns(first.at()) &&
                                              label_of(second->at(), commas) == "0"));
  }
  if (!begins_with_label(first.at(), commas)) return true;
  if (is_name_of_times(corner) || is_name_of_ids(corner)) return true;
  return row_follows && !is_time(corner) && is_time(label_of(second->at(), commas));
}

/// The fields of a header; none where it has a broken quote.
std::vector<std::string> fields_of(const DataLine& header, bool commas) {
  const char separator = commas ? ',' : ' ';
  std::vector<std::string> fields;
  Word word;
  try {
    for (const char* at = header.at(); !at_line_end(at);) {
      at = parse_word(at, separator, word);
      fields.push_back(word.text);
      const bool ended = at_line_end(at);
      at = skip_word_separator(at, separator);
      if (commas && !ended && at_line_end(at)) fields.emplace_back();
    }
  } catch (const LineError&) {
    return {};
  }
  return fields;
}

/// Takes the names of the columns. A header may have one for the column of labels or not.
void take_names(const DataLine& header, CsvHead& head) {
  const std::vector<std::string> names = fields_of(header, head.commas);
  const std::size_t first = head.labels && names.size() == head.columns + 1 ? 1 : 0;
  if (names.size() != head.columns + first) return;
  if (first == 1) head.text.corner = names.front();
  for (std::size_t i = first; i < names.size(); ++i) head.text.columns.push_back(names[i]);
}

}  // namespace

bool parse_value(const char* begin, const char* end, double& value) {
  if (begin != end && parse_number(begin, end, value)) return true;
  value = std::numeric_limits<double>::quiet_NaN();
  const std::string_view field(begin, static_cast<std::size_t>(end - begin));
  return field.empty() || field == "NA" || field == "N/A" || field == "null" || field == "NULL" ||
         field == "None";
}

const char* skip_label(const char* line, bool commas) {
  const char* at = skip_quotes(line);
  while (!at_line_end(at) && (commas ? *at != ',' : !is_blank(*at))) ++at;
  return commas ? at : skip_blanks(at);
}

CsvHead read_csv_head(const Input& input, bool find_labels) {
  CsvHead head;
  LineReader lines(input, any_length_of_line);
  std::optional<DataLine> first = next_data_line(lines);
  std::optional<DataLine> second = first ? next_data_line(lines) : std::nullopt;
  std::optional<DataLine> header;
  if (first) {
    head.commas = first->text.find(',') != std::string::npos;
    if (is_header(*first, second, head.commas, find_labels)) {
      header = std::exchange(first, std::move(second));
    }
  }
  if (!first) {
    head.offset = input.size();
    return head;
  }
  head.commas = first->text.find(',') != std::string::npos;
  if (first->text.find(';') != std::string::npos) {
    fail(
        "{}: line {}: has semicolons; separate the columns by commas, and write decimals with a "
        "point",
        input.name(), first->number);
  }
  const bool single = at_line_end(skip_label(first->at(), head.commas));
  if (find_labels && !single) {
    const auto named = [&](const auto& is_name_of) {
      return header && is_name_of(label_of(header->at(), head.commas));
    };
    head.text.times = named(is_name_of_times) || is_time(label_of(first->at(), head.commas));
    head.labels =
        head.text.times || named(is_name_of_ids) || begins_with_label(first->at(), head.commas);
  }
  for_each_value(first->at(), head, [&](const char*, const char*) { ++head.columns; });
  head.line = first->number;
  head.offset = first->offset;
  if (header) take_names(*header, head);
  return head;
}

}  // namespace ngf::io
