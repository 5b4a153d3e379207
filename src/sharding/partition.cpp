#include "ngf/partition.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace ngf {

Partition::Partition(std::shared_ptr<Communicator> communicator, Arrangement arrangement)
    : communicator_(std::move(communicator)), arrangement_(std::move(arrangement)) {
  const auto& [order, begins] = arrangement_;
  if (begins.size() != static_cast<std::size_t>(communicator_->size()) + 1 || begins.front() != 0 ||
      !std::is_sorted(begins.begin(), begins.end())) {
    detail::fail("a partition needs a range of nodes for each of {} ranks", communicator_->size());
  }
  if (!order.empty() && order.size() != nodes()) {
    detail::fail("{} numbers for {} nodes to distribute", order.size(), nodes());
  }
}

RowRange Partition::own() const {
  const auto rank = static_cast<std::size_t>(communicator_->rank());
  return {begins()[rank], begins()[rank + 1]};
}

}  // namespace ngf
