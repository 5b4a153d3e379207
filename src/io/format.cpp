#include "ngf/io/format.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "io/edge_list_head.hpp"
#include "io/formats.hpp"
#include "io/planetoid.hpp"
#include "io/text.hpp"
#include "io/words.hpp"

namespace ngf::io {

namespace {

using namespace std::string_view_literals;

/// Files that people have lying around, by their first bytes, and what to do about them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> foreign{{
    {"\x1F\x8B"sv, "is compressed with gzip; decompress it first (gunzip)"},
    {"BZh"sv, "is compressed with bzip2; decompress it first (bunzip2)"},
    {"\xFD"
     "7zXZ"sv,
     "is compressed with xz; decompress it first (unxz)"},
    {"\x28\xB5\x2F\xFD"sv, "is compressed with zstd; decompress it first (unzstd)"},
    {"MATLAB 5.0"sv, "is a MATLAB file; save its matrix with scipy.sparse.save_npz instead"},
    {"\x89HDF"sv, "is an HDF5 file; save its matrix with scipy.sparse.save_npz instead"},
    {"\x80"sv,
     "is a Python pickle; only the files ind.NAME.* of a Planetoid data set are read, under those "
     "names"},
    {"graph ["sv, "is a GML file; save it as an edge list (networkx.write_edgelist)"},
    {"graph\n["sv, "is a GML file; save it as an edge list (networkx.write_edgelist)"},
    {"Creator"sv, "is a GML file; save it as an edge list (networkx.write_edgelist)"},
    {"<"sv, "is an XML file; save it as an edge list (networkx.write_edgelist)"},
    {"{"sv, "is a JSON file; save it as an edge list"},
    {"["sv, "is a JSON file; save it as an edge list"},
    {"\xFF\xFE"sv, "is text in UTF-16; save it as UTF-8"},
    {"\xFE\xFF"sv, "is text in UTF-16; save it as UTF-8"},
}};

constexpr std::uint64_t window_bytes = std::uint64_t{1} << 16;

/// The first lines with data on them.
struct Sample {
  std::string text;        ///< whole lines, or the beginning of one that is very long
  bool whole = false;      ///< nothing follows
  std::uint64_t line = 0;  ///< of the first of them; 0 when there is none
  std::uint64_t offset = 0;
  std::optional<Format> told;  ///< by a comment before them
};

Sample take_sample(const Input& input) {
  Sample sample;
  LineReader lines(input);
  while (sample.line == 0 && lines.next()) {
    const char* const at = skip_blanks(lines.text().data());
    if (is_our_edge_list(lines.text())) sample.told = Format::edge_list;
    if (is_our_table(lines.text())) sample.told = Format::adjacency_csv;
    if (is_comment(*at) || at_line_end(at)) continue;
    sample.line = lines.number();
    sample.offset = lines.begin();
  }
  if (sample.line == 0) return sample;
  sample.text = input.read_at(sample.offset, window_bytes);
  sample.whole = sample.offset + sample.text.size() == input.size();
  const std::size_t newline = sample.text.rfind('\n');
  if (!sample.whole && newline != std::string::npos) sample.text.resize(newline + 1);
  if (sample.text.back() != '\n') sample.text += '\n';
  return sample;
}

/// How many columns the lines of a sample have.
struct Columns {
  std::uint64_t first = 0;
  bool equal = true;
  bool commas = false;
};

/// Columns of one line. Blanks separate only where there are no commas: names may contain blanks.
std::uint64_t columns_of(const char* at, bool commas) {
  std::uint64_t count = 0;
  while (!at_line_end(at) && !is_comment(*at)) {
    ++count;
    if (*at == '{') break;  // a dictionary of NetworkX is one column, whatever is in it
    at = skip_quotes(at);
    while (!at_line_end(at) && (commas ? *at != ',' : !is_blank(*at))) ++at;
    if (*at == ',') ++at;
    at = skip_blanks(at);
  }
  return count;
}

Columns count_columns(std::string_view text) {
  Columns columns;
  bool names_seen = false;
  const char* const end = text.data() + text.size();
  for_each_data_line(text, [&](const char* at) {
    if (!std::exchange(names_seen, true) && is_name(at)) return at;
    if (columns.first == 0) {
      const char* const dictionary_or_end =
          std::find_if(at, end, [](char c) { return c == '{' || c == '\n'; });
      columns.commas = std::find(at, dictionary_or_end, ',') != dictionary_or_end;
      columns.first = columns_of(at, columns.commas);
    }
    columns.equal &= columns_of(at, columns.commas) == columns.first;
    return at;
  });
  return columns;
}

