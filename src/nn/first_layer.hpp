#pragma once

#include <utility>
#include <variant>

#include "ngf/nn/network.hpp"

namespace ngf::nn {

/// Rows and columns.
template <typename Real>
std::pair<std::int64_t, std::int64_t> shape_of(const FeaturesOf<Real>& features) {
  return std::visit(
      [](const auto& x) { return std::pair<std::int64_t, std::int64_t>(x.rows(), x.cols()); },
      features);
}

/// With dropout, whether passes without it, which score what was learned, are quicker with H X
/// computed once.
template <typename Real>
bool scores_filter_first(const ModelSettings& settings, const LayerFilter& filter,
                         const FeaturesOf<Real>& features, std::int64_t outputs,
                         const NetworkOptions& options);

/// H X, dense, some columns at a time, so that it needs no second matrix of that size.
template <typename Real>
SignalsOf<Real> filtered(const LayerFilter& filter, const FeaturesOf<Real>& features);

}  // namespace ngf::nn
