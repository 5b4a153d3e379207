#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"
#include "ngf/shells.hpp"

/// Features of nodes for models that know no graph: [X, S_1 X, ..., S_H X], where S_k aggregates
/// the rows of X over the nodes at exactly k hops. An empty shell has zeros.

namespace ngf {

/// What becomes of the rows of X in a shell.
enum class Aggregate {
  mean,  ///< the sum, divided by the number of nodes
  sum,   ///< sums of some rows each in float, added up in double
  max,   ///< the largest value of each column
};

std::string_view aggregate_name(Aggregate aggregate);

struct FeatureOptions {
  Aggregate aggregate = Aggregate::mean;
  /// `hops` is a number. `storage` and `transposed` do not matter: shells are streamed.
  ShellOptions shells;
};

/// How features are computed within the memory budget.
struct FeaturePlan {
  ShellPlan shells;
  Aggregate aggregate = Aggregate::mean;
  std::int64_t width = 0;   ///< columns of X
  NodeId rows_at_once = 0;  ///< rows of the result that one pass over the graph computes
  std::uint64_t bytes = 0;  ///< of the search, of X in panels, and of the rows of a pass

  /// Columns of the result.
  std::int64_t columns() const { return width * (std::int64_t{shells.options.hops} + 1); }
  NodeId passes() const;
};

/// Throws MemoryExceeded, with the smallest sufficient budget, if the work does not fit.
FeaturePlan plan_features(const Graph& graph, std::int64_t width, const FeatureOptions& options);

/// Takes consecutive rows of the result, the first of which is that of node `first`. It may move
/// them away.
using TakeRows = std::function<void(NodeId first, MatrixF& rows)>;

/// Computes the rows of the plan, in the order of the nodes. X has the rows of all nodes, which are
/// finite. Results depend neither on the number of threads nor on the budget. Throws Error for a
/// result beyond the range of float, and Interrupted if `progress` requests a stop.
void stream_features(const Graph& graph, const SignalsView<float>& x, const FeaturePlan& plan,
                     const TakeRows& take, Progress* progress = nullptr);

/// The same as one matrix, which has to fit into the budget.
MatrixF shell_features(const Graph& graph, const SignalsView<float>& x,
                       const FeatureOptions& options, Progress* progress = nullptr);

}  // namespace ngf
