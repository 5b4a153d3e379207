#include "ngf/nn/layer_filter.hpp"

#include <utility>

#include "base/fail.hpp"

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

/// S^power.
PolynomialFilter power_filter(const Graph& graph, std::size_t power, const FilterBuild& build) {
  std::vector<double> taps(power + 1, 0);
  taps[power] = 1;
  return {graph, Taps(std::move(taps)), Shift::gcn, build.threads, build.partition};
}

}  // namespace

LayerFilter::LayerFilter(const ModelSettings& settings, const Graph& graph,
                         const FilterBuild& build) {
  check_settings(settings);
  switch (settings.model) {
    case ModelKind::ngcnn: {
      FilterOptions options;
      options.normalization = settings.normalization;
      options.shells.min_paths = settings.min_paths;
      options.shells.storage = build.storage;
      options.shells.threads = build.threads;
      options.shells.memory = build.memory;
      options.shells.progress = build.progress;
      options.partition = build.partition;
      // Hops take long where pairs have factors of both nodes: lists should serve while they can.
      if (settings.normalization == Normalization::symmetric) options.width = settings.hidden;
      filter_ = NeighborhoodFilter(graph, taps_of(settings, graph.nodes()), options);
      return;
    }
    case ModelKind::gcnn:
      filter_ = PolynomialFilter(graph, taps_of(settings, graph.nodes()), settings.shift,
                                 build.threads, build.partition);
      return;
    case ModelKind::gcn:
      filter_ = power_filter(graph, 1, build);
      return;
    case ModelKind::sgc:
      filter_ = power_filter(graph, settings.hops, build);
      return;
    case ModelKind::mlp:
      return;
  }
}

namespace {

/// Calls use(filter) on the filter that is there.
template <typename Variant, typename Use>
decltype(auto) on_filter(Variant& filter, const Use& use) {
  if (auto* const shells = std::get_if<NeighborhoodFilter>(&filter)) return use(*shells);
  if (auto* const powers = std::get_if<PolynomialFilter>(&filter)) return use(*powers);
  detail::fail("the identity is no filter");
}

}  // namespace

NodeId LayerFilter::nodes() const {
  return on_filter(filter_, [](const auto& filter) { return filter.nodes(); });
}

NodeId LayerFilter::rows() const {
  return on_filter(filter_, [](const auto& filter) { return filter.rows(); });
}

const Partition* LayerFilter::partition() const {
  if (identity()) return nullptr;
  return on_filter(filter_, [](const auto& filter) { return filter.partition(); });
}

const Taps& LayerFilter::taps() const {
  return on_filter(filter_, [](const auto& filter) -> const Taps& { return filter.taps(); });
}

void LayerFilter::set_taps(Taps taps) {
  on_filter(filter_, [&](auto& filter) { filter.set_taps(std::move(taps)); });
}

std::string LayerFilter::storage() const {
  const auto* const shells = std::get_if<NeighborhoodFilter>(&filter_);
  return shells == nullptr ? "" : std::string(storage_name(shells->shells().storage()));
}

double LayerFilter::flops(std::int64_t width) const {
  if (identity()) return 0;
  return on_filter(filter_, [&](const auto& filter) { return filter.flops(width); });
}

double LayerFilter::cost(std::int64_t width) const {
  if (identity()) return 0;
  // Measured on lists of columns, and on shifts, whose rows are read in no order.
  constexpr double of_lists = 2.5;
  constexpr double of_shifts = 8;
  if (const auto* const shells = std::get_if<NeighborhoodFilter>(&filter_)) {
    const bool dense = shells->shells().storage() == Storage::dense;
    return shells->flops(width) * (dense ? 1 : of_lists);
  }
  return std::get<PolynomialFilter>(filter_).flops(width) * of_shifts;
}

std::size_t LayerFilter::columns_at_once() const {
  const auto* const shells = std::get_if<NeighborhoodFilter>(&filter_);
  // Hops become numbers once for all columns of a product.
  if (shells != nullptr && shells->shells().storage() != Storage::sparse) return 4096;
  // Those of a panel, as lists are multiplied with.
  constexpr std::size_t in_caches = std::size_t{1} << 20;
  return nodes() * std::size_t{256} <= in_caches ? 64 : 128;
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
