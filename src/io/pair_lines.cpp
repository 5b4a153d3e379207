#include "io/pair_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "detail/aligned.hpp"
#include "detail/memory.hpp"
#include "io/quote.hpp"

namespace ngf::io {

namespace {

/// Says what is wrong with the id at `at`.
[[noreturn]] void refuse_id(const char* at, const PairRules& rules) {
  const std::string_view field = field_at(at);
  if (at_line_end(at)) {
    throw LineError{at, "ends too early; expected two node ids"};
  }
  throw LineError{at, fmt::format("{} is not a node id; expected a whole number from {} to {}",
                                  quoted(field), rules.first_id, rules.last_id)};
}

/// Where the value of the key 'weight' begins in the dictionary at `at`; null when there is none.
const char* find_weight(const char* at) {
  const std::string_view line(at, static_cast<std::size_t>(skip_line(at) - at));
  for (const std::string_view key : {"'weight':", "\"weight\":"}) {
    const std::size_t found = line.find(key);
    if (found != std::string_view::npos) return skip_blanks(at + found + key.size());
  }
  return nullptr;
}

/// Reads digits as `parse_digits` does, up to eight of them at once and without a branch for each.
/// There must be eight bytes to read.
inline const char* parse_short_digits(const char* at, std::uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::uint64_t digits = 0;
    std::memcpy(&digits, at, sizeof digits);
    digits ^= 0x3030303030303030;
    // The high bit of each byte that is more than 9. Carries spoil only bytes behind the first.
    const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
    const int count = std::countr_zero(others) / 8;
    if (count > 0 && count < 8) {
      // The first digit is in the lowest byte; zeros move in before it.
      digits <<= 64 - 8 * count;
      digits = digits * 10 + (digits >> 8);
      value = ((digits & 0x000000FF000000FF) * 0x000F424000000064 +
               (digits >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
              32;
      return at + count;
    }
  }
  return parse_digits(at, value);
}

/// Parses one piece of a file.
class PairParser {
 public:
  explicit PairParser(const PairRules& rules) : rules_(rules) {}

  EdgeBlock parse(std::string_view text) {
    // Room for the shortest lines, "1 2" and "1 2 3", and for one that turns out to be wrong.
    const std::size_t most = text.size() / (rules_.weighted ? 6 : 4) + 1;
    detail::AlignedVector<Edge> edges(most);
    detail::AlignedVector<double> weights(rules_.weighted ? most : 0);
    edge_ = edges.data();
    weight_ = weights.data();
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) at = parse_line(at);
    return {{edges.data(), edge_}, {weights.data(), weight_}};
  }

  bool further_columns() const { return further_columns_; }

 private:
  const char* parse_line(const char* at) {
    at = skip_blanks(at);
    if (is_comment(*at) || at_line_end(at)) return skip_line(at);
    at = parse_id(at, edge_->from);
    at = parse_id(skip_separator(at), edge_->to);
    if (*at == '\n' && !rules_.weighted) {  // most lines of most files
      ++edge_;
      return at + 1;
    }
    at = parse_rest(skip_separator(at));
    ++edge_;
    return skip_line(at);
  }

  const char* parse_id(const char* at, NodeId& id) {
    std::uint64_t value = 0;
    const char* const end = parse_short_digits(at, value);
    if (end == at || !at_field_end(end) || value < rules_.first_id || value > rules_.last_id) {
      refuse_id(at, rules_);
    }
    id = static_cast<NodeId>(value) - rules_.first_id;
    return end;
  }

  /// What follows the ids.
  const char* parse_rest(const char* at) {
    const char* const weight = *at == '{' ? find_weight(at) : at;
    if (weight == nullptr || at_line_end(weight) || is_comment(*weight)) {
      if (rules_.weighted) throw LineError{at, "has no weight, but lines before it have one"};
      further_columns_ |= *at == '{' && at[1] != '}';
      return at;
    }
    if (!rules_.weighted) throw_third_column(weight);
    if (*at == '{') return parse_dictionary(at, weight);
    at = skip_separator(parse_weight(at, *weight_++));
    if (at_line_end(at) || is_comment(*at)) return at;
    if (!rules_.further_columns) {
      throw LineError{at, fmt::format("goes on with {} after the weight", quoted(field_at(at)))};
    }
    further_columns_ = true;
    return at;
  }

  [[noreturn]] void throw_third_column(const char* at) const {
    throw LineError{at, rules_.further_columns
                            ? "has a weight, but lines before it have none"
                            : fmt::format("has a third column, {}, where two are expected",
                                          quoted(field_at(at)))};
  }

  const char* parse_dictionary(const char* at, const char* weight) {
    const char* end = weight;
    while (*end != '}' && !at_field_end(end)) ++end;
    if (!parse_number(weight, end, *weight_) || !std::isfinite(*weight_)) {
      throw LineError{at, fmt::format("weight {} is not a finite number",
                                      quoted({weight, static_cast<std::size_t>(end - weight)}))};
    }
    ++weight_;
    further_columns_ |= *end != '}';
    return end;
  }

  const PairRules& rules_;
  Edge* edge_ = nullptr;
  double* weight_ = nullptr;
  bool further_columns_ = false;
};

/// Throws Error when the lines, going by the first ones, will not fit into memory.
void check_memory(const Input& input, const PieceOptions& options, const PairRules& rules,
                  std::uint64_t memory) {
  const std::string sample = input.read_at(options.offset, std::uint64_t{1} << 16);
  if (options.offset + sample.size() == input.size()) return;
  const auto lines = static_cast<std::uint64_t>(std::count(sample.begin(), sample.end(), '\n'));
  const std::uint64_t edges = (input.size() - options.offset) / sample.size() * lines;
  detail::check_budget(edges * (sizeof(Edge) + (rules.weighted ? sizeof(double) : 0)), memory,
                       fmt::format("{}: reading it", input.name()));
}

}  // namespace

Pairs read_pairs(const Input& input, const PieceOptions& options, const PairRules& rules,
                 std::uint64_t memory) {
  check_memory(input, options, rules, memory);
  struct Range {
    NodeId smallest = largest_id;
    NodeId largest = 0;
    bool further_columns = false;
  };
  Pairs pairs;
  pairs.blocks.resize(count_pieces(input, options));
  std::vector<Range> ranges(pairs.blocks.size());
  for_each_piece(input, options, [&](std::size_t i, std::string_view text) {
    PairParser parser(rules);
    EdgeBlock block = parser.parse(text);
    Range range{.further_columns = parser.further_columns()};
    for (const auto [from, to] : block.edges) {
      range.smallest = std::min({range.smallest, from, to});
      range.largest = std::max({range.largest, from, to});
    }
    pairs.blocks[i] = std::move(block);
    ranges[i] = range;
  });
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    pairs.count += pairs.blocks[i].edges.size();
    pairs.smallest = std::min(pairs.smallest, ranges[i].smallest);
    pairs.largest = std::max(pairs.largest, ranges[i].largest);
    pairs.further_columns |= ranges[i].further_columns;
  }
  return pairs;
}

bool has_weight(std::string_view line) {
  const char* at = skip_separator(skip_field(skip_blanks(line.data())));
  at = skip_separator(skip_field(at));
  if (*at == '{') return find_weight(at) != nullptr;
  return !at_line_end(at) && !is_comment(*at);
}

}  // namespace ngf::io
