// METIS (Karypis, Kumar, the manual of version 5, section 4.1):
//
//   n m [fmt [ncon]]       fmt: three digits, 1 = there are sizes, node weights, edge weights
//   [size] [weight] ... v1 [weight] v2 [weight] ...        line i: the neighbours of node i, from 1
//
// % begins a comment line, and a blank line is a node without neighbours. Sizes and node weights
// are skipped. An edge is listed from both ends, so the lines have 2m neighbours.

#include "io/metis.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detail/fail.hpp"
#include "io/assemble.hpp"
#include "io/limits.hpp"
#include "io/quote.hpp"
#include "io/row_lines.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

using detail::fail;

struct MetisHead {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t node_values = 0;  ///< size and weights before the neighbours
  bool weighted = false;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;  ///< behind the header
};

/// Takes the numbers of the header, `line`. Throws Error, opened by `place`, for anything else.
void parse_header(const char* at, const std::string& place, MetisHead& head) {
  constexpr std::string_view expected = "expected 'nodes edges [format [weights]]'";
  std::uint64_t format = 0;
  std::uint64_t weights = 1;
  int fields = 0;
  for (std::uint64_t* const value : {&head.nodes, &head.edges, &format, &weights}) {
    if (at_line_end(at)) break;
    const char* const end = parse_digits(at, *value);
    if (end == at || !at_field_end(end)) {
      fail("{}: {} in the header; {}", place, quoted(field_at(at)), expected);
    }
    at = skip_blanks(end);
    ++fields;
  }
  if (fields < 2) fail("{}: one number in the header; {}", place, expected);
  if (!at_line_end(at)) fail("{}: more than four numbers in the header; {}", place, expected);
  if (format > 111 || format / 10 % 10 > 1 || format % 10 > 1) {
    fail("{}: format {}; expected digits 0 or 1 for sizes, node weights, edge weights", place,
         format);
  }
  head.weighted = format % 10 == 1;
  constexpr std::uint64_t many = std::uint64_t{1} << 32;
  head.node_values = format / 100 + (format / 10 % 10) * std::min(weights, many);
}

MetisHead read_metis_head(const Input& input) {
  LineReader lines(input);
  const char* at = nullptr;
  do {
    if (!lines.next()) fail("{}: has no header 'nodes edges'", input.name());
    at = skip_blanks(lines.text().data());
  } while (*at == '%' || at_line_end(at));
  MetisHead head;
  head.line = lines.number();
  head.offset = lines.end();
  const std::string place = fmt::format("{}: line {}", input.name(), head.line);
  parse_header(at, place, head);
  check_node_count(head.nodes, input, place);
  // Even listed from one end only, an edge takes a digit and what separates it from the next.
  const std::uint64_t room = (input.size() - head.offset + 1) / 2;
  if (head.edges > room) {
    fail("{}: promises {} edges, but the file has room for {} at most; is it cut off?", place,
         head.edges, room);
  }
  return head;
}

/// Fields of a text, comments included.
std::size_t count_fields(std::string_view text) {
  std::size_t count = text.front() > ' ' ? 1 : 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    count += text[i] > ' ' && text[i - 1] <= ' ' ? 1 : 0;
  }
  return count;
}

/// Parses the neighbours of one node, up to the line's end.
const char* parse_row(const char* at, const MetisHead& head, NodeId row, EdgeBlock& block) {
  double value = 0;
  for (std::uint64_t i = 0; i < head.node_values; ++i) {
    if (at_line_end(at)) {
      throw LineError{at, fmt::format("ends before the {} numbers that its node should have",
                                      head.node_values)};
    }
    at = skip_blanks(parse_weight(at, value));
  }
  while (!at_line_end(at)) {
    std::uint64_t neighbour = 0;
    const char* const end = parse_digits(at, neighbour);
    if (end == at || !at_field_end(end) || neighbour < 1 || neighbour > head.nodes) {
      throw LineError{at, fmt::format("{} is not a node; expected a whole number from 1 to {}",
                                      quoted(field_at(at)), head.nodes)};
    }
    block.edges.push_back({row, static_cast<NodeId>(neighbour - 1)});
    at = skip_blanks(end);
    if (!head.weighted) continue;
    if (at_line_end(at)) {
      throw LineError{at, fmt::format("ends after neighbour {}, before its weight", neighbour)};
    }
    at = skip_blanks(parse_weight(at, value));
    block.weights.push_back(value);
  }
  return at;
}

