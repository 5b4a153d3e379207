#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"

namespace ngf {

/// Which nodes a model learns from, is tuned on and is scored on: sorted node numbers.
struct Split {
  std::vector<NodeId> train;
  std::vector<NodeId> validation;
  std::vector<NodeId> test;
  friend bool operator==(const Split&, const Split&) = default;
};

/// A graph with what is known about its nodes. Everything but the graph may be absent.
struct Dataset {
  Graph graph;
  std::variant<std::monostate, MatrixF, SparseMatrixF> features;
  std::vector<std::int32_t> labels;  ///< empty, or one for each node; < 0 where unknown
  std::vector<Split> splits;

  /// Columns of `features`, 0 where there are none.
  std::int64_t feature_count() const;
  /// Distinct labels that occur.
  std::int32_t class_count() const;
  /// True when anything beside the graph is there.
  bool has_node_data() const;
};

/// The part of a data set on `kept` (strictly increasing), renumbered in that order.
Dataset restrict_to(const Dataset& dataset, std::span<const NodeId> kept);

/// The data set with node order[i] as number i.
Dataset renumber(const Dataset& dataset, std::span<const NodeId> order);

}  // namespace ngf
