// Tables of numbers: one row a line, the columns separated by commas, or by blanks when the first
// line has no comma. Blank lines, comments from # or %, and a first line of names are skipped.
//
// As a graph, entry (u, v) is the weight of u-v, and 0 is no edge.

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "base/fail.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/formats.hpp"
#include "io/text.hpp"
#include "io/text_writer.hpp"

namespace ngf::io {

namespace {

/// Opens tables that are too small to be told from an edge list.
constexpr std::string_view table_comment = "# ngf adjacency table:";

/// Checks our comment, in the first line, and the end of the file against it.
void check_our_comment(const Input& input, const ReadOptions& options, std::uint64_t rows,
                       ReadResult& result) {
  LineReader lines(input, any_length_of_line);
  if (!lines.next() || !is_our_table(lines.text())) return;
  constexpr std::string_view key = "nodes=";
  const char* const at = skip_blanks(lines.text().data() + table_comment.size());
  std::uint64_t nodes = 0;
  if (!field_at(at).starts_with(key) || field_at(at).size() == key.size() ||
      !at_line_end(parse_digits(at + key.size(), nodes))) {
    fail("{}: line 1: {} is not understood; expected nodes=N", input.name(), quoted(field_at(at)));
  }
  check_promise(input, options, result, 1, "rows", nodes, rows);
  check_last_newline(input, options, result);
}

/// The shape of a table, going by its first row.
struct CsvHead {
  bool commas = false;
  bool ids = false;  ///< the first column has ids, which are skipped
  std::uint64_t columns = 0;
  std::uint64_t line = 0;
  std::uint64_t offset = 0;  ///< of the first row
};

/// Calls visit(begin, end) for each field of a line. Returns the end of the line.
template <typename Visit>
const char* for_each_field(const char* at, bool commas, const Visit& visit) {
  const char separator = commas ? ',' : ' ';
  for (at = skip_blanks(at);;) {
    const char* end = at;
    while (!at_line_end(end) && *end != separator && (commas || *end != '\t')) ++end;
    const char* last = end;
    while (last > at && is_blank(last[-1])) --last;
    visit(at, last);
    at = skip_blanks(end);
    if (at_line_end(at)) return at;
    if (commas) at = skip_blanks(at + 1);
  }
}

bool has_names(const char* line, bool commas) {
  bool names = false;
  for_each_field(line, commas, [&](const char* begin, const char* end) {
    double value = 0;
    names |= begin != end && !parse_number(begin, end, value);
  });
  return names;
}

std::string_view first_field(const char* line, bool commas) {
  std::optional<std::string_view> first;
  for_each_field(line, commas, [&](const char* begin, const char* end) {
    if (!first) first.emplace(begin, static_cast<std::size_t>(end - begin));
  });
  return *first;
}

/// Whether a first column with this name has ids. Pandas writes its index without a name.
bool is_name_of_ids(std::string_view field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  const std::string name = lower_case(std::string(field));
  return name.empty() || name == "id" || name == "node" || name == "name" || name == "index";
}

/// Calls visit(begin, end) for each field of a row that is no id. Returns the end of the line.
template <typename Visit>
const char* for_each_value(const char* line, const CsvHead& head, const Visit& visit) {
  bool skip = head.ids;
  return for_each_field(line, head.commas, [&](const char* begin, const char* end) {
    if (!std::exchange(skip, false)) visit(begin, end);
  });
}

/// With `skip_ids`, finds out whether the first column has ids.
CsvHead read_csv_head(const Input& input, bool skip_ids = false) {
  CsvHead head;
  bool names_seen = false;
  LineReader lines(input, any_length_of_line);
  while (lines.next()) {
    const char* const at = skip_blanks(lines.text().data());
    if (is_comment(*at) || at_line_end(at)) continue;
    head.commas = lines.text().find(',') != std::string_view::npos;
    const std::string_view first = first_field(at, head.commas);
    const char* const rest = first.data() + first.size();
    // A row such as "a,1.5,2" has a name as its id and is no line of names.
    const bool has_id = skip_ids && has_names(at, head.commas) && !first.empty() &&
                        !at_line_end(skip_blanks(rest)) && !has_names(rest, head.commas);
    if (!std::exchange(names_seen, true) && !has_id && has_names(at, head.commas)) {
      head.ids = skip_ids && is_name_of_ids(first);
      continue;
    }
    head.ids |= has_id;
    for_each_value(at, head, [&](const char*, const char*) { ++head.columns; });
    head.line = lines.number();
    head.offset = lines.begin();
    return head;
  }
  head.offset = input.size();
  return head;
}

[[noreturn]] void refuse_columns(const char* at, std::uint64_t found, const CsvHead& head) {
  throw LineError{
      at, fmt::format("has {} columns, but line {} has {}", found, head.line, head.columns)};
}

Rows parse_weights(std::string_view text, const CsvHead& head) {
  Rows rows;
  for_each_data_line(text, [&](const char* line) {
    std::uint64_t column = 0;
    const char* const end =
        for_each_field(line, head.commas, [&](const char* at, const char* past) {
          double weight = 0;
          if (!parse_number(at, past, weight) || !std::isfinite(weight)) {
            throw LineError{at,
                            fmt::format("column {} holds {}; expected a finite number", column + 1,
                                        quoted({at, static_cast<std::size_t>(past - at)}))};
          }
          if (weight != 0) {
            rows.entries.edges.push_back(
                {static_cast<NodeId>(rows.count), static_cast<NodeId>(column)});
            rows.entries.weights.push_back(weight);
          }
          ++column;
        });
    if (column != head.columns) refuse_columns(line, column, head);
    ++rows.count;
    return end;
  });
  return rows;
}

/// Rows of each piece, all of which have as many columns as the first.
std::vector<std::uint64_t> count_rows(const Input& input, const CsvHead& head,
                                      const PieceOptions& pieces) {
  std::vector<std::uint64_t> rows(count_pieces(input, pieces), 0);
  for_each_piece(input, pieces, [&](std::size_t i, std::string_view text) {
    for_each_data_line(text, [&](const char* line) {
      std::uint64_t columns = 0;
      const char* const end =
          for_each_value(line, head, [&](const char*, const char*) { ++columns; });
      if (columns != head.columns) refuse_columns(line, columns, head);
      ++rows[i];
      return end;
    });
  });
  return rows;
}

void parse_values(std::string_view text, const CsvHead& head, double* into) {
  for_each_data_line(text, [&](const char* line) {
    return for_each_value(line, head, [&](const char* at, const char* past) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (at != past && !parse_number(at, past, value)) {
        throw LineError{at, fmt::format("{} is not a number",
                                        quoted({at, static_cast<std::size_t>(past - at)}))};
      }
      *into++ = value;
    });
  });
}

}  // namespace

