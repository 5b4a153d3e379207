// METIS (Karypis, Kumar, the manual of version 5, section 4.1):
//
//   n m [fmt [ncon]]       fmt: three digits, 1 = there are sizes, node weights, edge weights
//   [size] [weight] ... v1 [weight] v2 [weight] ...        line i: the neighbours of node i, from 1
//
// % begins a comment line, and a blank line is a node without neighbours. Sizes and node weights
// are skipped. An edge is listed from both ends, so the lines have 2m neighbours. The format
// has no self-loops; programs that write some nevertheless count each as an edge, and list it once
// or twice.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/text.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

struct MetisHead {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::uint64_t last_node = 0;    ///< the largest neighbour allowed
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

MetisHead read_metis_head(const Input& input, bool lenient) {
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
  head.last_node = lenient ? std::numeric_limits<NodeId>::max() : head.nodes;
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
    if (end == at || !at_field_end(end) || neighbour < 1 || neighbour > head.last_node) {
      throw LineError{at, fmt::format("{} is not a node; expected a whole number from 1 to {}",
                                      quoted(field_at(at)), head.last_node)};
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

std::uint64_t line_of(const Input& input, const MetisHead& head, std::uint64_t node) {
  LineReader lines(input, any_length_of_line);
  std::uint64_t rows = 0;
  while (lines.next()) {
    if (lines.number() <= head.line || *skip_blanks(lines.text().data()) == '%') continue;
    if (rows++ == node) break;
  }
  return lines.number();
}

/// Whether the number of listed neighbours agrees with the number of edges in the header.
bool has_promised_edges(const MetisHead& head, const RowBlocks& rows, bool directed) {
  if (directed && rows.entries == head.edges) return true;
  if (rows.entries % 2 == 0 && rows.entries / 2 == head.edges) return true;
  std::uint64_t listings = rows.entries;
  for (const EdgeBlock& block : rows.blocks) {
    for (const auto [from, to] : block.edges) listings += from == to ? 1 : 0;
  }
  return listings % 2 == 0 && listings / 2 == head.edges;
}

/// Reports lines that are not those that the header promises; where that is harmless, a warning
/// says so. Returns the number of nodes.
NodeId check_rows(const Input& input, const ReadOptions& options, const MetisHead& head,
                  const RowBlocks& rows, ReadResult& result) {
  if (rows.filled > head.nodes && !options.lenient) {
    throw Error(fmt::format("{}: line {}: a line after those of the {} nodes that line {} promises",
                            input.name(), line_of(input, head, head.nodes), head.nodes, head.line),
                read_anyway());
  }
  if (!has_promised_edges(head, rows, options.directed)) {
    const std::string found =
        rows.count < head.nodes
            ? fmt::format(
                  "the file ends after the lines of {} nodes and {} neighbours (is it cut "
                  "off?)",
                  rows.count, rows.entries)
            : fmt::format("{} neighbours are listed, not twice as many", rows.entries);
    report_contradiction(input, options, result,
                         fmt::format("line {}: promises {} nodes and {} edges, but {}", head.line,
                                     head.nodes, head.edges, found));
  } else if (rows.count < head.nodes) {
    result.warnings.push_back(fmt::format(
        "the last {} nodes have no line; they are taken to be isolated", head.nodes - rows.count));
  }
  if (head.node_values > 0) result.warnings.emplace_back("sizes and weights of nodes are skipped");
  std::uint64_t needed = rows.filled;
  if (options.lenient) {
    for (const EdgeBlock& block : rows.blocks) {
      for (const auto [from, to] : block.edges) needed = std::max(needed, std::uint64_t{to} + 1);
    }
  }
  return check_node_promise(input, options, result, head.line, head.nodes, needed);
}

}  // namespace

ReadResult read_metis(const Input& input, const ReadOptions& options, std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::metis;
  const MetisHead head = read_metis_head(input, options.lenient);
  RowBlocks rows = read_rows(
      input, PieceOptions::of(options, head.offset, head.line + 1, piece_bytes, any_length_of_line),
      [&](std::string_view text) { return parse_rows(text, head); });
  const NodeId nodes = check_rows(input, options, head, rows, result);
  const EdgeName name_of = [&](const Edge& edge) {
    return fmt::format("line {}: {}", line_of(input, head, edge.from), edge_name_from(1)(edge));
  };
  assemble(input, result, nodes, std::move(rows.blocks), options, Entries::whole_matrix, name_of);
  if (const auto& edge = result.counts.one_way; edge && !options.directed) {
    report_contradiction(input, options, result,
                         fmt::format("line {}: node {} lists {}, but node {} does not list {}",
                                     line_of(input, head, edge->from), edge->from + 1, edge->to + 1,
                                     edge->to + 1, edge->from + 1));
  }
  return result;
}

bool is_metis(std::string_view text, bool whole, bool named_so) {
  MetisHead head;
  try {
    parse_header(skip_blanks(text.data()), {}, head);
    if (named_so) return true;
    head.last_node = head.nodes;
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