Format detect_text(const Input& input) {
  if (is_matrix_market(input)) return Format::matrix_market;
  const Sample sample = take_sample(input);
  if (sample.told) return *sample.told;
  if (sample.line == 0) fail("{}: holds no data, only comments and blank lines", input.name());
  const std::string ending = lower_case(std::filesystem::path(input.name()).extension().string());
  if (ending == ".mtx" && is_bannerless_matrix_market(input)) return Format::matrix_market;
  const bool named_metis = ending == ".graph" || ending == ".metis";
  const Columns columns = count_columns(sample.text);
  if ((named_metis || !columns.equal) && is_metis(sample.text, sample.whole, named_metis)) {
    return Format::metis;
  }
  if (columns.first == 1 && sample.text.find(';') < sample.text.find('\n')) {
    fail("{}: line {}: has semicolons; separate the columns by commas", input.name(), sample.line);
  }
  if (columns.first == 1 && !columns.commas) {
    fail("{}: line {}: one column; an edge takes two ids (is it a signal?)", input.name(),
         sample.line);
  }
  if (columns.first < 4) return Format::edge_list;
  // Names of two words look like more columns.
  if (!columns.commas && ids_are_text(sample.text)) return Format::edge_list;
  if (!columns.equal) {
    if (!columns.commas) return Format::edge_list;
    fail(
        "{}: its rows differ in length; is the table cut off? (format edge-list reads the first "
        "three "
        "columns anyway)",
        input.name());
  }
  const std::uint64_t rows =
      count_data_lines(input, {.offset = sample.offset, .longest = any_length_of_line}) -
      (is_name(skip_blanks(sample.text.data())) ? 1 : 0);
  if (rows == columns.first) return Format::adjacency_csv;
  if (!columns.commas) return Format::edge_list;
  fail(
      "{}: {} rows and {} columns: neither an edge list, which has 2 or 3 columns, nor the square "
      "table of a graph; is it a signal? (format edge-list reads its first three columns anyway)",
      input.name(), rows, columns.first);
}

}  // namespace

std::string_view format_name(Format format) {
  return detail::name_in({"edge-list", "matrix-market", "metis", "adjacency-csv", "adjacency-npy",
                          "npz-scipy", "npz-edges", "npz-csr", "npz-ppnp", "planetoid"},
                         format);
}

bool is_npy(const Input& input) { return input.read_at(0, 6) == "\x93NUMPY"; }

bool is_zip(const Input& input) {
  const std::string front = input.read_at(0, 4);
  return front == "PK\x03\x04" || front == "PK\x05\x06";
}

void refuse_foreign(const Input& input) {
  if (input.size() == 0) fail("{}: is empty", input.name());
  const std::string front = input.read_at(0, window_bytes);
  for (const auto& [opening, what] : foreign) {
    if (front.starts_with(opening)) fail("{}: {}", input.name(), what);
  }
  const auto odd = std::find_if(front.begin(), front.end(), [](unsigned char c) {
    return (c < ' ' && (c < '\t' || c > '\r')) || c == 0x7F;
  });
  if (odd != front.end()) {
    fail("{}: is neither text nor a file of NumPy or SciPy (byte {} is 0x{:02x})", input.name(),
         odd - front.begin(), static_cast<unsigned char>(*odd));
  }
}

std::optional<std::string> planetoid_name(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  for (const std::string_view ending : planetoid_endings) {
    const std::size_t around = planetoid_file("", ending).size();
    if (file.size() <= around) continue;
    const std::string name = file.substr(4, file.size() - around);
    if (file == planetoid_file(name, ending)) return name;
  }
  return {};
}

Format detect_format(const Input& input) {
  if (is_zip(input)) return Format::npz_scipy;
  if (is_npy(input)) return Format::adjacency_npy;
  const bool pickle = input.read_at(0, 1) == "\x80";
  if (planetoid_name(input.name()) && (pickle || input.name().ends_with(".test.index"))) {
    return Format::planetoid;
  }
  refuse_foreign(input);
  return detect_text(input);
}

}  // namespace ngf::io
