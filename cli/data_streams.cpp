#include "data_streams.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "io/atomic_file.hpp"
#include "io/formats.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "ranks.hpp"
#include "standard_streams.hpp"

namespace ngf::cli {

namespace {

constexpr const char* dash = "-";

}  // namespace

void print_matrix(const Matrix& matrix, const NodeNames& nodes, const NodeNames& columns,
                  std::uint64_t total) {
  constexpr Eigen::Index most_columns = 6;
  const Eigen::Index shown = std::min(matrix.cols(), most_columns);
  std::vector<std::string> names{"node"};
  for (Eigen::Index j = 0; j < shown; ++j) {
    names.push_back(columns.empty() ? fmt::format("[{}]", j)
                                    : std::string(columns[static_cast<std::size_t>(j)]));
  }
  const bool cut = shown < matrix.cols();
  if (cut) names.push_back(fmt::format("... {} columns", matrix.cols()));
  std::vector<std::vector<std::string>> rows;
  const auto count = std::min<Eigen::Index>(matrix.rows(), shown_rows);
  for (Eigen::Index i = 0; i < count; ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(label_of(nodes, static_cast<std::size_t>(i)));
    for (Eigen::Index j = 0; j < shown; ++j) row.push_back(fmt::format("{:.6g}", matrix(i, j)));
    if (cut) row.emplace_back("...");
  }
  print_rows(names, rows, total);
}

bool to_stdout(const std::filesystem::path& out) { return out.empty() || out == dash; }

bool to_terminal(const std::filesystem::path& out) {
  return out.empty() && ::isatty(STDOUT_FILENO) == 1;
}

std::filesystem::path output_path(const std::filesystem::path& out) {
  return to_stdout(out) ? io::standard_output : out;
}

void check_output(const Common& common, const std::filesystem::path& out) {
  if (!to_stdout(out)) return check_writable(out);
  if (common.json) {
    throw CLI::ValidationError("--json",
                               "the data and the JSON object would both go to standard output; "
                               "name a file for the data: -o FILE");
  }
}

std::filesystem::path input_path(const std::filesystem::path& name) {
  static bool taken = false;
  if (name != dash) return name;
  if (taken) throw CLI::ValidationError("-", "standard input can be one of the inputs only");
  taken = true;
  return "/dev/stdin";
}

io::Table read_table_from(const std::filesystem::path& name, const Common& common, int copies) {
  if (name == dash && communicator() != nullptr) {
    throw Error("standard input reaches rank 0 only, but each rank reads the signals; name a file");
  }
  return io::read_table(input_path(name),
                        {.threads = common.threads, .memory = common.memory, .copies = copies});
}

std::string label_of(const NodeNames& names, std::size_t node) {
  return names.empty() ? std::to_string(node) : std::string(names[node]);
}

void print_rows(const std::vector<std::string>& names,
                const std::vector<std::vector<std::string>>& rows, std::uint64_t total) {
  std::vector<std::size_t> widths;
  widths.reserve(names.size());
  for (const std::string& name : names) widths.push_back(name.size());
  for (const auto& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], row[j].size());
  }
  const auto print = [&](const std::vector<std::string>& row) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      fmt::print("{}{:>{}}", j > 0 ? "  " : "", one_line(row[j]), widths[j]);
    }
    fmt::print("\n");
  };
  print(names);
  for (const auto& row : rows) print(row);
  if (rows.size() < total) {
    fmt::print("... {} more rows; write all with -o FILE, or print them with -o -\n",
               total - rows.size());
  }
}

void write_data(const std::filesystem::path& out, const Matrix& matrix, const io::TableText& text,
                bool rows_are_nodes) {
  if (to_terminal(out)) {
    if (rows_are_nodes) {
      return print_matrix(matrix, text.rows, text.columns,
                          static_cast<std::uint64_t>(matrix.rows()));
    }
    return print_matrix(matrix.transpose(), text.columns, text.rows,
                        static_cast<std::uint64_t>(matrix.cols()));
  }
  if (!to_stdout(out)) return io::write_matrix(out, matrix, text);
  io::AtomicFile file(output_path(out));
  io::write_csv_table(file, matrix, text);
  file.commit();
}

void print_summary(const Common& common, const std::filesystem::path& out, std::string_view text) {
  if (!to_stdout(out)) {
    fmt::print("{}", text);
  } else if (!common.quiet && speaks()) {
    std::fflush(stdout);
    write_stderr(text);
  }
}

}  // namespace ngf::cli
