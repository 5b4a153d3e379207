#include "io/pair_lines.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/aligned.hpp"
#include "base/memory.hpp"
#include "io/words.hpp"

namespace ngf::io {

namespace {

[[noreturn]] void refuse_id(const char* at, const PairRules& rules) {
  const std::string_view field = field_at(at);
  if (at_line_end(at)) {
    throw LineError{at, "ends too early; expected two node ids"};
  }
  Advice advice;
  if (rules.further_columns && is_text({.text = std::string(field)})) {
    advice = {"the option {} takes all ids as names", {{"ids", "names"}}};
  }
  throw LineError{at,
                  fmt::format("{} is not a node id; expected a whole number from {} to {}",
                              quoted(field), rules.first_id, rules.last_id),
                  advice};
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

[[noreturn]] void throw_third_column(const char* at, const PairRules& rules) {
  throw LineError{at, rules.further_columns
                          ? "has a weight, but lines before it have none"
                          : fmt::format("has a third column, {}, where two are expected",
                                        quoted(field_at(at)))};
}

const char* parse_dictionary(const char* at, const char* weight, double* value,
                             bool& further_columns) {
  const char* end = weight;
  while (*end != '}' && !at_field_end(end)) ++end;
  if (!parse_number(weight, end, *value) || !std::isfinite(*value)) {
    throw LineError{at, fmt::format("weight {} is not a finite number",
                                    quoted({weight, static_cast<std::size_t>(end - weight)}))};
  }
  further_columns |= *end != '}';
  return end;
}

/// Reads one to seven digits at once, without a branch for each. Null when there are none, or more.
/// There must be eight bytes to read.
inline const char* parse_short_digits(const char* at, std::uint64_t& value) {
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  std::uint64_t digits = 0;
  std::memcpy(&digits, at, sizeof digits);
  digits ^= 0x3030303030303030;
  // The high bit of each byte that is more than 9. Carries spoil only bytes behind the first.
  const std::uint64_t others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  const int count = std::countr_zero(others) / 8;
  if (count == 0 || count == 8) return nullptr;
  // The first digit is in the lowest byte; zeros move in before it.
  digits <<= 64 - 8 * count;
  digits = digits * 10 + (digits >> 8);
  value = ((digits & 0x000000FF000000FF) * 0x000F424000000064 +
           (digits >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
          32;
  return at + count;
}

}  // namespace

const char* parse_after_ids(const char* at, const PairRules& rules, double* value,
                            bool& further_columns) {
  const char* const weight = *at == '{' ? find_weight(at) : at;
  if (weight == nullptr || at_line_end(weight) || is_comment(*weight)) {
    if (rules.weighted) throw LineError{at, "has no weight, but lines before it have one"};
    further_columns |= *at == '{' && at[1] != '}';
    return at;
  }
  if (!rules.weighted) throw_third_column(weight, rules);
  if (*at == '{') return parse_dictionary(at, weight, value, further_columns);
  at = skip_separator(parse_weight(at, *value));
  if (at_line_end(at) || is_comment(*at)) return at;
  if (!rules.further_columns) {
    throw LineError{at, fmt::format("goes on with {} after the weight", quoted(field_at(at)))};
  }
  further_columns = true;
  return at;
}

namespace {

class PairParser {
 public:
  explicit PairParser(const PairRules& rules) : rules_(rules) {}

  EdgeBlock parse(std::string_view text) {
    // Two halves at a time: a processor overlaps the steps of two lines, but not those of one.
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const char* const middle = skip_line(begin + text.size() / 2);
    Half first(begin, middle, rules_.weighted);
    Half second(middle, end, rules_.weighted);
    while (parse_simple_line(first) && parse_simple_line(second)) {
    }
    // The first half comes first, since the first wrong line is the one to report.
    for (Half* half : {&first, &second}) {
      while (half->at < half->end) {
        if (!parse_simple_line(*half)) parse_line(*half);
      }
    }
    EdgeBlock block;
    block.edges.reserve(first.count() + second.count());
    for (Half* half : {&first, &second}) {
      block.edges.insert(block.edges.end(), half->edges.data(), half->edge);
      block.weights.insert(block.weights.end(), half->weights.data(), half->weight);
    }
    return block;
  }

  bool further_columns() const { return further_columns_; }

 private:
  /// Lines that are parsed one after the other, and what they hold.
  struct Half {
    Half(const char* from, const char* to, bool weighted)
        : at(from),
          end(to),
          // Room for the shortest lines, "1 2" and "1 2 3", and for one that turns out to be wrong.
          edges(static_cast<std::size_t>(to - from) / (weighted ? 6 : 4) + 1),
          weights(weighted ? edges.size() : 0) {}
    Half(const Half&) = delete;
    Half& operator=(const Half&) = delete;

    std::size_t count() const { return static_cast<std::size_t>(edge - edges.data()); }

    const char* at;
    const char* end;
    AlignedVector<Edge> edges;
    AlignedVector<double> weights;
    Edge* edge = edges.data();
    double* weight = weights.data();
  };

  /// Parses what most lines of most files are: two short numbers with one separator. False, and
  /// nothing is done, where the next line is another.
  bool parse_simple_line(Half& half) const {
    if (rules_.weighted || half.at == half.end) return false;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    const char* at = parse_short_digits(half.at, from);
    if (at == nullptr || !(is_blank(*at) || *at == ',')) return false;
    at = parse_short_digits(at + 1, to);
    if (at == nullptr || *at != '\n' || !in_range(from) || !in_range(to)) return false;
    *half.edge++ = {static_cast<NodeId>(from) - rules_.first_id,
                    static_cast<NodeId>(to) - rules_.first_id};
    half.at = at + 1;
    return true;
  }

  bool in_range(std::uint64_t id) const { return id >= rules_.first_id && id <= rules_.last_id; }

  void parse_line(Half& half) {
    const char* at = skip_blanks(half.at);
    if (!is_comment(*at) && !at_line_end(at)) {
      at = parse_id(at, half.edge->from);
      at = parse_id(skip_separator(at), half.edge->to);
      at = parse_after_ids(skip_separator(at), rules_, half.weight, further_columns_);
      half.weight += rules_.weighted ? 1 : 0;
      ++half.edge;
    }
    half.at = skip_line(at);
  }

  const char* parse_id(const char* at, NodeId& id) {
    std::uint64_t value = 0;
    const char* const end = parse_digits(at, value);
    if (end == at || !at_field_end(end) || !in_range(value)) refuse_id(at, rules_);
    id = static_cast<NodeId>(value) - rules_.first_id;
    return end;
  }

  const PairRules& rules_;
  bool further_columns_ = false;
};

}  // namespace

void check_memory_of_pairs(const Input& input, const PieceOptions& options,
                           const PairRules& rules) {
  const std::string sample = input.read_at(options.offset, std::uint64_t{1} << 16);
  if (options.offset + sample.size() == input.size()) return;
  const auto lines = static_cast<std::uint64_t>(std::count(sample.begin(), sample.end(), '\n'));
  const std::uint64_t edges = (input.size() - options.offset) / sample.size() * lines;
  const std::uint64_t arc_bytes = sizeof(NodeId) + sizeof(std::uint16_t);
  const std::uint64_t weight_bytes = rules.weighted ? 3 * sizeof(double) : 0;
  check_budget(edges * (sizeof(Edge) + 2 * arc_bytes + weight_bytes), options.memory,
               fmt::format("{}: reading it", input.name()));
}

Pairs read_pairs(const Input& input, const PieceOptions& options, const PairRules& rules) {
  check_memory_of_pairs(input, options, rules);
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
  const char* const at = skip_separator(skip_field(skip_blanks(line.data())));
  return has_weight_at(skip_separator(skip_field(at)));
}

bool has_weight_at(const char* at) {
  if (*at == '{') return find_weight(at) != nullptr;
  return !at_line_end(at) && !is_comment(*at);
}

}  // namespace ngf::io