bool is_our_table(std::string_view line) { return line.starts_with(table_comment); }

ReadResult read_adjacency_csv(const Input& input, const ReadOptions& options,
                              std::size_t piece_bytes) {
  ReadResult result;
  result.format = Format::adjacency_csv;
  const CsvHead head = read_csv_head(input);
  const auto pieces =
      PieceOptions::of(options, head.offset, head.line, piece_bytes, any_length_of_line);
  const std::uint64_t rows = count_data_lines(input, pieces);
  check_our_comment(input, options, rows, result);
  if (rows != head.columns) {
    fail("{}: {} rows and {} columns; the table of a graph has as many rows as columns",
         input.name(), rows, head.columns);
  }
  if (rows == 0 && !is_our_table(input.read_at(0, table_comment.size()))) {
    fail("{}: holds no numbers", input.name());
  }
  check_node_count(rows, input, input.name());
  RowBlocks table =
      read_rows(input, pieces, [&](std::string_view text) { return parse_weights(text, head); });
  assemble(input, result, static_cast<NodeId>(rows), std::move(table.blocks), options,
           Entries::whole_matrix);
  return result;
}

Matrix read_csv_matrix(const Input& input, const MatrixReadOptions& options,
                       std::size_t piece_bytes) {
  const CsvHead head = read_csv_head(input, options.skip_ids);
  if (head.columns == 0) fail("{}: holds no numbers", input.name());
  const PieceOptions pieces{.offset = head.offset,
                            .first_line = head.line,
                            .piece_bytes = piece_bytes,
                            .longest = any_length_of_line,
                            .threads = options.threads};
  std::vector<std::uint64_t> rows = count_rows(input, head, pieces);
  const std::uint64_t total = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  std::exclusive_scan(rows.begin(), rows.end(), rows.begin(), std::uint64_t{0});
  check_matrix_budget(input, total, head.columns, options);
  Matrix matrix(static_cast<Eigen::Index>(total), static_cast<Eigen::Index>(head.columns));
  for_each_piece(input, pieces, [&](std::size_t i, std::string_view text) {
    parse_values(text, head, matrix.data() + rows[i] * head.columns);
  });
  return matrix;
}

void write_adjacency_csv(AtomicFile& file, const Graph& graph, Progress* progress) {
  TextWriter out(file, progress);
  if (graph.nodes() < 4) {
    out.text(fmt::format("{} nodes={}\n", table_comment, graph.nodes()));
  }
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    const auto row = graph.neighbors(u);
    const auto weights = graph.weights_of(u);
    std::size_t next = 0;
    for (NodeId v = 0; v < graph.nodes(); ++v) {
      if (v > 0) out.character(',');
      if (next == row.size() || row[next] != v) {
        out.text("0");
      } else {
        out.number(graph.weighted() ? weights[next] : 1.0);
        ++next;
      }
    }
    out.character('\n');
  }
  out.finish();
}

template <typename Real>
void write_csv_rows(AtomicFile& file, const SignalsOf<Real>& rows) {
  TextWriter out(file);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < rows.cols(); ++j) {
      if (j > 0) out.character(',');
      out.number(rows(i, j));
    }
    out.character('\n');
  }
  out.finish();
}

template void write_csv_rows(AtomicFile&, const SignalsOf<float>&);
template void write_csv_rows(AtomicFile&, const SignalsOf<double>&);

void check_csv_shape(const AtomicFile& file, Eigen::Index rows, Eigen::Index columns) {
  if (rows > 0 && columns > 0) return;
  fail("{}: a table needs a row and a column; .npy holds empty matrices", file.target().string());
}

void write_csv_matrix(AtomicFile& file, const Matrix& matrix) {
  check_csv_shape(file, matrix.rows(), matrix.cols());
  write_csv_rows<double>(file, matrix);
}

}  // namespace ngf::io
