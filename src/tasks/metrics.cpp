// The area under the ROC curve by ranks (Mann and Whitney): with the scores sorted and equal ones
// sharing the mean of their ranks 1..n,
//   AUC = (sum of the ranks of positives - P (P + 1) / 2) / (P Q),  P positives, Q others.

#include "ngf/tasks/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <vector>

#include "base/fail.hpp"

namespace ngf {

namespace {

void check_lengths(std::size_t predictions, std::size_t truth) {
  if (predictions != truth) {
    fail("{} predictions for {} nodes; each scored node needs one", predictions, truth);
  }
  if (truth == 0) fail("there is no node to score; choose another split");
}

}  // namespace

double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth) {
  check_lengths(predicted.size(), truth.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += predicted[i] == truth[i] ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

double macro_f1(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth) {
  check_lengths(predicted.size(), truth.size());
  struct Counts {
    std::uint64_t right = 0;
    std::uint64_t occurrences = 0;  // as a predicted label and as a true one: 2 tp + fp + fn
  };
  std::map<std::int32_t, Counts> classes;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ++classes[predicted[i]].occurrences;
    ++classes[truth[i]].occurrences;
    if (predicted[i] == truth[i]) ++classes[truth[i]].right;
  }
  double sum = 0;
  for (const auto& [label, counts] : classes) {
    sum += 2 * static_cast<double>(counts.right) / static_cast<double>(counts.occurrences);
  }
  return sum / static_cast<double>(classes.size());
}

template <typename Real>
double roc_auc(std::span<const Real> scores, std::span<const std::int32_t> truth) {
  check_lengths(scores.size(), truth.size());
  std::vector<std::pair<Real, bool>> sorted(scores.size());
  std::uint64_t positives = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const bool positive = truth[i] == 1;
    sorted[i] = {std::isnan(scores[i]) ? -std::numeric_limits<Real>::infinity() : scores[i],
                 positive};
    positives += positive ? 1 : 0;
  }
  const std::uint64_t others = scores.size() - positives;
  if (positives == 0 || others == 0) {
    fail("ROC AUC needs nodes of both classes, and {} of {} scored nodes have label 1", positives,
         scores.size());
  }
  std::sort(sorted.begin(), sorted.end());
  // Twice the ranks, which are whole numbers.
  std::uint64_t rank_sum = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin;
    std::uint64_t positives_here = 0;
    for (; end < sorted.size() && sorted[end].first == sorted[begin].first; ++end) {
      positives_here += sorted[end].second ? 1 : 0;
    }
    rank_sum += positives_here * (begin + 1 + end);
    begin = end;
  }
  return static_cast<double>(rank_sum - positives * (positives + 1)) /
         (2 * static_cast<double>(positives) * static_cast<double>(others));
}

template double roc_auc(std::span<const float>, std::span<const std::int32_t>);
template double roc_auc(std::span<const double>, std::span<const std::int32_t>);

}  // namespace ngf
