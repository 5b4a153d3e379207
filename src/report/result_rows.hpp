#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

/// What charts and verdicts read of a results file: rows of its tables, and curves through them.

namespace ngf::report {

/// A line through some rows.
struct Curve {
  std::vector<double> x, y;

  std::size_t lowest() const;
};

/// Rows of one table. The results outlive them.
class Rows {
 public:
  /// The rows of `results[table]`, or of `results["claims"]["norms"]` for "claims_norms"; none
  /// where there is no such table. Throws Error for what is no list of objects.
  Rows(const nlohmann::json& results, std::string table);

  bool empty() const { return rows_.empty(); }
  std::vector<const nlohmann::json*> all() const { return rows_; }

  Rows where(const std::string& key, const nlohmann::json& value) const;
  /// The others.
  Rows without(const std::string& key, const nlohmann::json& value) const;

  /// The rows with the same values of `keys` together, as they first occur, with those values.
  std::vector<std::pair<std::vector<std::string>, Rows>> split(
      const std::vector<const char*>& keys) const;

  /// A number of each row; NaN where it is null, as JSON has no other way to write that.
  std::vector<double> numbers(const std::string& key) const;
  /// The same, in the order of another number.
  std::vector<double> numbers(const std::string& key, const std::string& order) const;
  double first(const std::string& key) const;
  bool has(const std::string& key) const;

  /// From the smallest x to the largest; rows whose y is no finite number are left out.
  Curve curve(const std::string& x, const std::string& y) const;

 private:
  const nlohmann::json& value(const nlohmann::json& row, const std::string& key) const;
  double number(const nlohmann::json& row, const std::string& key) const;

  std::string table_;
  std::vector<const nlohmann::json*> rows_;
};

/// A value as people read it: a text as it is, numbers rounded.
std::string value_text(const nlohmann::json& value);

/// A name of the results as people write it: `er` is Erdős–Rényi. Other names stay as they are.
std::string spoken(const std::string& name);

/// The filters' networks: GCNN and NGCNN.
std::string network_of(const std::string& filter);

}  // namespace ngf::report
