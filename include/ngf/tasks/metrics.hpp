#pragma once

#include <cstdint>
#include <span>

/// Scores of predictions. All take one entry per scored node, in the same order, and throw Error if
/// there is none or the lengths differ.

namespace ngf {

/// Accuracy: the share of nodes with the right label.
double accuracy(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth);

/// The mean over classes of F1 = 2 tp / (2 tp + fp + fn), over those classes that occur among the
/// predicted or the true labels.
double macro_f1(std::span<const std::int32_t> predicted, std::span<const std::int32_t> truth);

/// The area under the ROC curve: how probably a node of label 1 has a higher score than one of
/// another label, where equal scores count half. A score that is no number counts as the lowest.
/// Throws Error where all labels are 1, or none is.
template <typename Real>
double roc_auc(std::span<const Real> scores, std::span<const std::int32_t> truth);

}  // namespace ngf
