#pragma once

// Fields of text in a table or an edge list: names of nodes and of columns.

#include <string>
#include <string_view>

#include "ngf/node_names.hpp"

namespace ngf::io {

/// Behind the text in double quotes at `at`; `at` where there is none, or its end is missing.
const char* skip_quotes(const char* at);

/// What is between the columns of a line: a comma, a tab (then names may contain blanks), or ' '
/// for blanks of any kind. What is in quotes, or behind a '{', does not count.
char separator_of(const char* line);

/// A field, without the blanks around it and without its quotes.
struct Word {
  std::string text;
  bool quoted = false;
};

/// Reads the field at `at`, which must not be a blank, into `word`, and returns its end: a
/// separator, or the end of the line. A field in double quotes may contain separators, and a
/// doubled quote for a quote. Throws LineError for a quote without its end, and for text behind it.
const char* parse_word(const char* at, char separator, Word& word);

/// Behind the separator at `at`, and the blanks around it.
const char* skip_word_separator(const char* at, char separator);

/// Whether the field can only be text: no number, whatever brackets or signs surround it, and no
/// piece of another kind of file (<tag>, {"key", a;b).
bool is_text(const Word& word);

/// The name as a field: in quotes where a reader would take it apart otherwise.
std::string as_field(std::string_view name, char separator);

}  // namespace ngf::io
