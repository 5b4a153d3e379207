#include "ngf/nn/layer_filter.hpp"

#include <utility>

#include "base/fail.hpp"
#include "nn/costs.hpp"

namespace ngf {

namespace {

/// The taps that the settings ask for: one set, or one for each group.
Taps taps_of(const ModelSettings& settings, NodeId nodes) {
  const std::size_t count = tap_count(settings);
  const bool ones = settings.unit_taps && !settings.learn_taps;
  const auto equal = ones ? 1.0 : 1.0 / static_cast<double>(count);
  std::vector<double> values = settings.taps;
  if (settings.tap_groups.empty()) {
    if (values.empty()) values.assign(count, equal);
    return {std::move(values)};
  }
  if (settings.tap_groups.size() != nodes) {
    detail::fail("groups of taps for {} nodes on a graph of {}", settings.tap_groups.size(), nodes);
  }
  const std::size_t groups = tap_group_count(settings);
  if (values.empty()) values.assign(groups * count, equal);
  if (values.size() == count) {
    for (std::size_t g = 1; g < groups; ++g) {
      for (std::size_t k = 0; k < count; ++k) values.push_back(values[k]);
    }
  }
  return {count, std::move(values), settings.tap_groups};
}

/// S^power has one tap.
Taps power_taps(std::size_t power) {
  std::vector<double> taps(power + 1, 0);
  taps[power] = 1;
  return taps;
}

}  // namespace

LayerMatrix layer_matrix(const ModelSettings& settings, const Graph& graph,
                         const FilterBuild& build) {
  check_settings(settings);
  LayerMatrix matrix;
  matrix.shift = settings.model == ModelKind::gcnn ? settings.shift : Shift::gcn;
  switch (settings.model) {
    case ModelKind::ngcnn:
    case ModelKind::gcnn:
      matrix.taps = taps_of(settings, graph.nodes());
      break;
    case ModelKind::gcn:
      matrix.taps = power_taps(1);
      break;
    case ModelKind::sgc:
      matrix.taps = power_taps(settings.hops);
      break;
    case ModelKind::mlp:
      break;
  }
  matrix.options.normalization = settings.normalization;
  matrix.options.shells.min_paths = settings.min_paths;
  matrix.options.shells.storage = build.storage;
  matrix.options.shells.threads = build.threads;
  matrix.options.shells.memory = build.memory;
  // Hops take long where pairs have factors of both nodes: lists should serve while they can.
  if (settings.normalization == Normalization::symmetric) matrix.options.width = settings.hidden;
  return matrix;
}

LayerFilter::LayerFilter(const ModelSettings& settings, const Graph& graph,
                         const FilterBuild& build, Progress* progress) {
  const auto [taps, options, shift] = layer_matrix(settings, graph, build);
  if (settings.model == ModelKind::mlp) return;
  const bool on_shells = settings.model == ModelKind::ngcnn;
  if (build.partition == nullptr && on_shells) {
    filter_ = NeighborhoodFilter(graph, taps, options, progress);
  } else if (build.partition == nullptr) {
    filter_ = PolynomialFilter(graph, taps, shift, build.threads, progress);
  } else if (on_shells) {
    filter_ = ShardedNeighborhoodFilter(graph, taps, options, build.partition, progress);
  } else {
    filter_ = ShardedPolynomialFilter(graph, taps, shift, build.threads, build.partition, progress);
  }
}

namespace {

/// Calls use(filter) unless it is the identity.
template <typename Variant, typename Use>
decltype(auto) on_filter(Variant& filter, const Use& use) {
  using Result = decltype(use(std::get<1>(filter)));
  return std::visit(
      [&](auto& held) -> Result {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          detail::fail("the identity is no filter");
        } else {
          return use(held);
        }
      },
      filter);
}

}  // namespace

NodeId LayerFilter::nodes() const {
  return on_filter(filter_, [](const auto& filter) { return filter.nodes(); });
}

NodeId LayerFilter::rows() const {
  return on_filter(filter_, [](const auto& filter) { return filter.rows().count(); });
}

