#pragma once

// How a table of numbers begins: its separator, its header, and what its first column is.

#include <string>
#include <utility>

#include "io/input.hpp"
#include "io/text.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// The shape of a table, going by its first lines.
struct CsvHead {
  bool commas = false;
  bool labels = false;        ///< the first column has ids or times
  TableText text;             ///< all but the rows
  std::uint64_t columns = 0;  ///< of numbers
  std::uint64_t line = 0;
  std::uint64_t offset = 0;  ///< of the first row
};

/// With `find_labels`, finds out whether the first column has ids or times: by its name, or because
/// it alone has text.
CsvHead read_csv_head(const Input& input, bool find_labels);

/// Calls visit(begin, end) for each field of a line. Returns the end of the line.
template <typename Visit>
const char* for_each_field(const char* at, bool commas, const Visit& visit) {
  const char separator = commas ? ',' : ' ';
  for (at = skip_blanks(at);;) {
    const char* end = at;
    while (!at_line_end(end) && *end != separator && (commas || *end != '\t')) ++end;
    const char* last = end;
    while (last > at && is_blank(last[-1])) --last;
    visit(at, last);
    at = skip_blanks(end);
    if (at_line_end(at)) return at;
    if (commas) at = skip_blanks(at + 1);
  }
}

/// Reads a field as a number; NaN where it is empty or says that a value is missing: NA, N/A, null,
/// NULL or None. False for anything else.
bool parse_value(const char* begin, const char* end, double& value);

/// The end of the first field of a line, which may be in quotes.
const char* skip_label(const char* line, bool commas);

/// Calls visit(begin, end) for each number of a row. Returns the end of the line.
template <typename Visit>
const char* for_each_value(const char* line, const CsvHead& head, const Visit& visit) {
  if (!head.labels) return for_each_field(line, head.commas, visit);
  const char* at = skip_label(line, head.commas);
  if (at_line_end(at)) return at;
  return for_each_field(head.commas ? at + 1 : at, head.commas, visit);
}

}  // namespace ngf::io
