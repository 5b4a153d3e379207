// The order of the first layer's products, by counted cost.
//
// With H fixed, N x N, and X, N x F with n entries, a forward and a backward pass of W outputs take
//
//   (H X) Theta:  2 dense products N x F x W, and H X once for all passes
//   H (X Theta):  2 products with X (sparse: n W; dense: N F W) and 2 with H, W wide
//
// in units of a multiplication and addition of a dense product at full speed.

#include "nn/first_layer.hpp"

#include <algorithm>
#include <variant>

#include "base/memory.hpp"

namespace ngf {

namespace {

/// Entries of a sparse product take so much longer than those of a dense one.
constexpr double of_sparse = 6;

template <typename Real>
double product_cost(const FeaturesOf<Real>& features, double width) {
  if (const auto* const dense = std::get_if<SignalsOf<Real>>(&features)) {
    return 2 * static_cast<double>(dense->size()) * width;
  }
  return 2 * static_cast<double>(std::get<1>(features).nonZeros()) * width * of_sparse;
}

/// H X is computed for so many columns at a time.
constexpr std::int64_t columns_at_once = 512;

/// Whether H X, dense, fits the budget, with the columns of X and H X that are at work.
template <typename Real>
bool fits(const FeaturesOf<Real>& features, const NetworkOptions& options) {
  const auto [rows, cols] = nn::shape_of(features);
  const std::int64_t columns = cols + 2 * std::min<std::int64_t>(cols, columns_at_once);
  const auto bytes =
      static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) * sizeof(Real);
  const std::uint64_t budget = options.memory > 0 ? options.memory : detail::available_memory() / 2;
  return bytes <= budget;
}

/// What rank 0 has chosen, where nodes are dealt: all must multiply in the same order.
template <typename Choice>
Choice agreed(const LayerFilter& filter, Choice own) {
  return filter.partition() == nullptr ? own : filter.partition()->communicator().of_first(own);
}

}  // namespace

namespace nn {

template <typename Real>
FirstLayerCosts first_layer_costs(const LayerFilter& filter, const FeaturesOf<Real>& features,
                                  std::int64_t outputs, double passes) {
  const auto [rows, cols] = shape_of(features);
  const auto width = static_cast<double>(outputs);
  const double dense = 2 * static_cast<double>(rows) * static_cast<double>(cols) * width;
  return {.filter_first = 2 * dense + filter.cost(cols) / passes,
          .weights_first = 2 * product_cost(features, width) + 2 * filter.cost(outputs)};
}

template <typename Real>
bool scores_filter_first(const ModelSettings& settings, const LayerFilter& filter,
                         const FeaturesOf<Real>& features, std::int64_t outputs,
                         const NetworkOptions& options) {
  if (filter.identity() || !options.dropout || settings.learn_taps) return false;
  // Forward alone is half of both passes, and H X is computed for it alone.
  const auto costs = first_layer_costs(filter, features, outputs, options.passes / 2);
  const bool pays = fits(features, options) && costs.filter_first < costs.weights_first;
  return agreed(filter, pays);
}

template <typename Real>
SignalsOf<Real> filtered(const LayerFilter& filter, const FeaturesOf<Real>& features) {
  const auto [rows, cols] = shape_of(features);
  SignalsOf<Real> result(rows, cols);
  for (std::int64_t f = 0; f < cols; f += columns_at_once) {
    const std::int64_t count = std::min(columns_at_once, cols - f);
    SignalsOf<Real> part(rows, count);
    std::visit([&](const auto& x) { part = x.middleCols(f, count); }, features);
    result.middleCols(f, count) = filter.apply(part);
  }
  return result;
}

template SignalsOf<float> filtered(const LayerFilter&, const FeaturesOf<float>&);
template SignalsOf<double> filtered(const LayerFilter&, const FeaturesOf<double>&);
template bool scores_filter_first(const ModelSettings&, const LayerFilter&,
                                  const FeaturesOf<float>&, std::int64_t, const NetworkOptions&);
template bool scores_filter_first(const ModelSettings&, const LayerFilter&,
                                  const FeaturesOf<double>&, std::int64_t, const NetworkOptions&);
template FirstLayerCosts first_layer_costs(const LayerFilter&, const FeaturesOf<float>&,
                                           std::int64_t, double);
template FirstLayerCosts first_layer_costs(const LayerFilter&, const FeaturesOf<double>&,
                                           std::int64_t, double);

}  // namespace nn

template <typename Real>
FirstLayer choose_first_layer(const ModelSettings& settings, const LayerFilter& filter,
                              const FeaturesOf<Real>& features, std::int64_t outputs,
                              const NetworkOptions& options) {
  if (filter.identity()) return FirstLayer::plain;
  if (options.dropout || settings.learn_taps) return FirstLayer::weights_first;
  const auto costs = nn::first_layer_costs(filter, features, outputs, options.passes);
  const bool pays = fits(features, options) && costs.filter_first < costs.weights_first;
  return agreed(filter, pays) ? FirstLayer::filter_first : FirstLayer::weights_first;
}

template FirstLayer choose_first_layer(const ModelSettings&, const LayerFilter&,
                                       const FeaturesOf<float>&, std::int64_t,
                                       const NetworkOptions&);
template FirstLayer choose_first_layer(const ModelSettings&, const LayerFilter&,
                                       const FeaturesOf<double>&, std::int64_t,
                                       const NetworkOptions&);

}  // namespace ngf