const Partition* LayerFilter::partition() const {
  if (const auto* held = std::get_if<ShardedNeighborhoodFilter>(&filter_)) {
    return &held->partition();
  }
  const auto* const powers = std::get_if<ShardedPolynomialFilter>(&filter_);
  return powers == nullptr ? nullptr : &powers->partition();
}

const NeighborhoodFilter* LayerFilter::neighborhood() const {
  if (const auto* held = std::get_if<ShardedNeighborhoodFilter>(&filter_)) return &held->local();
  return std::get_if<NeighborhoodFilter>(&filter_);
}

const Taps& LayerFilter::taps() const {
  return on_filter(filter_, [](const auto& filter) -> const Taps& { return filter.taps(); });
}

void LayerFilter::set_taps(Taps taps) {
  on_filter(filter_, [&](auto& filter) { filter.set_taps(std::move(taps)); });
}

std::string LayerFilter::storage() const {
  const NeighborhoodFilter* const shells = neighborhood();
  return shells == nullptr ? "" : std::string(storage_name(shells->shells().storage()));
}

double LayerFilter::flops(std::int64_t width) const {
  if (identity()) return 0;
  return on_filter(filter_, [&](const auto& filter) { return filter.flops(width); });
}

double LayerFilter::cost(std::int64_t width) const {
  if (identity()) return 0;
  const NeighborhoodFilter* const shells = neighborhood();
  if (shells == nullptr) return flops(width) * nn::costs::flop_of_shifts;
  const bool dense = shells->shells().storage() == Storage::dense;
  return flops(width) * (dense ? 1 : nn::costs::flop_of_lists);
}

std::size_t LayerFilter::columns_at_once() const {
  const NeighborhoodFilter* const shells = neighborhood();
  // Hops become numbers once for all columns of a product.
  if (shells != nullptr && shells->shells().storage() != Storage::sparse) {
    return nn::costs::columns_of_hops;
  }
  const bool in_caches = nodes() * std::size_t{256} <= nn::costs::panel_bytes;
  return in_caches ? nn::costs::columns_of_lists : 2 * nn::costs::columns_of_lists;
}

template <typename Real>
SignalsOf<Real> LayerFilter::apply(const SignalsOf<Real>& x) const {
  return on_filter(filter_, [&](const auto& filter) { return filter.apply(x); });
}

template <typename Real>
void LayerFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
  on_filter(filter_, [&](const auto& filter) { filter.template apply_to<Real>(x, y); });
}

template <typename Real>
void LayerFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
  on_filter(filter_, [&](const auto& filter) { filter.template apply_transpose_to<Real>(x, y); });
}

template <typename Real>
std::vector<double> LayerFilter::gradients_to(const SignalsView<Real>& x,
                                              const SignalsView<Real>& by_output,
                                              SignalsSlice<Real> by_input) const {
  return on_filter(filter_, [&](const auto& filter) {
    return filter.template gradients_to<Real>(x, by_output, by_input);
  });
}

template SignalsOf<float> LayerFilter::apply(const SignalsOf<float>&) const;
template SignalsOf<double> LayerFilter::apply(const SignalsOf<double>&) const;
template void LayerFilter::apply_to(const SignalsView<float>&, SignalsSlice<float>) const;
template void LayerFilter::apply_transpose_to(const SignalsView<float>&, SignalsSlice<float>) const;
template void LayerFilter::apply_to(const SignalsView<double>&, SignalsSlice<double>) const;
template void LayerFilter::apply_transpose_to(const SignalsView<double>&,
                                              SignalsSlice<double>) const;
template std::vector<double> LayerFilter::gradients_to(const SignalsView<float>&,
                                                       const SignalsView<float>&,
                                                       SignalsSlice<float>) const;
template std::vector<double> LayerFilter::gradients_to(const SignalsView<double>&,
                                                       const SignalsView<double>&,
                                                       SignalsSlice<double>) const;

}  // namespace ngf
