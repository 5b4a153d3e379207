#include "ngf/nn/loss.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"

namespace ngf {

namespace {

template <typename Real>
void check_columns(const SignalsOf<Real>& outputs, std::size_t runs, std::size_t nodes) {
  if (runs == 0 || outputs.cols() % static_cast<Eigen::Index>(runs) != 0) {
    detail::fail("{} columns are no outputs of {} runs", outputs.cols(), runs);
  }
  if (nodes == 0) detail::fail("a loss needs at least one node");
}

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
  check_columns(logits, runs, nodes.size());
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

template <typename Real>
std::vector<double> squared_error(const SignalsOf<Real>& outputs, std::size_t runs,
                                  const SignalsOf<Real>& targets, std::span<const NodeId> nodes,
                                  SignalsOf<Real>* by_outputs) {
  check_columns(outputs, runs, nodes.size());
  const Eigen::Index width = outputs.cols() / static_cast<Eigen::Index>(runs);
  if (targets.rows() != outputs.rows() || targets.cols() != width) {
    detail::fail("targets are {} x {}, outputs {} x {}", targets.rows(), targets.cols(),
                 outputs.rows(), width);
  }
  if (by_outputs != nullptr) by_outputs->setZero(outputs.rows(), outputs.cols());
  const double count = static_cast<double>(nodes.size()) * static_cast<double>(width);
  std::vector<double> losses(runs, 0);
  for (const NodeId u : nodes) {
    for (std::size_t r = 0; r < runs; ++r) {
      const Eigen::Index first = static_cast<Eigen::Index>(r) * width;
      for (Eigen::Index f = 0; f < width; ++f) {
        const Real difference = outputs(u, first + f) - targets(u, f);
        losses[r] += static_cast<double>(difference) * static_cast<double>(difference);
        if (by_outputs == nullptr) continue;
        (*by_outputs)(u, first + f) = static_cast<Real>(2 / count) * difference;
      }
    }
  }
  for (double& loss : losses) loss /= count;
  return losses;
}

template std::vector<double> softmax_cross_entropy(const SignalsOf<float>&, std::size_t,
                                                   std::span<const std::int32_t>,
                                                   std::span<const NodeId>, SignalsOf<float>*);
template std::vector<double> softmax_cross_entropy(const SignalsOf<double>&, std::size_t,
                                                   std::span<const std::int32_t>,
                                                   std::span<const NodeId>, SignalsOf<double>*);
template std::vector<double> squared_error(const SignalsOf<float>&, std::size_t,
                                           const SignalsOf<float>&, std::span<const NodeId>,
                                           SignalsOf<float>*);
template std::vector<double> squared_error(const SignalsOf<double>&, std::size_t,
                                           const SignalsOf<double>&, std::span<const NodeId>,
                                           SignalsOf<double>*);

}  // namespace ngf
