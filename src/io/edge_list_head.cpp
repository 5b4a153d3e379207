#include "io/edge_list_head.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/fail.hpp"
#include "graph/name_index.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/named_pairs.hpp"

namespace ngf::io {

namespace {

/// Takes "key=value" pairs from our own comment.
void parse_our_comment(const Input& input, const LineReader& lines, EdgeListHead& head) {
  head.comment_line = lines.number();
  const std::string place = fmt::format("{}: line {}", input.name(), head.comment_line);
  const char* at = skip_blanks(lines.text().data() + our_comment.size());
  for (; !at_line_end(at); at = skip_blanks(skip_field(at))) {
    const std::string_view field = field_at(at);
    std::uint64_t value = 0;
    const std::size_t equals = field.find('=');
    const bool whole = equals < field.size() && is_digit(field.back()) &&
                       parse_digits(at + equals + 1, value) == at + field.size();
    if (field.starts_with("edges=") && whole) {
      head.edges = value;
    } else if (field.starts_with("nodes=") && whole) {
      check_node_count(value, input, place);
      head.nodes = value;
    } else if (field.starts_with("base=") && whole && value <= 1) {
      head.base = static_cast<NodeId>(value);
    } else if (field == "names=yes") {
      head.lists_names = true;
    } else if (field == "directed=yes") {
      head.directed = true;
    } else if (field != "directed=no") {
      fail("{}: {} is not understood; expected edges=M, nodes=N, base=0 or 1, directed=yes or no",
           place, quoted(field));
    }
  }
}

/// Takes the names of the nodes from the comments behind ours.
class NamedNodes {
 public:
  NamedNodes(const Input& input, EdgeListHead& head) : input_(input), head_(head) {}

  void parse(const LineReader& lines) {
    const char* const at = skip_blanks(lines.text().data() + name_comment.size());
    try {
      // Only a line end separates: a name that begins or ends with a blank is in quotes.
      const char* const end = parse_node_name(at, '\n', word_);
      if (!at_line_end(end)) throw LineError{at, "goes on behind the name of a node"};
    } catch (const LineError& error) {
      fail("{}: line {}: {}", input_.name(), lines.number(), error.text);
    }
    if (index_.add(word_.text) != head_.names.size()) {
      fail("{}: line {}: a second node is called {}", input_.name(), lines.number(),
           quoted(word_.text));
    }
    head_.names.push_back(word_.text);
  }