Rows parse_rows(std::string_view text, const MetisHead& head) {
  Rows piece;
  const std::size_t most = count_fields(text) / (head.weighted ? 2 : 1);
  piece.entries.edges.reserve(most);
  if (head.weighted) piece.entries.weights.reserve(most);
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at < end; at = skip_line(at)) {
    at = skip_blanks(at);
    if (*at == '%') continue;
    const auto row = static_cast<NodeId>(piece.count++);
    if (at_line_end(at)) continue;
    at = parse_row(at, head, row, piece.entries);
    piece.filled = piece.count;
  }
  return piece;
}

/// The number of the line of a node, for errors.
std::uint64_t line_of(const Input& input, const MetisHead& head, std::uint64_t node) {
  LineReader lines(input, any_length_of_line);
  std::uint64_t rows = 0;
  while (lines.next()) {
    if (lines.number() <= head.line || *skip_blanks(lines.text().data()) == '%') continue;
    if (rows++ == node) break;
  }
  return lines.number();
}

/// Throws Error when the lines are not those that the header promises; where that is harmless, a
/// warning says so.
void check_rows(const Input& input, const MetisHead& head, const RowBlocks& rows,
                std::vector<std::string>& warnings) {
  if (rows.filled > head.nodes) {
    fail("{}: line {}: a line after those of the {} nodes that line {} promises", input.name(),
         line_of(input, head, head.nodes), head.nodes, head.line);
  }
  const std::uint64_t promised = 2 * head.edges;
  if (rows.count < head.nodes && rows.entries != promised) {
    fail(
        "{}: ends after the lines of {} nodes and {} neighbours; line {} promises {} and {}; is "
        "it cut off?",
        input.name(), rows.count, rows.entries, head.line, head.nodes, promised);
  }
  if (rows.count < head.nodes) {
    warnings.push_back(fmt::format("the last {} nodes have no line; they are taken to be isolated",
                                   head.nodes - rows.count));
  }
  if (rows.entries != promised) {
    warnings.push_back(fmt::format("line {} promises {} edges, so {} neighbours, but {} are listed",
                                   head.line, head.edges, promised, rows.entries));
  }
  if (head.node_values > 0) warnings.emplace_back("sizes and weights of nodes are skipped");
}

}  // namespace

ReadResult read_metis(const Input& input, const ReadOptions& options, std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::metis;
  const MetisHead head = read_metis_head(input);
  RowBlocks rows = read_rows(input,
                             {.offset = head.offset,
                              .first_line = head.line + 1,
                              .piece_bytes = piece_bytes,
                              .longest = any_length_of_line,
                              .threads = options.threads,
                              .memory = options.memory,
                              .progress = options.progress},
                             [&](std::string_view text) { return parse_rows(text, head); });
  check_rows(input, head, rows, result.warnings);
  assemble(result, static_cast<NodeId>(head.nodes), std::move(rows.blocks), options,
           Entries::whole_matrix);
  return result;
}

bool is_metis(std::string_view text, bool whole, bool named_so) {
  MetisHead head;
  try {
    parse_header(skip_blanks(text.data()), {}, head);
    if (named_so) return true;
    const auto header_bytes = static_cast<std::size_t>(skip_line(text.data()) - text.data());
    if (header_bytes == text.size()) return false;
    const Rows rows = parse_rows(text.substr(header_bytes), head);
    return rows.filled <= head.nodes && (!whole || rows.entries.edges.size() == 2 * head.edges);
  } catch (const Error&) {
    return false;
  } catch (const LineError&) {
    return false;
  }
}

void write_metis(AtomicFile& file, const Graph& graph, Progress* progress) {
  const std::string name = file.target().string();
  if (graph.directed()) fail("{}: METIS has no directions; write another format", name);
  if (graph.self_loops() > 0) fail("{}: METIS has no self-loops; drop them first", name);
  constexpr double largest = 9007199254740992;  // 2^53: beyond it, not every integer is a double
  for (const double weight : graph.weights()) {
    if (weight < 1 || weight > largest || weight != std::floor(weight)) {
      fail("{}: METIS has weights 1, 2, 3, ... only, and one is {}; write another format", name,
           weight);
    }
  }
  TextWriter out(file, progress);
  out.text(fmt::format("{} {}{}\n", graph.nodes(), graph.edges(), graph.weighted() ? " 1" : ""));
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto row = graph.neighbors(u);
    const auto weights = graph.weights_of(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out.character(' ');
      out.number(std::uint64_t{row[i]} + 1);
      if (graph.weighted()) {
        out.character(' ');
        out.number(static_cast<std::uint64_t>(weights[i]));
      }
    }
    out.character('\n');
  }
  out.finish();
}

}  // namespace ngf::io
