// Tables of numbers: one row per line, the columns separated by commas, or by blanks when the first
// line has no comma. Blank lines, comments from # or %, and a first line of names are skipped.
//
// As a graph, entry (u, v) is the weight of u-v, and 0 is no edge.
//
// As signals, a table keeps its first line of names, and a first column of ids or times.

#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "base/fail.hpp"
#include "io/assemble.hpp"
#include "io/checks.hpp"
#include "io/csv_head.hpp"
#include "io/formats.hpp"
#include "io/text.hpp"
#include "io/text_writer.hpp"
#include "io/words.hpp"

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

/// Rows of each piece, all of which have as many columns as the first. Adds the bytes of their
/// labels to `label_bytes`.
std::vector<std::uint64_t> count_rows(const Input& input, const CsvHead& head,
                                      const PieceOptions& pieces,
                                      std::atomic<std::uint64_t>& label_bytes) {
  std::vector<std::uint64_t> rows(count_pieces(input, pieces), 0);
  for_each_piece(input, pieces, [&](std::size_t i, std::string_view text) {
    for_each_data_line(text, [&](const char* line) {
      std::uint64_t columns = 0;
      const char* const end =
          for_each_value(line, head, [&](const char*, const char*) { ++columns; });
      if (columns != head.columns) refuse_columns(line, columns, head);
      ++rows[i];
      if (head.labels) {
        label_bytes += sizeof(std::uint64_t) +
                       static_cast<std::uint64_t>(skip_label(line, head.commas) - line);
      }
      return end;
    });
  });
  return rows;
}

/// Takes the numbers and the labels of the rows of a piece.
void parse_values(std::string_view text, const CsvHead& head, double* into, NodeNames& labels) {
  Word word;
  for_each_data_line(text, [&](const char* line) {
    if (head.labels) {
      parse_word(line, head.commas ? ',' : ' ', word);
      labels.push_back(word.text);
    }
    return for_each_value(line, head, [&](const char* at, const char* past) {
      double value = 0;
      if (!parse_value(at, past, value)) {
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
  const CsvHead head = read_csv_head(input, false);
  const auto pieces =
      PieceOptions::of(options, head.offset, head.line, piece_bytes, any_length_of_line);
  const std::uint64_t rows = count_data_lines(input, pieces);
  check_our_comment(input, options, rows, result);
  if (rows != head.columns) {
    fail("{}: {} rows and {} columns; the adjacency table of a graph is square", input.name(), rows,
         head.columns);
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

Table read_csv_table(const Input& input, const MatrixReadOptions& options, bool find_labels,
                     std::size_t piece_bytes) {
  CsvHead head = read_csv_head(input, find_labels);
  if (head.columns == 0) fail("{}: holds no numbers", input.name());
  const PieceOptions pieces{.offset = head.offset,
                            .first_line = head.line,
                            .piece_bytes = piece_bytes,
                            .longest = any_length_of_line,
                            .threads = options.threads};
  std::atomic<std::uint64_t> label_bytes = 0;
  std::vector<std::uint64_t> rows = count_rows(input, head, pieces, label_bytes);
  const std::uint64_t total = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  std::exclusive_scan(rows.begin(), rows.end(), rows.begin(), std::uint64_t{0});
  // The labels of the pieces, and where they are joined.
  check_matrix_budget(input, total, head.columns, options, 3 * label_bytes);
  Table table;
  table.numbers.resize(static_cast<Eigen::Index>(total), static_cast<Eigen::Index>(head.columns));
  std::vector<NodeNames> labels(rows.size());
  for_each_piece(input, pieces, [&](std::size_t i, std::string_view text) {
    parse_values(text, head, table.numbers.data() + rows[i] * head.columns, labels[i]);
  });
  table.text = std::move(head.text);
  for (const NodeNames& piece : labels) {
    for (std::size_t i = 0; i < piece.size(); ++i) table.text.rows.push_back(piece[i]);
  }
  return table;
}

Matrix read_csv_matrix(const Input& input, const MatrixReadOptions& options,
                       std::size_t piece_bytes) {
  return read_csv_table(input, options, false, piece_bytes).numbers;
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

void begin_csv_table(AtomicFile& file, Eigen::Index rows, Eigen::Index columns,
                     const TableText& text) {
  if (rows == 0 || columns == 0) {
    fail("{}: a table needs a row and a column; .npy holds empty matrices", file.target().string());
  }
  if (text.columns.empty()) return;
  TextWriter out(file);
  const bool labels = !text.rows.empty();
  if (labels && !text.corner.empty()) out.text(as_field(text.corner, ','));
  for (std::size_t j = 0; j < text.columns.size(); ++j) {
    if (j > 0 || labels) out.character(',');
    out.text(as_field(text.columns[j], ','));
  }
  out.character('\n');
  out.finish();
}

template <typename Real>
void write_csv_rows(AtomicFile& file, const SignalsOf<Real>& rows, const NodeNames& labels,
                    std::size_t first) {
  TextWriter out(file);
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (!labels.empty()) out.text(as_field(labels[first + static_cast<std::size_t>(i)], ','));
    for (Eigen::Index j = 0; j < rows.cols(); ++j) {
      if (j > 0 || !labels.empty()) out.character(',');
      out.number(rows(i, j));
    }
    out.character('\n');
  }
  out.finish();
}

template void write_csv_rows(AtomicFile&, const SignalsOf<float>&, const NodeNames&, std::size_t);
template void write_csv_rows(AtomicFile&, const SignalsOf<double>&, const NodeNames&, std::size_t);

void write_csv_table(AtomicFile& file, const Matrix& matrix, const TableText& text) {
  begin_csv_table(file, matrix.rows(), matrix.cols(), text);
  write_csv_rows<double>(file, matrix, text.rows, 0);
}

}  // namespace ngf::io
