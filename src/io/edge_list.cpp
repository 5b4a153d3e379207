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

#include <bit>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "graph/build_rows.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/pair_lines.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

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

/// Calls visit(id) for each end of each edge, in parallel.
template <typename Visit>
void for_each_id(const std::vector<EdgeBlock>& blocks, int threads, const Visit& visit) {
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (const auto [from, to] : blocks[b].edges) {
      visit(from);
      visit(to);
    }
  });
}

/// True when at least half of the ids smallest..largest occur in the edges.
bool half_occur(const std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest,
                int threads) {
  const std::uint64_t range = std::uint64_t{largest - smallest} + 1;
  if (range > 4 * count_edges(blocks)) return false;
  std::vector<std::uint64_t> seen((range + 63) / 64, 0);
  std::atomic<std::uint64_t> distinct{0};
  const auto is_new = [&](NodeId id) -> std::uint64_t {
    const NodeId place = id - smallest;
    const std::uint64_t bit = std::uint64_t{1} << (place % 64);
    const std::atomic_ref word(seen[place / 64]);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return 0;
    return (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0 ? 1 : 0;
  };
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    if (2 * distinct >= range) return;  // the first blocks settle it for most files
    std::uint64_t found = 0;
    for (const auto [from, to] : blocks[b].edges) found += is_new(from) + is_new(to);
    distinct += found;
  });
  return 2 * distinct >= range;
}

/// Renames the distinct ids of the edges, in increasing order, to 0..N-1. Returns the old id of
/// each new one.
std::vector<NodeId> compact_ids(std::vector<EdgeBlock>& blocks, NodeId smallest, NodeId largest,
                                int threads) {
  // Ids fall into buckets by their leading bits; each bucket is sorted on its own.
  const std::uint64_t ids = 2 * count_edges(blocks);
  const int most_bits = std::clamp(static_cast<int>(std::bit_width(ids / 64)), 1, 16);
  const int shift = std::max(0, static_cast<int>(std::bit_width(largest - smallest)) - most_bits);
  const auto bucket_of = [&](NodeId id) -> std::size_t { return (id - smallest) >> shift; };

  std::vector<std::uint64_t> begins(bucket_of(largest) + 2, 0);
  for_each_id(blocks, threads, [&](NodeId id) {
    std::atomic_ref(begins[bucket_of(id)]).fetch_add(1, std::memory_order_relaxed);
  });
  std::inclusive_scan(begins.begin(), begins.end(), begins.begin());
  std::vector<NodeId> sorted(ids);
  for_each_id(blocks, threads, [&](NodeId id) {
    sorted[std::atomic_ref(begins[bucket_of(id)]).fetch_sub(1, std::memory_order_relaxed) - 1] = id;
  });

  const std::size_t buckets = begins.size() - 1;
  std::vector<std::uint64_t> kept(buckets);
  parallel_for(buckets, threads, [&](std::size_t b) {
    NodeId* const begin = sorted.data() + begins[b];
    NodeId* const end = sorted.data() + begins[b + 1];
    std::sort(begin, end);
    kept[b] = static_cast<std::uint64_t>(std::unique(begin, end) - begin);
  });
  std::uint64_t total = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    std::copy_n(sorted.data() + begins[b], kept[b], sorted.data() + total);
    begins[b] = total;
    total += kept[b];
  }
  begins[buckets] = total;
  sorted.resize(total);
  sorted.shrink_to_fit();

  const auto new_id = [&](NodeId id) {
    const std::size_t bucket = bucket_of(id);
    const NodeId* const begin = sorted.data() + begins[bucket];
    const NodeId* const end = sorted.data() + begins[bucket + 1];
    return static_cast<NodeId>(std::lower_bound(begin, end, id) - sorted.data());
  };
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (Edge& edge : blocks[b].edges) edge = {new_id(edge.from), new_id(edge.to)};
  });
  return sorted;
}

void subtract_base(std::vector<EdgeBlock>& blocks, NodeId base, int threads) {
  if (base == 0) return;
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (Edge& edge : blocks[b].edges) edge = {edge.from - base, edge.to - base};
  });
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
