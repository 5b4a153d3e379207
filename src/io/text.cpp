#include "io/text.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"

namespace ngf::io {

namespace {

/// Whole lines of a file, in a buffer of their own.
struct Piece {
  AlignedVector<char> buffer;
  std::string_view lines;
  std::uint64_t offset = 0;  ///< of the first of them in the file
};

/// A LineError with the place of its line in the file.
struct PlacedError {
  std::uint64_t offset;
  std::string text;
  Advice advice = {};
};

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The number of the line that byte `offset` is on.
std::uint64_t line_at(const Input& input, const PieceOptions& options, std::uint64_t offset) {
  constexpr std::uint64_t step = std::uint64_t{1} << 20;
  std::uint64_t line = options.first_line;
  for (std::uint64_t at = options.offset; at < offset; at += step) {
    line += count_lines(input.read_at(at, std::min(step, offset - at)));
  }
  return line;
}

/// The lines that begin in [begin, end), piece `index` of the file. The byte before `begin` tells
/// whether a line begins there; the last line may end behind `end`.
Piece read_piece(const Input& input, const PieceOptions& options, std::size_t index) {
  const std::uint64_t begin = options.offset + index * options.piece_bytes;
  const std::uint64_t end = std::min(begin + options.piece_bytes, input.size());
  const std::uint64_t start = begin == options.offset ? begin : begin - 1;
  for (std::uint64_t slack = 4096;; slack *= 16) {
    const std::uint64_t stop = std::min(end + slack, input.size());
    const std::size_t length = stop - start;
    Piece piece;
    piece.buffer.resize(length + 1 + padding);
    char* const bytes = piece.buffer.data();
    input.read(start, std::span(bytes, length));
    std::fill_n(bytes + length, 1 + padding, '\n');
    char* const last = bytes + (end - 1 - start);
    const char* first = bytes;
    if (start != begin) {
      first = static_cast<const char*>(
          std::memchr(bytes, '\n', static_cast<std::size_t>(last - bytes)));
      if (first == nullptr) return piece;  // one line runs through all of it
      ++first;
    }
    const auto* const newline = static_cast<const char*>(
        std::memchr(last, '\n', static_cast<std::size_t>(bytes + length - last)));
    if (newline != nullptr || stop == input.size()) {
      const char* const past = (newline != nullptr ? newline : bytes + length) + 1;
      piece.lines = {first, static_cast<std::size_t>(past - first)};
      piece.offset = start + static_cast<std::uint64_t>(first - bytes);
      return piece;
    }
    if (slack >= options.longest) {
      throw PlacedError{end - 1, fmt::format("is longer than {} bytes", options.longest)};
    }
  }
}

}  // namespace

bool parse_number(const char* at, const char* end, double& value) {
  if (end - at > 1 && *at == '+' && at[1] != '-') ++at;
  const auto [stop, error] = std::from_chars(at, end, value);
  return error == std::errc() && stop == end;
}

bool is_name(const char* at) {
  double value = 0;
  return !is_digit(*at) && std::string_view("-+.,").find(*at) == std::string_view::npos &&
         !parse_number(at, skip_field(at), value);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

const char* parse_weight(const char* at, double& value) {
  const char* const end = skip_field(at);
  if (!parse_number(at, end, value)) {
    throw LineError{at, fmt::format("{} is not a number", quoted(field_at(at)))};
  }
  if (!std::isfinite(value)) {
    throw LineError{at, fmt::format("weight {} is not finite", quoted(field_at(at)))};
  }
  return end;
}

LineReader::LineReader(const Input& input, std::uint64_t longest)
    : input_(input), longest_(longest) {
  if (input.read_at(0, 3) == "\xEF\xBB\xBF") begin_ = 3;
  window_begin_ = begin_;
}

bool LineReader::next() {
  begin_ += length_;
  length_ = 0;
  if (begin_ >= input_.size()) return false;
  ++number_;
  for (;;) {
    const std::size_t at = begin_ - window_begin_;
    const std::size_t newline = window_.find('\n', at);
    if (newline != std::string::npos) {
      length_ = newline + 1 - at;
      text_ = std::string_view(window_).substr(at, length_);
      return true;
    }
    const std::size_t held = window_.size() - at;
    if (window_begin_ + window_.size() == input_.size()) {
      length_ = held;
      window_ += '\n';
      text_ = std::string_view(window_).substr(at);
      return true;
    }
    if (held >= longest_) {
      fail("{}: line {}: is longer than {} bytes", input_.name(), number_, longest_);
    }
    constexpr std::size_t smallest_window = std::size_t{1} << 16;
    window_ = input_.read_at(begin_, std::max(smallest_window, 4 * held));
    window_begin_ = begin_;
  }
}

std::size_t count_pieces(const Input& input, const PieceOptions& options) {
  const std::uint64_t bytes = input.size() - options.offset;
  return (bytes + options.piece_bytes - 1) / options.piece_bytes;
}

void for_each_piece(const Input& input, const PieceOptions& options,
                    const std::function<void(std::size_t, std::string_view)>& parse) {
  const std::size_t pieces = count_pieces(input, options);
  std::atomic<std::size_t> done{0};
  try {
    parallel_for(pieces, options.threads, [&](std::size_t i) {
      throw_if_stopped(options.progress);
      const Piece piece = read_piece(input, options, i);
      try {
        if (!piece.lines.empty()) parse(i, piece.lines);
      } catch (const LineError& error) {
        const auto within = static_cast<std::uint64_t>(error.at - piece.lines.data());
        throw PlacedError{piece.offset + within, error.text, error.advice};
      }
      const std::size_t now = ++done;
      check_growth(now, pieces, options.memory, input.name());
      if (options.progress != nullptr) options.progress->report(now, pieces);
    });
  } catch (const PlacedError& error) {
    throw Error(fmt::format("{}: line {}: {}", input.name(), line_at(input, options, error.offset),
                            error.text),
                error.advice);
  }
}

std::uint64_t count_data_lines(const Input& input, const PieceOptions& options) {
  std::atomic<std::uint64_t> total{0};
  for_each_piece(input, options, [&](std::size_t /*piece*/, std::string_view text) {
    std::uint64_t count = 0;
    for_each_data_line(text, [&](const char* at) {
      ++count;
      return at;
    });
    total += count;
  });
  return total;
}

RowBlocks read_rows(const Input& input, const PieceOptions& options,
                    const std::function<Rows(std::string_view)>& parse) {
  std::vector<Rows> pieces(count_pieces(input, options));
  for_each_piece(input, options,
                 [&](std::size_t i, std::string_view text) { pieces[i] = parse(text); });
  RowBlocks all;
  std::vector<std::uint64_t> first_row(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    first_row[i] = all.count;
    if (pieces[i].filled > 0) all.filled = all.count + pieces[i].filled;
    all.count += pieces[i].count;
    all.entries += pieces[i].entries.edges.size();
  }
  all.blocks.resize(pieces.size());
  parallel_for(pieces.size(), options.threads, [&](std::size_t i) {
    all.blocks[i] = std::move(pieces[i].entries);
    for (Edge& edge : all.blocks[i].edges) edge.from += static_cast<NodeId>(first_row[i]);
  });
  return all;
}

}  // namespace ngf::io
