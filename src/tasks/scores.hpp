#pragma once

#include <cstdint>
#include <span>

#include "ngf/tasks/classify.hpp"

namespace ngf::tasks {

/// The outputs of one run: node u's begin at data[u * stride].
struct Outputs {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::size_t classes = 0;

  /// The class with the largest output, the first of equal ones.
  std::int32_t label(NodeId u) const;
};

double score(Metric metric, const Outputs& outputs, std::span<const std::int32_t> labels,
             std::span<const NodeId> nodes);

}  // namespace ngf::tasks
