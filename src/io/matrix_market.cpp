// Matrix Market (Boisvert, Pozo, Remington, NISTIR 5935, 1996), coordinates only:
//
//   %%MatrixMarket matrix coordinate pattern|real|integer general|symmetric
//   % comments
//   rows columns entries
//   i j [value]            counted from 1; of a symmetric matrix, one triangle
//
// A stored entry is an edge, whatever its value. Without a banner the matrix is general, and real
// when the first entry has a value. Files that we write have a comment that promises a newline at
// their end, so that no part of them passes for the whole.

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/pair_lines.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

constexpr std::string_view banner = "%%matrixmarket";
constexpr std::string_view our_mark = "% written by ngf: the last line ends in a newline";

/// What precedes the entries.
struct MatrixMarketHead {
  bool has_banner = false;
  bool ours = false;
  bool weighted = false;
  bool symmetric = false;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
  std::uint64_t size_line = 0;
  std::uint64_t offset = 0;  ///< behind the line of sizes
};

void parse_banner(const Input& input, std::string_view line, MatrixMarketHead& head) {
  std::array<std::string, 5> words;
  const char* at = line.data();
  for (std::string& word : words) {
    at = skip_blanks(at);
    word = lower_case(field_at(at));
    at = skip_field(at);
  }
  const auto& [mark, object, layout, field, symmetry] = words;
  if (object != "matrix" || layout != "coordinate") {
    fail("{}: line 1: holds {} {}; expected 'matrix' 'coordinate', a sparse matrix", input.name(),
         quoted(object), quoted(layout));
  }
  if (field != "pattern" && field != "real" && field != "integer") {
    fail("{}: line 1: its values are {}; expected 'pattern', 'real' or 'integer'", input.name(),
         quoted(field));
  }
  if (symmetry != "general" && symmetry != "symmetric") {
    fail("{}: line 1: the matrix is {}; expected 'general' or 'symmetric'", input.name(),
         quoted(symmetry));
  }
  head.has_banner = true;
  head.weighted = field != "pattern";
  head.symmetric = symmetry == "symmetric";
}

/// Reads "rows columns entries"; false when the line is something else.
bool parse_sizes(std::string_view line, MatrixMarketHead& head) {
  const char* at = line.data();
  for (std::uint64_t* const size : {&head.rows, &head.columns, &head.entries}) {
    at = skip_blanks(at);
    const char* const end = parse_digits(at, *size);
    if (end == at || !at_field_end(end)) return false;
    at = end;
  }
  return at_line_end(skip_blanks(at));
}

/// Nothing when there is no line of sizes where one should be.
std::optional<MatrixMarketHead> read_matrix_market_head(const Input& input) {
  MatrixMarketHead head;
  LineReader lines(input);
  while (lines.next()) {
    const std::string_view line = lines.text();
    if (lines.number() == 1 && lower_case(line.substr(0, banner.size())) == banner) {
      parse_banner(input, line, head);
    }
    head.ours |= line.starts_with(our_mark);
    const char* const at = skip_blanks(line.data());
    if (is_comment(*at) || at_line_end(at)) continue;
    head.size_line = lines.number();
    head.offset = lines.end();
    if (!parse_sizes(line, head)) return {};
    while (!head.has_banner && lines.next()) {
      const char* const entry = skip_blanks(lines.text().data());
      if (is_comment(*entry) || at_line_end(entry)) continue;
      head.weighted = has_weight(lines.text());
      break;
    }
    return head;
  }
  return {};
}

/// Throws Error unless the sizes make a graph that the file can hold.
void check_sizes(const Input& input, const MatrixMarketHead& head) {
  const std::string place = fmt::format("{}: line {}", input.name(), head.size_line);
  if (head.rows != head.columns) {
    fail("{}: the matrix is {} x {}; a graph needs as many columns as rows", place, head.rows,
         head.columns);
  }
  check_node_count(head.rows, input, place);
  if (head.rows == 0 && head.entries > 0) fail("{}: promises entries but no rows", place);
}

/// Whether there are entries on both sides of the diagonal.
bool both_triangles(const std::vector<EdgeBlock>& blocks, int threads) {
  std::atomic<bool> upper{false};
  std::atomic<bool> lower{false};
  parallel_for(blocks.size(), threads, [&](std::size_t b) {
    for (const auto [row, column] : blocks[b].edges) {
      if (row < column) upper = true;
      if (row > column) lower = true;
      if (upper && lower) return;
    }
  });
  return upper && lower;
}

}  // namespace

ReadResult read_matrix_market(const Input& input, const ReadOptions& options,
                              std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::matrix_market;
  const std::optional<MatrixMarketHead> found = read_matrix_market_head(input);
  if (!found) fail("{}: has no line 'rows columns entries' after its comments", input.name());
  const MatrixMarketHead& head = *found;
  check_sizes(input, head);
  Pairs pairs =
      read_pairs(input, PieceOptions::of(options, head.offset, head.size_line + 1, piece_bytes),
                 {.first_id = 1,
                  .last_id = options.lenient ? largest_id : static_cast<NodeId>(head.rows),
                  .weighted = head.weighted});
  check_promise(input, options, result, head.size_line, "entries", head.entries, pairs.count);
  if (head.ours) check_last_newline(input, options, result);
  const std::uint64_t needed = pairs.count > 0 ? std::uint64_t{pairs.largest} + 1 : 0;
  const NodeId nodes =
      check_node_promise(input, options, result, head.size_line, head.rows, needed);
  const bool both = head.symmetric && both_triangles(pairs.blocks, options.threads);
  assemble(input, result, nodes, std::move(pairs.blocks), options,
           head.symmetric ? Entries::half_a_matrix : Entries::whole_matrix, edge_name_from(1));
  if (both && result.counts.duplicates > 0) {
    report_contradiction(
        input, options, result,
        fmt::format("line 1: says symmetric, so that one triangle is listed, but entries of both "
                    "are, {} of them twice",
                    result.counts.duplicates));
  }
  return result;
}

bool is_matrix_market(const Input& input) {
  return lower_case(input.read_at(0, banner.size())) == banner;
}

bool is_bannerless_matrix_market(const Input& input) {
  const std::optional<MatrixMarketHead> head = read_matrix_market_head(input);
  return head && !head->has_banner &&
         count_data_lines(input, {.offset = head->offset}) == head->entries;
}

void write_matrix_market(AtomicFile& file, const Graph& graph, Progress* progress) {
  TextWriter out(file, progress);
  const std::uint64_t entries = graph.edges() + graph.self_loops();
  out.text(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{}\n{} {} {}\n",
                       graph.weighted() ? "real" : "pattern",
                       graph.directed() ? "general" : "symmetric", our_mark, graph.nodes(),
                       graph.nodes(), entries));
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto row = graph.neighbors(u);
    for (std::size_t i = 0; i < row.size() && (graph.directed() || row[i] <= u); ++i) {
      out.arc_line(graph, u, i, ' ', 1);
    }
  }
  out.finish();
}

}  // namespace ngf::io
