#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/node_names.hpp"

namespace ngf {

/// Sorted node numbers of the training, validation and test sets.
struct Split {
  std::vector<NodeId> train;
  std::vector<NodeId> validation;
  std::vector<NodeId> test;
  friend bool operator==(const Split&, const Split&) = default;
};

/// A graph with names, features, labels and splits of its nodes, all of them optional.
struct Dataset {
  Graph graph;
  NodeNames names;  ///< empty, or one for each node, all different
  std::variant<std::monostate, MatrixF, SparseMatrixF> features;
  std::vector<std::int32_t> labels;  ///< empty, or one for each node; < 0 where unknown
  std::vector<Split> splits;

  /// Number of columns of `features`, or 0.
  std::int64_t feature_count() const;
  /// Number of distinct labels that occur. A network may have more outputs: see `output_count`.
  std::int32_t class_count() const;
  /// True if there are features, labels or splits.
  bool has_node_data() const;
};

/// The part of a data set on `kept` (strictly increasing), renumbered in that order.
Dataset restrict_to(const Dataset& dataset, std::span<const NodeId> kept);

/// The data set with node order[i] as number i.
Dataset renumber(const Dataset& dataset, std::span<const NodeId> order);

}  // namespace ngf
