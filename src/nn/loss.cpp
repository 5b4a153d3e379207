#include "ngf/nn/loss.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"

namespace ngf {

namespace {

/// -log softmax(z)[label] of one node; `by_z`, where given, becomes its gradient times `weight`.
template <typename Real>
double cross_entropy(const Real* z, std::size_t classes, std::size_t label, Real weight,
                     Real* by_z) {
  const Real top = *std::max_element(z, z + classes);
  Real sum = 0;
  for (std::size_t c = 0; c < classes; ++c) sum += std::exp(z[c] - top);
  if (by_z != nullptr) {
    for (std::size_t c = 0; c < classes; ++c) {
      by_z[c] = weight * (std::exp(z[c] - top) / sum - (c == label ? Real{1} : Real{0}));
    }
  }
  return static_cast<double>(std::log(sum) + (top - z[label]));
}

}  // namespace

template <typename Real>
std::vector<double> softmax_cross_entropy(const SignalsOf<Real>& logits, std::size_t runs,
                                          std::span<const std::int32_t> labels,
                                          std::span<const NodeId> nodes,
                                          SignalsOf<Real>* by_logits) {
  if (runs == 0 || logits.cols() % static_cast<Eigen::Index>(runs) != 0) {
    fail("{} columns are no outputs of {} runs", logits.cols(), runs);
  }
  if (nodes.empty()) fail("a loss needs at least one node");
  const auto columns = static_cast<std::size_t>(logits.cols());
  const std::size_t classes = columns / runs;
  if (by_logits != nullptr) by_logits->setZero(logits.rows(), logits.cols());
  const auto weight = Real{1} / static_cast<Real>(nodes.size());
  std::vector<double> losses(runs, 0);
  for (const NodeId u : nodes) {
    for (std::size_t r = 0; r < runs; ++r) {
      const std::size_t at = u * columns + r * classes;
      losses[r] += cross_entropy(logits.data() + at, classes, static_cast<std::size_t>(labels[u]),
                                 weight, by_logits != nullptr ? by_logits->data() + at : nullptr);
    }
  }
  for (double& loss : losses) loss /= static_cast<double>(nodes.size());
  return losses;
}

template std::vector<double> softmax_cross_entropy(const SignalsOf<float>&, std::size_t,
                                                   std::span<const std::int32_t>,
                                                   std::span<const NodeId>, SignalsOf<float>*);
template std::vector<double> softmax_cross_entropy(const SignalsOf<double>&, std::size_t,
                                                   std::span<const std::int32_t>,
                                                   std::span<const NodeId>, SignalsOf<double>*);

}  // namespace ngf
