#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ngf/filter.hpp"

namespace ngf {

/// The mean over `nodes` of -log softmax(logits)[label], for each run: logits are N x (runs *
/// classes). `by_logits`, where given, becomes the gradient, of the same shape.
template <typename Real>
std::vector<double> softmax_cross_entropy(const SignalsOf<Real>& logits, std::size_t runs,
                                          std::span<const std::int32_t> labels,
                                          std::span<const NodeId> nodes,
                                          SignalsOf<Real>* by_logits);

}  // namespace ngf
