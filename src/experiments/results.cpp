// Results as text: results.json with one row per line, and tables.

#include <fmt/format.h>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace {

/// A JSON list with one row per line.
std::string list_text(const std::vector<std::string>& arrays, const std::string& indent) {
  std::string text = "[";
  const char* separator = "\n";
  for (const std::string& array : arrays) {
    const Row rows = Row::parse(array);
    for (const Row& row : rows) {
      text += fmt::format("{}{}  {}", separator, indent, row.dump());
      separator = ",\n";
    }
  }
  return text + "\n" + indent + "]";
}

std::string figure_text(const FigureRows& done) {
  const std::vector<Cell>& cells = done.figure->cells;
  if (cells.empty() || cells.front().part.empty()) return list_text(done.rows, "  ");
  std::string text = "{";
  const char* separator = "\n";
  for (std::size_t i = 0; i < cells.size();) {
    const std::string& part = cells[i].part;
    std::vector<std::string> arrays;
    for (; i < cells.size() && cells[i].part == part; ++i) arrays.push_back(done.rows[i]);
    text += fmt::format("{}    {}: {}", separator, Row(part).dump(), list_text(arrays, "    "));
    separator = ",\n";
  }
  return text + "\n  }";
}

/// A row's cells, separated by commas; names and numbers hold none.
void add_line(std::string& text, const std::vector<std::string>& cells) {
  text += fmt::format("{}\n", fmt::join(cells, ","));
}

std::string cell_text(const Row& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The row's list of values, one for each epoch; null where it has none.
const Row* list_of(const Row& row) {
  for (const auto& [key, value] : row.items()) {
    if (value.is_array()) return &value;
  }
  return nullptr;
}

std::string table_of(const Row& rows) {
  std::string text;
  if (rows.empty()) return text;
  const bool by_epoch = list_of(rows.front()) != nullptr;
  std::vector<std::string> header;
  for (const auto& [key, value] : rows.front().items()) {
    if (value.is_array()) header.emplace_back("epoch");
    header.push_back(key);
  }
  add_line(text, header);
  for (const Row& row : rows) {
    const std::size_t lines = by_epoch ? list_of(row)->size() : 1;
    for (std::size_t t = 0; t < lines; ++t) {
      std::vector<std::string> cells;
      for (const auto& [key, value] : row.items()) {
        if (value.is_array()) cells.push_back(std::to_string(t + 1));
        cells.push_back(cell_text(value.is_array() ? value[t] : value));
      }
      add_line(text, cells);
    }
  }
  return text;
}

}  // namespace

std::string results_text(const Study& study, bool stand_in,
                         const std::vector<FigureRows>& figures) {
  std::string text = fmt::format(
      "{{\n  \"settings\": \"{}\",\n  \"seed\": {},\n  \"size\": \"{}\",\n"
      "  \"stand_in\": {}",
      settings_name(study.settings), study.seed, size_name(study.size), stand_in);
  for (const FigureRows& done : figures) {
    text += fmt::format(",\n  \"{}\": {}", done.figure->name, figure_text(done));
  }
  return text + "\n}\n";
}

std::vector<NamedText> csv_tables(const std::string& results) {
  std::vector<NamedText> tables;
  const Row all = Row::parse(results);
  for (const auto& [name, value] : all.items()) {
    if (value.is_array()) tables.push_back({name + ".csv", table_of(value)});
    if (!value.is_object()) continue;
    for (const auto& [part, rows] : value.items()) {
      tables.push_back({fmt::format("{}_{}.csv", name, part), table_of(rows)});
    }
  }
  return tables;
}

}  // namespace ngf::experiments
