#pragma once

// The order of the first layer's products, by counted cost.
//
// With H fixed, N x N, and X, N x F with n entries, a forward and a backward pass of W outputs take
//
//   (H X) Theta:  2 dense products N x F x W, and H X once for all passes
//   H (X Theta):  2 products with X (sparse: n W; dense: N F W) and 2 with H, W wide
//
// in units of a multiplication and addition of a dense product at full speed.

#include <utility>

#include "base/memory.hpp"
#include "ngf/nn/network.hpp"
#include "nn/costs.hpp"

namespace ngf::nn {

template <typename Real>
std::pair<std::int64_t, std::int64_t> shape_of(const FeaturesOf<Real>& features) {
  return std::visit(
      [](const auto& x) { return std::pair<std::int64_t, std::int64_t>(x.rows(), x.cols()); },
      features);
}

template <typename Real>
double product_cost(const FeaturesOf<Real>& features, double width) {
  if (const auto* const dense = std::get_if<SignalsOf<Real>>(&features)) {
    return 2 * static_cast<double>(dense->size()) * width;
  }
  return 2 * static_cast<double>(std::get<1>(features).nonZeros()) * width * costs::flop_of_sparse;
}

/// Whether passes that share H X, dense, take less time with it, and it fits the budget with the
/// columns of X and H X that are at work.
template <typename Real>
bool filter_first_pays(const LayerFilter& filter, const FeaturesOf<Real>& features,
                       std::int64_t outputs, double passes, const NetworkOptions& options) {
  const auto [rows, cols] = shape_of(features);
  const std::int64_t columns = cols + 2 * std::min<std::int64_t>(cols, costs::columns_of_hx);
  const auto bytes =
      static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) * sizeof(Real);
  const std::uint64_t budget = options.memory > 0 ? options.memory : detail::available_memory() / 2;
  const auto width = static_cast<double>(outputs);
  const double dense = 2 * static_cast<double>(rows) * static_cast<double>(cols) * width;
  const double filter_first = 2 * dense + filter.cost(cols) / passes;
  const double weights_first = 2 * product_cost(features, width) + 2 * filter.cost(outputs);
  const bool pays = bytes <= budget && filter_first < weights_first;
  // With several ranks, all must multiply in the same order.
  return filter.partition() == nullptr ? pays : filter.partition()->communicator().of_first(pays);
}

template <typename Real>
FirstLayer choose_first_layer(const ModelSettings& settings, const LayerFilter& filter,
                              const FeaturesOf<Real>& features, std::int64_t outputs,
                              const NetworkOptions& options) {
  if (filter.identity()) return FirstLayer::plain;
  if (options.dropout || settings.learn_taps) return FirstLayer::weights_first;
  const bool pays = filter_first_pays(filter, features, outputs, options.passes, options);
  return pays ? FirstLayer::filter_first : FirstLayer::weights_first;
}

/// With dropout, whether passes without it, which score what was learned, are quicker with H X
/// computed once.
template <typename Real>
bool scores_filter_first(const ModelSettings& settings, const LayerFilter& filter,
                         const FeaturesOf<Real>& features, std::int64_t outputs,
                         const NetworkOptions& options) {
  if (filter.identity() || !options.dropout || settings.learn_taps) return false;
  // Forward alone is half of both passes, and H X is computed for it alone.
  return filter_first_pays(filter, features, outputs, options.passes / 2, options);
}

/// H X, dense, some columns at a time, so that it needs no second matrix of that size.
template <typename Real>
SignalsOf<Real> filtered(const LayerFilter& filter, const FeaturesOf<Real>& features) {
  const auto [rows, cols] = shape_of(features);
  SignalsOf<Real> result(rows, cols);
  for (std::int64_t f = 0; f < cols; f += costs::columns_of_hx) {
    const std::int64_t count = std::min(costs::columns_of_hx, cols - f);
    SignalsOf<Real> part(rows, count);
    std::visit([&](const auto& x) { part = x.middleCols(f, count); }, features);
    result.middleCols(f, count) = filter.apply(part);
  }
  return result;
}

}  // namespace ngf::nn
