// An edge list: lines "u v", or "u v weight", with
//
//   - spaces, tabs or one comma between the columns, and blanks around them;
//   - comments from # or %, blank lines, one line of column names before the edges;
//   - further columns, which are skipped (KONECT's times);
//   - a dictionary instead of the weight (NetworkX): 1 2 {'weight': 3.0}.
//
// What an id means is not in the file. Ids are row numbers when the smallest is 0 or 1 and at least
// half of the range occurs; otherwise the distinct ids, in increasing order, are the nodes. Ids
// that are text are names of nodes, which are numbered in the order of their first appearance.
// Lists that we write ourselves say it in a comment:
//
//   # ngf edge list: edges=78 nodes=34 base=0 directed=no
//
// or, with the names of all nodes in their order,
//
//   # ngf edge list: edges=1 nodes=2 names=yes directed=no
//   # node Anna
//   # node Bo
//
// A list with that number of edges, which count self-loops, ends in a newline, so that no part of
// it passes for the whole.

#include <bit>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "base/parallel.hpp"
#include "graph/build_rows.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/edge_list_head.hpp"
#include "io/formats.hpp"
#include "io/named_pairs.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

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
  if (options.ids == Ids::compact || head.named) return rules;
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

/// Checks our comment against the number of lines with edges, and the end of the file.
void check_edges(const Input& input, const ReadOptions& options, const EdgeListHead& head,
                 std::uint64_t count, ReadResult& result) {
  if (!head.edges) return;
  check_promise(input, options, result, head.comment_line, "edges", *head.edges, count);
  check_last_newline(input, options, result);
}

/// The edges of a file, between the nodes 0..N-1.
struct Numbered {
  std::vector<EdgeBlock> blocks;
  NodeId nodes = 0;
  bool further_columns = false;
};

Numbered read_numbers(const Input& input, const ReadOptions& options, const EdgeListHead& head,
                      const PieceOptions& pieces, ReadResult& result) {
  const PairRules rules = rules_of(options, head);
  Pairs pairs = read_pairs(input, pieces, rules);
  check_edges(input, options, head, pairs.count, result);
  result.first_id = rules.first_id;
  const std::uint64_t nodes = number_nodes(input, options, head, pairs, result);
  return {std::move(pairs.blocks), static_cast<NodeId>(nodes), pairs.further_columns};
}

/// Warns where the first line may have been a line of column names: both of its ids occur nowhere
/// else.
void doubt_first_line(const EdgeListHead& head, const NamedPairs& pairs, int threads,
                      ReadResult& result) {
  if (head.header || head.lists_names || pairs.count < 2) return;
  std::atomic<std::uint64_t> times{0};
  for_each_id(pairs.blocks, threads, [&](NodeId id) {
    if (id < 2) times.fetch_add(1, std::memory_order_relaxed);
  });
  if (times > 2) return;
  result.warnings.push_back(
      fmt::format("line {}: the names {} and {} occur nowhere else; if they are the names of "
                  "columns, begin the line with #",
                  head.line, quoted(pairs.names[0]), quoted(pairs.names[1])));
}

Numbered read_names(const Input& input, const ReadOptions& options, const EdgeListHead& head,
                    const PieceOptions& pieces, ReadResult& result) {
  NamedPairs pairs =
      read_named_pairs(input, pieces, rules_of(options, head), head.separator, head.names);
  check_edges(input, options, head, pairs.count, result);
  const auto nodes = static_cast<NodeId>(pairs.names.size());
  if (head.lists_names) {
    const std::uint64_t promised = head.nodes.value_or(head.names.size());
    check_promise(input, options, result, head.comment_line, "names of nodes", promised,
                  head.names.size());
    check_node_promise(input, options, result, head.comment_line, promised, nodes);
  } else {
    doubt_first_line(head, pairs, options.threads, result);
    result.notes.push_back(fmt::format(
        "ids are names: {} nodes, numbered in the order of their first appearance", nodes));
  }
  result.dataset.names = std::move(pairs.names);
  return {std::move(pairs.blocks), nodes, pairs.further_columns};
}

/// How errors name an edge of the file.
EdgeName edge_name_in(const ReadResult& result) {
  return [&result](const Edge& edge) {
    if (const NodeNames& names = result.dataset.names; !names.empty()) {
      return fmt::format("edge {}-{}", quoted(names[edge.from]), quoted(names[edge.to]));
    }
    const auto& ids = result.original_ids;
    return ids.empty() ? edge_name_from(result.first_id)(edge)
                       : fmt::format("edge {}-{}", ids[edge.from], ids[edge.to]);
  };
}

/// "u v", or "u v weight", for the arc at `index` in row u.
void write_named_arc(TextWriter& out, const Graph& graph, const NodeNames& names, NodeId u,
                     std::size_t index, char separator) {
  out.text(as_field(names[u], separator));
  out.character(separator);
  out.text(as_field(names[graph.neighbors(u)[index]], separator));
  if (graph.weighted()) {
    out.character(separator);
    out.number(graph.weights_of(u)[index]);
  }
  out.character('\n');
}

}  // namespace

std::string_view ids_name(Ids ids) {
  return detail::name_in({"detect", "rows", "compact", "names"}, ids);
}

bool is_our_edge_list(std::string_view line) { return line.starts_with(our_comment); }

ReadResult read_edge_list(const Input& input, const ReadOptions& options, std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::edge_list;
  const EdgeListHead head = read_edge_list_head(input, options);
  const auto pieces = PieceOptions::of(options, head.offset, head.line, piece_bytes);
  Numbered edges = head.named ? read_names(input, options, head, pieces, result)
                              : read_numbers(input, options, head, pieces, result);
  if (edges.further_columns) {
    result.warnings.emplace_back("columns after the weight are skipped");
  }
  if (head.directed && !options.directed) {
    result.warnings.emplace_back(
        "the file says that its edges are directed; directions are dropped");
  }
  assemble(input, result, edges.nodes, std::move(edges.blocks), options, Entries::pairs,
           edge_name_in(result));
  return result;
}

void write_edge_list(AtomicFile& file, const Graph& graph, const NodeNames& names, char separator,
                     Progress* progress) {
  TextWriter out(file, progress);
  out.text(our_comment);
  out.text(fmt::format(" edges={} nodes={} {} directed={}\n", graph.edges() + graph.self_loops(),
                       graph.nodes(), names.empty() ? "base=0" : "names=yes",
                       graph.directed() ? "yes" : "no"));
  for (std::size_t u = 0; u < names.size(); ++u) {
    out.text(name_comment);
    out.text(as_field(names[u], separator));
    out.character('\n');
  }
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto row = graph.neighbors(u);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!graph.directed() && row[i] < u) continue;
      if (names.empty()) {
        out.arc_line(graph, u, i, separator, 0);
      } else {
        write_named_arc(out, graph, names, u, i, separator);
      }
    }
  }
  out.finish();
}

}  // namespace ngf::io
