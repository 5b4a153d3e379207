#include "report/result_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "base/fail.hpp"
#include "report/axis.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

constexpr std::string_view claims_prefix = "claims_";

/// Null where there is none.
const json* find_table(const json& results, const std::string& table) {
  if (!results.is_object()) fail("the results are no JSON object");
  if (!table.starts_with(claims_prefix)) {
    return results.contains(table) ? &results[table] : nullptr;
  }
  if (!results.contains("claims")) return nullptr;
  const json& claims = results["claims"];
  if (!claims.is_object()) fail("the results' claims are no JSON object");
  const std::string claim = table.substr(claims_prefix.size());
  return claims.contains(claim) ? &claims[claim] : nullptr;
}

}  // namespace

std::size_t Curve::lowest() const {
  return static_cast<std::size_t>(std::min_element(y.begin(), y.end()) - y.begin());
}

Rows::Rows(const json& results, std::string table) : table_(std::move(table)) {
  const json* const rows = find_table(results, table_);
  if (rows == nullptr) return;
  if (!rows->is_array()) fail("the results' {} is no list", table_);
  for (const json& row : *rows) {
    if (!row.is_object()) fail("the results' {} has a row that is no object", table_);
    rows_.push_back(&row);
  }
}

Rows Rows::where(const std::string& key, const json& wanted) const {
  Rows result = *this;
  std::erase_if(result.rows_, [&](const json* row) { return value(*row, key) != wanted; });
  return result;
}

Rows Rows::without(const std::string& key, const json& unwanted) const {
  Rows result = *this;
  std::erase_if(result.rows_, [&](const json* row) { return value(*row, key) == unwanted; });
  return result;
}

std::vector<std::pair<std::vector<std::string>, Rows>> Rows::split(
    const std::vector<const char*>& keys) const {
  std::vector<std::pair<std::vector<std::string>, Rows>> parts;
  for (const json* row : rows_) {
    std::vector<std::string> values;
    for (const char* key : keys) values.push_back(value_text(value(*row, key)));
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const auto& known) { return known.first == values; });
    if (part == parts.end()) {
      part = parts.emplace(parts.end(), std::move(values), *this);
      part->second.rows_.clear();
    }
    part->second.rows_.push_back(row);
  }
  return parts;
}

std::vector<double> Rows::numbers(const std::string& key) const {
  std::vector<double> result;
  for (const json* row : rows_) result.push_back(number(*row, key));
  return result;
}

std::vector<double> Rows::numbers(const std::string& key, const std::string& order) const {
  Rows sorted = *this;
  std::stable_sort(sorted.rows_.begin(), sorted.rows_.end(), [&](const json* a, const json* b) {
    return number(*a, order) < number(*b, order);
  });
  return sorted.numbers(key);
}

double Rows::first(const std::string& key) const { return number(*rows_.at(0), key); }

bool Rows::has(const std::string& key) const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [&](const json* row) { return row->contains(key); });
}

Curve Rows::curve(const std::string& x, const std::string& y) const {
  const std::vector<double> all_x = numbers(x, x);
  const std::vector<double> all_y = numbers(y, x);
  Curve result;
  for (std::size_t i = 0; i < all_x.size(); ++i) {
    if (!std::isfinite(all_y[i])) continue;
    result.x.push_back(all_x[i]);
    result.y.push_back(all_y[i]);
  }
  return result;
}

const json& Rows::value(const json& row, const std::string& key) const {
  const auto found = row.find(key);
  if (found == row.end()) fail("the results' {} has a row without '{}'", table_, key);
  return *found;
}

double Rows::number(const json& row, const std::string& key) const {
  const json& found = value(row, key);
  if (found.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found.is_number()) fail("the results' {} has a '{}' that is no number", table_, key);
  return found.get<double>();
}

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_number() ? human_number(value.get<double>()) : value.dump();
}

std::string spoken(const std::string& name) {
  static const std::map<std::string, std::string> names{{"er", "Erdős–Rényi"},
                                                        {"ws", "Small world"},
                                                        {"create", "edges created"},
                                                        {"destroy", "edges destroyed"},
                                                        {"both", "created and destroyed"},
                                                        {"positive", "taps of one sign"},
                                                        {"mixed", "taps of mixed signs"},
                                                        {"gf", "GF"},
                                                        {"ngf", "NGF"},
                                                        {"gcn", "GCN"},
                                                        {"sgc", "SGC"},
                                                        {"cora", "Cora"},
                                                        {"citeseer", "Citeseer"},
                                                        {"pubmed", "Pubmed"},
                                                        {"citation", "Synthetic citations"},
                                                        {"sbm", "Block model"}};
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

std::string network_of(const std::string& filter) { return filter == "gf" ? "GCNN" : "NGCNN"; }

}  // namespace ngf::report
