#include "ngf/dataset.hpp"

#include <limits>
#include <set>
#include <span>
#include <utility>

namespace ngf {

namespace {

SparseMatrixF rows_of(const SparseMatrixF& features, std::span<const NodeId> kept) {
  std::vector<Eigen::Triplet<float>> entries;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (SparseMatrixF::InnerIterator it(features, static_cast<Eigen::Index>(kept[i])); it; ++it) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(it.col()), it.value());
    }
  }
  SparseMatrixF result(static_cast<Eigen::Index>(kept.size()), features.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

MatrixF rows_of(const MatrixF& features, std::span<const NodeId> kept) {
  MatrixF result(static_cast<Eigen::Index>(kept.size()), features.cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    result.row(static_cast<Eigen::Index>(i)) = features.row(static_cast<Eigen::Index>(kept[i]));
  }
  return result;
}

/// A graph with what is known of its nodes, which were `kept` in the data set.
Dataset with_node_data(Graph graph, const Dataset& dataset, std::span<const NodeId> kept) {
  Dataset result;
  result.graph = std::move(graph);
  if (const auto* dense = std::get_if<MatrixF>(&dataset.features)) {
    result.features = rows_of(*dense, kept);
  } else if (const auto* sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    result.features = rows_of(*sparse, kept);
  }
  if (!dataset.names.empty()) {
    for (const NodeId u : kept) result.names.push_back(dataset.names[u]);
  }
  if (!dataset.labels.empty()) {
    for (const NodeId u : kept) result.labels.push_back(dataset.labels[u]);
  }
  std::vector<NodeId> new_id(dataset.graph.nodes(), std::numeric_limits<NodeId>::max());
  for (std::size_t i = 0; i < kept.size(); ++i) new_id[kept[i]] = static_cast<NodeId>(i);
  for (const Split& split : dataset.splits) {
    Split& own = result.splits.emplace_back();
    for (const auto part : {&Split::train, &Split::validation, &Split::test}) {
      for (const NodeId u : split.*part) {
        if (new_id[u] != std::numeric_limits<NodeId>::max()) (own.*part).push_back(new_id[u]);
      }
    }
  }
  return result;
}

}  // namespace

std::int64_t Dataset::feature_count() const {
  if (const auto* dense = std::get_if<MatrixF>(&features)) return dense->cols();
  if (const auto* sparse = std::get_if<SparseMatrixF>(&features)) return sparse->cols();
  return 0;
}

std::int32_t Dataset::class_count() const {
  std::set<std::int32_t> distinct(labels.begin(), labels.end());
  distinct.erase(distinct.begin(), distinct.lower_bound(0));
  return static_cast<std::int32_t>(distinct.size());
}

bool Dataset::has_node_data() const {
  return !std::holds_alternative<std::monostate>(features) || !labels.empty() || !splits.empty();
}

Dataset restrict_to(const Dataset& dataset, std::span<const NodeId> kept) {
  return with_node_data(induced_subgraph(dataset.graph, kept), dataset, kept);
}

Dataset renumber(const Dataset& dataset, std::span<const NodeId> order) {
  return with_node_data(renumber(dataset.graph, order), dataset, order);
}

}  // namespace ngf
