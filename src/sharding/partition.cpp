#include "ngf/partition.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"

namespace ngf {

Partition::Partition(std::shared_ptr<Communicator> communicator, Arrangement arrangement)
    : communicator_(std::move(communicator)), arrangement_(std::move(arrangement)) {
  const auto& [order, begins] = arrangement_;
  if (begins.size() != static_cast<std::size_t>(communicator_->size()) + 1 || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end())) {
    detail::fail("a deal needs a share of the nodes for each of {} ranks", communicator_->size());
  }
  if (!order.empty() && order.size() != nodes()) {
    detail::fail("{} numbers for {} nodes that are dealt", order.size(), nodes());
  }
}

RowRange Partition::own() const {
  const auto rank = static_cast<std::size_t>(communicator_->rank());
  return {begins()[rank], begins()[rank + 1]};
}

Partition Partition::of_classes(std::span<const NodeId> class_of) const {
  Arrangement of_classes;
  NodeId classes = 0;
  for (NodeId u = 0, rank = 0; u <= nodes(); ++u) {
    for (; rank < begins().size() && begins()[rank] == u; ++rank) {
      of_classes.begins.push_back(classes);
    }
    if (u < nodes() && class_of[u] == classes) ++classes;
  }
  return {communicator_, std::move(of_classes)};
}

std::vector<std::uint32_t> Partition::ranks() const {
  std::vector<std::uint32_t> result(nodes());
  for (std::size_t q = 0; q + 1 < begins().size(); ++q) {
    std::fill(result.begin() + begins()[q], result.begin() + begins()[q + 1],
              static_cast<std::uint32_t>(q));
  }
  return result;
}

}  // namespace ngf
