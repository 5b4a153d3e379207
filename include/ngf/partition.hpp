#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ngf/communicator.hpp"
#include "ngf/graph.hpp"
#include "ngf/matrix.hpp"

/// Several processes that work on one graph together.
///
/// Its nodes are distributed among the ranks: each stores its own nodes' rows of the shells, of
/// signals and of what networks compute from them. Signals of other nodes are gathered, and sums
/// are added up in the order of the ranks, so that a result is a function of the partition, and the
/// same but for rounding for every partition.

namespace ngf {

/// Numbers for the nodes of a graph that suit a communicator: those of a rank follow each other,
/// and nodes that walk together, as twins and trees that hang on one node do, have one rank as far
/// as that leaves the ranks about as much work.
struct Arrangement {
  std::vector<NodeId> order;   ///< the old number of each new one
  std::vector<NodeId> begins;  ///< of the ranks, in new numbers
};

/// The work of a node is the number of nodes within `hops` hops.
Arrangement arrange(const Graph& graph, int ranks, std::uint32_t hops);

/// The nodes of a graph, distributed among ranks: rank r has begins[r] up to begins[r + 1] - 1.
class Partition {
 public:
  /// An empty order says that nodes have their old numbers.
  Partition(std::shared_ptr<Communicator> communicator, Arrangement arrangement);

  Communicator& communicator() const { return *communicator_; }
  std::span<const NodeId> begins() const { return arrangement_.begins; }
  NodeId nodes() const { return arrangement_.begins.back(); }
  RowRange own() const;
  /// The number that a node had before they were distributed.
  NodeId old_number(NodeId u) const {
    return arrangement_.order.empty() ? u : arrangement_.order[u];
  }

 private:
  std::shared_ptr<Communicator> communicator_;
  Arrangement arrangement_;
};

/// The signals of all nodes, from those of each rank's own.
template <typename Real>
SignalsOf<Real> gathered(const Partition& partition, const SignalsView<Real>& own);

}  // namespace ngf
