#include "tasks/scores.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "ngf/tasks/metrics.hpp"

namespace ngf::tasks {

std::int32_t Outputs::label(NodeId u) const {
  const float* const row = data + u * stride;
  return static_cast<std::int32_t>(std::max_element(row, row + classes) - row);
}

double score(Metric metric, const Outputs& outputs, std::span<const std::int32_t> labels,
             std::span<const NodeId> nodes) {
  std::vector<std::int32_t> truth;
  truth.reserve(nodes.size());
  for (const NodeId u : nodes) truth.push_back(labels[u]);
  if (metric == Metric::auc) {
    if (outputs.classes != 2) {
      detail::fail("AUC is for two classes, and there are {}", outputs.classes);
    }
    std::vector<float> margins;
    margins.reserve(nodes.size());
    for (const NodeId u : nodes) {
      const float* const row = outputs.data + u * outputs.stride;
      margins.push_back(row[1] - row[0]);
    }
    return roc_auc(std::span<const float>(margins), truth);
  }
  std::vector<std::int32_t> predicted;
  predicted.reserve(nodes.size());
  for (const NodeId u : nodes) predicted.push_back(outputs.label(u));
  return metric == Metric::accuracy ? accuracy(predicted, truth) : macro_f1(predicted, truth);
}

}  // namespace ngf::tasks
