#pragma once

// How all text formats are scanned. Every text that these functions see ends with '\n', whether the
// file does or not, so that a scan needs no other bound.

#include <cstddef>
#include <functional>

#include "io/input.hpp"
#include "ngf/error.hpp"
#include "ngf/io/read.hpp"
#include "ngf/progress.hpp"

namespace ngf::io {

/// Something is wrong in the line that `at` points into. `for_each_piece`, which knows the line's
/// number in the file, turns this into an Error that names it.
struct LineError {
  const char* at;
  std::string text;
  Advice advice = {};
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_comment(char c) { return c == '#' || c == '%'; }
/// '\n', or the '\r' before it. A '\r' elsewhere is no line end, and nothing else either.
inline bool at_line_end(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }
inline const char* skip_blanks(const char* at) {
  while (is_blank(*at)) ++at;
  return at;
}
/// Blanks with at most one comma among them.
inline const char* skip_separator(const char* at) {
  at = skip_blanks(at);
  return *at == ',' ? skip_blanks(at + 1) : at;
}
/// Behind the next '\n'.
inline const char* skip_line(const char* at) {
  while (*at != '\n') ++at;
  return at + 1;
}
inline bool at_field_end(const char* at) { return is_blank(*at) || *at == ',' || at_line_end(at); }
inline const char* skip_field(const char* at) {
  while (!at_field_end(at)) ++at;
  return at;
}
inline std::string_view field_at(const char* at) {
  return {at, static_cast<std::size_t>(skip_field(at) - at)};
}

/// Calls visit(line) for each line of a text with something other than a comment on it, behind its
/// blanks; the visit returns a place on that line.
template <typename Visit>
void for_each_data_line(std::string_view text, const Visit& visit) {
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; at = skip_line(at)) {
    at = skip_blanks(at);
    if (!is_comment(*at) && !at_line_end(at)) at = visit(at);
  }
}

/// Reads digits. More than a 64-bit number holds become the largest.
inline const char* parse_digits(const char* at, std::uint64_t& value) {
  const char* const begin = at;
  std::uint64_t sum = 0;
  for (; is_digit(*at); ++at) sum = sum * 10 + static_cast<std::uint64_t>(*at - '0');
  value = at - begin < 20 ? sum : ~std::uint64_t{0};
  return at;
}

/// Reads a number as C and Python write it, with or without a sign, "nan" and "inf" included.
/// False when [at, end) is none.
bool parse_number(const char* at, const char* end, double& value);

/// True for the name of a column: a field that is no number, nor begins like one.
bool is_name(const char* at);

std::string lower_case(std::string_view text);

/// Reads the field at `at` as a finite number, and returns its end. Throws LineError otherwise.
const char* parse_weight(const char* at, double& value);

/// Lines longer than this are no lines of an edge list.
constexpr std::uint64_t longest_line = std::uint64_t{1} << 20;
/// Rows of a matrix are as long as they are.
constexpr std::uint64_t any_length_of_line = std::uint64_t{1} << 60;

/// The lines of a file from its front, past the byte order mark. It holds one line at a time.
class LineReader {
 public:
  explicit LineReader(const Input& input, std::uint64_t longest = longest_line);

  /// Goes to the next line. False at the end of the file. Throws Error for a line that is too long.
  bool next();
  /// The line, up to and with its '\n'. Valid until the next call of `next`.
  std::string_view text() const { return text_; }
  std::uint64_t number() const { return number_; }        ///< of the line, from 1
  std::uint64_t begin() const { return begin_; }          ///< its offset in the file
  std::uint64_t end() const { return begin_ + length_; }  ///< the offset behind it

 private:
  const Input& input_;
  std::uint64_t longest_;
  std::string window_;  // bytes of the file from window_begin_
  std::uint64_t window_begin_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t length_ = 0;  // without a '\n' that the file does not have
  std::uint64_t number_ = 0;
  std::string_view text_;
};

/// Where the lines that are read in parallel begin, and how.
struct PieceOptions {
  std::uint64_t offset = 0;      ///< of the first line
  std::uint64_t first_line = 1;  ///< its number
  std::size_t piece_bytes = default_piece_bytes;
  std::uint64_t longest = longest_line;
  int threads = 0;
  std::uint64_t memory = 0;  ///< the budget of what is made of the lines; 0: not checked
  Progress* progress = nullptr;

  static constexpr std::size_t default_piece_bytes = std::size_t{1} << 18;

  /// For the lines of a graph, from `offset`, where line `first_line` begins.
  static PieceOptions of(const ReadOptions& options, std::uint64_t offset, std::uint64_t first_line,
                         std::size_t piece_bytes, std::uint64_t longest = longest_line) {
    return {offset,          first_line,     piece_bytes,     longest,
            options.threads, options.memory, options.progress};
  }
};

std::size_t count_pieces(const Input& input, const PieceOptions& options);

/// Cuts the file into pieces of whole lines and calls parse(piece, text) for each, in parallel. The
/// LineError of the first wrong line becomes an Error with its number. No more than one piece per
/// thread is in memory. Behind each text there are `padding` bytes to be read without harm.
void for_each_piece(const Input& input, const PieceOptions& options,
                    const std::function<void(std::size_t, std::string_view)>& parse);
constexpr std::size_t padding = 8;

/// Lines with something other than a comment on them.
std::uint64_t count_data_lines(const Input& input, const PieceOptions& options);

/// Rows that were read. In a piece of a file, they count from the piece's first line.
struct Rows {
  EdgeBlock entries;
  std::uint64_t count = 0;
  std::uint64_t filled = 0;  ///< rows up to and with the last one that has something on it
};

/// The rows of a whole file.
struct RowBlocks {
  std::vector<EdgeBlock> blocks;
  std::uint64_t entries = 0;
  std::uint64_t count = 0;
  std::uint64_t filled = 0;
};

/// Parses pieces of the file in parallel and gives each row its number in the file.
RowBlocks read_rows(const Input& input, const PieceOptions& options,
                    const std::function<Rows(std::string_view)>& parse);

}  // namespace ngf::io
