// Embeddings of nodes as rows of length 1, and features as embeddings.

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/fail.hpp"
#include "filter/costs.hpp"
#include "filter/pair_values.hpp"
#include "kernels/line.hpp"

namespace ngf {

namespace filter {

namespace {

/// Calls visit(column, value) for each value of row u that may not be 0.
template <typename Rows, typename Visit>
void visit_row(const Rows& rows, NodeId u, const Visit& visit) {
  if constexpr (std::is_same_v<Rows, SparseMatrixF>) {
    for (SparseMatrixF::InnerIterator it(rows, static_cast<Eigen::Index>(u)); it; ++it) {
      visit(static_cast<std::uint32_t>(it.col()), static_cast<double>(it.value()));
    }
  } else {
    for (Eigen::Index f = 0; f < rows.cols(); ++f) {
      const auto value = static_cast<double>(rows(static_cast<Eigen::Index>(u), f));
      visit(static_cast<std::uint32_t>(f), value);
    }
  }
}

/// Throws Error unless all values are finite. Returns the number of those that are not 0.
template <typename Rows>
std::uint64_t check_values(const Rows& rows) {
  std::uint64_t entries = 0;
  for (NodeId u = 0; u < static_cast<NodeId>(rows.rows()); ++u) {
    visit_row(rows, u, [&](std::uint32_t f, double value) {
      if (!std::isfinite(value)) {
        fail("the embedding of node {} has {} in column {}; expected a finite number", u, value, f);
      }
      if (value != 0) ++entries;
    });
  }
  return entries;
}

using Entries = std::vector<std::pair<std::uint32_t, double>>;

/// Divides them by their norm, which may be beyond the range of double.
void make_unit(Entries& row) {
  double largest = 0;
  for (const auto& [column, value] : row) largest = std::max(largest, std::abs(value));
  double sum = 0;
  for (auto& [column, value] : row) {
    value /= largest;
    sum += value * value;
  }
  for (auto& [column, value] : row) value /= std::sqrt(sum);
}

/// The rows times `weights` of columns, empty standing for ones, each then divided by its norm.
template <typename Rows>
UnitRows make_unit_rows(const Rows& rows, const std::vector<double>& weights) {
  UnitRows result;
  result.nodes = static_cast<NodeId>(rows.rows());
  result.width = static_cast<std::size_t>(rows.cols());
  const double cells = static_cast<double>(result.nodes) * static_cast<double>(result.width);
  const auto entries = static_cast<double>(check_values(rows));
  const bool whole = entries > costs::whole_embeddings_above * cells;
  if (whole) {
    constexpr std::size_t line = kernels::columns_in_line<float>;
    result.lines = (result.width + line - 1) / line;
    result.whole.resize(result.nodes * result.lines * line);
    std::fill(result.whole.begin(), result.whole.end(), 0.0F);
  } else {
    result.offsets.push_back(0);
  }
  Entries row;
  for (NodeId u = 0; u < result.nodes; ++u) {
    row.clear();
    visit_row(rows, u, [&](std::uint32_t f, double value) {
      const double weighted = weights.empty() ? value : value * weights[f];
      if (weighted != 0) row.emplace_back(f, weighted);
    });
    std::ranges::sort(row);
    if (row.empty()) ++result.zero_rows;
    make_unit(row);
    for (const auto& [column, value] : row) {
      if (whole) {
        const std::size_t begin = u * result.lines * kernels::columns_in_line<float>;
        result.whole[begin + column] = static_cast<float>(value);
      } else {
        result.columns.push_back(column);
        result.values.push_back(static_cast<float>(value));
      }
    }
    if (!whole) result.offsets.push_back(result.columns.size());
  }
  return result;
}

/// log(N / number of nodes with the feature) by feature; empty where values are no counts.
template <typename Rows>
std::vector<double> feature_weights(const Rows& rows) {
  std::vector<double> found(static_cast<std::size_t>(rows.cols()), 0);
  bool counts = true;
  for (NodeId u = 0; u < static_cast<NodeId>(rows.rows()); ++u) {
    visit_row(rows, u, [&](std::uint32_t f, double value) {
      if (value < 0) counts = false;
      if (value != 0) ++found[f];
    });
  }
  if (!counts) return {};
  const auto nodes = static_cast<double>(rows.rows());
  for (double& count : found) count = count > 0 ? std::log(nodes / count) : 0;
  return found;
}

/// Of features: the sum of a row, which TF-IDF divides it by, goes into its norm.
template <typename Rows>
std::shared_ptr<const UnitRows> unit_features(const Rows& features) {
  const std::vector<double> weights = feature_weights(features);
  auto rows = std::make_shared<const UnitRows>(make_unit_rows(features, weights));
  if (rows->nodes > 0 && rows->zero_rows == rows->nodes) {
    fail("TF-IDF makes all features 0, because each is 0 or at every node; give embeddings");
  }
  return rows;
}

}  // namespace

std::uint64_t UnitRows::bytes() const {
  return offsets.size() * sizeof(offsets[0]) + columns.size() * sizeof(columns[0]) +
         values.size() * sizeof(values[0]) + whole.size() * sizeof(whole[0]);
}

}  // namespace filter

Embeddings::Embeddings(const Matrix& rows)
    : Embeddings(std::make_shared<const filter::UnitRows>(filter::make_unit_rows(rows, {}))) {}
Embeddings::Embeddings(const MatrixF& rows)
    : Embeddings(std::make_shared<const filter::UnitRows>(filter::make_unit_rows(rows, {}))) {}
Embeddings::Embeddings(const SparseMatrixF& rows)
    : Embeddings(std::make_shared<const filter::UnitRows>(filter::make_unit_rows(rows, {}))) {}
Embeddings::Embeddings(std::shared_ptr<const filter::UnitRows> rows) : rows_(std::move(rows)) {}

NodeId Embeddings::nodes() const { return rows_->nodes; }
NodeId Embeddings::zero_rows() const { return rows_->zero_rows; }
std::uint64_t Embeddings::bytes() const { return rows_->bytes(); }

Embeddings feature_embeddings(const Dataset& dataset) {
  return std::visit(
      []<typename Features>(const Features& features) -> Embeddings {
        if constexpr (std::is_same_v<Features, std::monostate>) {
          fail("the data set has no features to weight pairs by");
        } else {
          return Embeddings(filter::unit_features(features));
        }
      },
      dataset.features);
}

}  // namespace ngf
