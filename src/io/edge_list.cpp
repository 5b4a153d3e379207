// An edge list: lines "u v", or "u v weight", with
//
//   - spaces, tabs or one comma between the columns, and blanks around them;
//   - comments from # or %, blank lines, one line of column names before the edges;
//   - further columns, which are skipped (KONECT's times);
//   - a dictionary instead of the weight (NetworkX): 1 2 {'weight': 3.0}.
//
// What an id means is not in the file. Ids are row numbers when the smallest is 0 or 1 and at least
// half of the range occurs; otherwise the distinct ids, in increasing order, are the nodes. Lists
// that we write ourselves say it in a comment:
//
//   # ngf edge list: edges=78 nodes=34 base=0 directed=no
//
// A list with that number of edges, which count self-loops, ends in a newline, so that no part of
// it passes for the whole.

#include "io/edge_list.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/fail.hpp"
#include "io/assemble.hpp"
#include "io/contradiction.hpp"
#include "io/ids.hpp"
#include "io/limits.hpp"
#include "io/pair_lines.hpp"
#include "io/quote.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

using detail::fail;

constexpr std::string_view our_comment = "# ngf edge list:";

/// What precedes the first edge.
struct EdgeListHead {
  std::optional<std::uint64_t> edges;
  std::optional<std::uint64_t> nodes;
  std::optional<NodeId> base;
  bool directed = false;
  bool weighted = false;
  std::uint64_t offset = 0;        ///< of the first edge's line, or the file's end
  std::uint64_t line = 0;          ///< the number of that line
  std::uint64_t comment_line = 0;  ///< of our own comment
};

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
    } else if (field == "directed=yes") {
      head.directed = true;
    } else if (field != "directed=no") {
      fail("{}: {} is not understood; expected edges=M, nodes=N, base=0 or 1, directed=yes or no",
           place, quoted(field));
    }
  }
}

EdgeListHead read_edge_list_head(const Input& input) {
  EdgeListHead head;
  bool names_seen = false;
  LineReader lines(input);
  while (lines.next()) {
    const char* const at = skip_blanks(lines.text().data());
    if (is_our_edge_list(lines.text())) parse_our_comment(input, lines, head);
    if (is_comment(*at) || at_line_end(at)) continue;
    if (!std::exchange(names_seen, true) && is_name(at)) continue;
    head.weighted = has_weight(lines.text());
    head.offset = lines.begin();
    head.line = lines.number();
    if (head.nodes == 0) {
      fail("{}: line {}: an edge, though a comment promises no nodes", input.name(), head.line);
    }
    return head;
  }
  if (!head.nodes) fail("{}: holds no edges", input.name());
  head.offset = input.size();
  return head;
}

/// Turns ids into nodes 0..N-1 and returns N.
std::uint64_t number_nodes(const Input& input, const ReadOptions& options, const EdgeListHead& head,
                           Pairs& pairs, ReadResult& result) {
  if (options.ids != Ids::compact) {
    const std::uint64_t needed = pairs.count > 0 ? std::uint64_t{pairs.largest} + 1 : 0;
    if (head.nodes) {
      return check_node_promise(input, options, result, head.comment_line, *head.nodes, needed);
    }
    if (pairs.count == 0) return 0;
    // Ids are already counted from the base where it is known.
    const NodeId base = options.base || head.base ? 0 : std::min<NodeId>(pairs.smallest, 1);
    const bool told = options.ids == Ids::rows || options.base || head.base;
    if (told || (base == pairs.smallest &&
                 half_occur(pairs.blocks, base, pairs.largest, options.threads))) {
      const std::uint64_t nodes = std::uint64_t{pairs.largest} - base + 1;
      check_node_count(nodes, input, fmt::format("{}: its largest id makes", input.name()));
      subtract_base(pairs.blocks, base, options.threads);
      result.first_id += base;
      return nodes;
    }
  }
  if (pairs.count == 0) return 0;
  result.first_id = 0;
  result.original_ids = compact_ids(pairs.blocks, pairs.smallest, pairs.largest, options.threads);
  return result.original_ids.size();
}

PairRules rules_of(const ReadOptions& options, const EdgeListHead& head) {
  PairRules rules{.weighted = head.weighted, .further_columns = true};
  if (options.ids == Ids::compact) return rules;
  if (options.base) {
    rules.first_id = static_cast<NodeId>(*options.base);
  } else if (head.base) {
    rules.first_id = *head.base;
  }
  if (head.nodes && !options.lenient) {
    rules.last_id = static_cast<NodeId>(rules.first_id + *head.nodes - 1);
  }
  return rules;
}

}  // namespace

bool is_our_edge_list(std::string_view line) { return line.starts_with(our_comment); }

ReadResult read_edge_list(const Input& input, const ReadOptions& options, std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::edge_list;
  const EdgeListHead head = read_edge_list_head(input);
  const PairRules rules = rules_of(options, head);
  Pairs pairs =
      read_pairs(input, PieceOptions::of(options, head.offset, head.line, piece_bytes), rules);
  if (head.edges) {
    check_promise(input, options, result, head.comment_line, "edges", *head.edges, pairs.count);
    check_last_newline(input, options, result);
  }
  result.first_id = rules.first_id;
  const std::uint64_t nodes = number_nodes(input, options, head, pairs, result);
  if (pairs.further_columns) {
    result.warnings.emplace_back("columns after the weight are skipped");
  }
  if (head.directed && !options.directed) {
    result.warnings.emplace_back(
        "the file says that its edges are directed; directions are dropped");
  }
  assemble(input, result, static_cast<NodeId>(nodes), std::move(pairs.blocks), options,
           Entries::pairs, [&result](const Edge& edge) {
             const auto& ids = result.original_ids;
             return ids.empty() ? edge_name_from(result.first_id)(edge)
                                : fmt::format("edge {}-{}", ids[edge.from], ids[edge.to]);
           });
  return result;
}

void write_edge_list(AtomicFile& file, const Graph& graph, char separator, Progress* progress) {
  TextWriter out(file, progress);
  out.text(our_comment);
  out.text(fmt::format(" edges={} nodes={} base=0 directed={}\n",
                       graph.edges() + graph.self_loops(), graph.nodes(),
                       graph.directed() ? "yes" : "no"));
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto row = graph.neighbors(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (graph.directed() || row[i] >= u) out.arc_line(graph, u, i, separator, 0);
    }
  }
  out.finish();
}

}  // namespace ngf::io