 private:
  const Input& input_;
  EdgeListHead& head_;
  detail::NameIndex index_;
  Word word_;
};

/// The first three columns of a line; fewer where it has fewer.
struct FirstColumns {
  Word from;
  Word to;
  bool pair = false;       ///< there are two ids
  bool single = false;     ///< there is only one
  std::string_view third;  ///< empty: none
  bool has_weight = false;
};

FirstColumns first_columns(const char* at, char separator) {
  FirstColumns columns;
  try {
    at = parse_node_name(at, separator, columns.from);
    columns.single = at_line_end(at);
    at = parse_node_name(skip_word_separator(at, separator), separator, columns.to);
    columns.pair = true;
    at = skip_separator(at);
    columns.has_weight = has_weight_at(at);
    if (*at != '{' && !at_line_end(at)) columns.third = field_at(at);
  } catch (const LineError&) {
    columns.pair = false;
  }
  return columns;
}

/// Column names without case, punctuation and words such as "node" or "id" around them.
std::string role_of(const std::string& text) {
  std::string role;
  for (const char c : lower_case(text)) {
    if ((c >= 'a' && c <= 'z') || is_digit(c)) role += c;
  }
  for (const std::string_view suffix : {"name", "id", "node", "vertex", "station", "sensor"}) {
    if (role.size() > suffix.size() && role.ends_with(suffix)) {
      role.resize(role.size() - suffix.size());
    }
  }
  return role;
}

bool names_columns(const FirstColumns& first) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 19> roles{
      {{"source", "target"},
       {"source", "destination"},
       {"source", "dest"},
       {"source", "sink"},
       {"src", "dst"},
       {"src", "dest"},
       {"src", "tgt"},
       {"from", "to"},
       {"start", "end"},
       {"origin", "destination"},
       {"head", "tail"},
       {"tail", "head"},
       {"sender", "receiver"},
       {"follower", "followee"},
       {"node1", "node2"},
       {"id1", "id2"},
       {"name1", "name2"},
       {"u", "v"},
       {"i", "j"}}};
  const std::pair<std::string, std::string> found{role_of(first.from.text), role_of(first.to.text)};
  return std::any_of(roles.begin(), roles.end(), [&](const auto& role) {
    return found.first == role.first && found.second == role.second;
  });
}

bool is_number(std::string_view field) {
  double value = 0;
  return parse_number(field.data(), field.data() + field.size(), value);
}

/// The data lines of a text, at most this many.
std::vector<const char*> first_data_lines(std::string_view text, std::size_t most) {
  std::vector<const char*> lines;
  for_each_data_line(text, [&](const char* at) {
    if (lines.size() < most) lines.push_back(at);
    return at;
  });
  return lines;
}

/// Whether the first line of a list of names has the names of columns: known ones, or only one, or
/// a third name with numbers below it, or text above lines that do not begin with text.
bool is_header(const std::vector<const char*>& lines, char separator, bool text_follows) {
  const FirstColumns first = first_columns(lines[0], separator);
  if (first.pair && names_columns(first)) return true;
  if (lines.size() < 2) return false;
  const FirstColumns second = first_columns(lines[1], separator);
  if (!first.third.empty() && !is_number(first.third) && is_number(second.third)) return true;
  if (first.single) return is_name(lines[0]);
  return !text_follows && is_text(first.from) && is_text(first.to);
}

/// Sets what the first lines with data, of which `lines` is at the first, say about names.
void find_names(const Input& input, const ReadOptions& options, LineReader& lines,
                EdgeListHead& head) {
  const bool numbers = options.ids == Ids::rows || options.ids == Ids::compact || options.base ||
                       head.base || (head.nodes && !head.lists_names);
  if (numbers && options.ids != Ids::names) return;
  constexpr std::uint64_t window_bytes = std::uint64_t{1} << 16;
  std::string text =
      input.read_at(lines.begin(), std::max<std::uint64_t>(window_bytes, lines.text().size()));
  if (lines.begin() + text.size() < input.size()) text.resize(text.rfind('\n') + 1);
  if (text.empty() || text.back() != '\n') text += '\n';
  const bool text_follows = ids_are_text(text);
  head.named = options.ids == Ids::names || head.lists_names || text_follows;
  if (!head.named) return;
  const std::vector<const char*> first = first_data_lines(text, 2);
  head.separator = separator_of(first.back());
  head.header = !head.lists_names && is_header(first, head.separator, text_follows);
}

bool has_data(const LineReader& lines) {
  const char* const at = skip_blanks(lines.text().data());
  return !is_comment(*at) && !at_line_end(at);
}

}  // namespace

bool ids_are_text(std::string_view text) {
  constexpr std::size_t most_lines = 100;
  std::vector<const char*> lines = first_data_lines(text, most_lines);
  if (lines.size() > 1 && is_name(lines[0])) lines.erase(lines.begin());
  if (lines.empty()) return false;
  const char separator = separator_of(lines[0]);
  std::size_t from = 0;
  std::size_t to = 0;
  for (const char* const line : lines) {
    const FirstColumns columns = first_columns(line, separator);
    const bool both = columns.pair && is_text(columns.from) && is_text(columns.to);
    if (line == lines[0] && !both) return false;
    from += columns.pair && is_text(columns.from) ? 1 : 0;
    to += columns.pair && is_text(columns.to) ? 1 : 0;
  }
  return 2 * from > lines.size() && 2 * to > lines.size();
}

EdgeListHead read_edge_list_head(const Input& input, const ReadOptions& options) {
  EdgeListHead head;
  NamedNodes nodes(input, head);
  bool first = true;
  LineReader lines(input);
  while (lines.next()) {
    if (is_our_edge_list(lines.text())) parse_our_comment(input, lines, head);
    if (head.lists_names && lines.text().starts_with(name_comment)) nodes.parse(lines);
    if (!has_data(lines)) continue;
    const bool may_be_header = std::exchange(first, false);
    if (may_be_header) find_names(input, options, lines, head);
    if (may_be_header && !head.named) head.header = is_name(skip_blanks(lines.text().data()));
    if (may_be_header && head.header) continue;
    const char* const at = skip_blanks(lines.text().data());
    head.weighted =
        head.named ? first_columns(at, head.separator).has_weight : has_weight(lines.text());
    head.offset = lines.begin();
    head.line = lines.number();
    if (head.nodes == 0) {
      fail("{}: line {}: an edge, though a comment promises no nodes", input.name(), head.line);
    }
    return head;
  }
  if (!head.nodes) fail("{}: holds no edges", input.name());
  head.named = head.lists_names;
  head.offset = input.size();
  return head;
}

}  // namespace ngf::io
