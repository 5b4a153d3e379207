#include "ngf/nn/layer_filter.hpp"

#include "base/fail.hpp"
#include "nn/costs.hpp"

namespace ngf {

namespace {

/// The taps that the settings ask for: one set, or one for each group.
Taps taps_of(const ModelSettings& settings, NodeId nodes) {
  // Of powers, a bank needs the first alone.
  if (settings.bank && settings.model == ModelKind::gcnn) return {0, 1};
  const std::size_t count = tap_count(settings);
  const bool ones = settings.unit_taps && !settings.learn_taps;
  const auto equal = ones ? 1.0 : 1.0 / static_cast<double>(count);
  std::vector<double> values = settings.taps;
  if (settings.tap_groups.empty()) {
    if (values.empty()) values.assign(count, equal);
    return {std::move(values)};
  }
  if (settings.tap_groups.size() != nodes) {
    fail("groups of taps for {} nodes on a graph of {}", settings.tap_groups.size(), nodes);
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

FilterOptions options_of(const ModelSettings& settings, const FilterBuild& build) {
  FilterOptions options;
  options.normalization = settings.normalization;
  options.shells.min_paths = settings.min_paths;
  options.shells.storage = build.storage;
  // A bank multiplies by one shell after the other, which lists have apart; and lists alone have
  // weights of pairs.
  const bool lists = settings.bank || settings.pair_weights != PairWeights::none;
  if (lists && build.storage == Storage::automatic) {
    options.shells.storage = Storage::sparse;
  }
  options.shells.threads = build.threads;
  options.shells.memory = build.memory;
  // Hops take long where pairs have factors of both nodes: lists should serve while they can.
  if (settings.normalization == Normalization::symmetric) options.width = settings.hidden;
  return options;
}

}  // namespace

std::optional<Embeddings> model_embeddings(const ModelSettings& settings, const Dataset& dataset,
                                           const std::optional<Embeddings>& given) {
  if (settings.pair_weights == PairWeights::none) return {};
  if (settings.pair_weights == PairWeights::features) return feature_embeddings(dataset);
  if (!given) fail("the model has pair weights from a file; give the embeddings again");
  return given;
}

FilterPlan plan_layer(const ModelSettings& settings, const Graph& graph, const FilterBuild& build,
                      Progress* progress) {
  check_settings(settings);
  const Taps taps = taps_of(settings, graph.nodes());
  FilterOptions options = options_of(settings, build);
  if (settings.pair_weights != PairWeights::none) {
    return plan_pair_filter(graph, taps, options, progress);
  }
  FilterPlan plan = plan_filter(graph, taps, options, progress);
  if (plan.width > 0) return plan;
  // Where the width does not choose the storage, it still chooses the form.
  options.width = settings.hidden;
  options.shells.storage = plan.shells.storage;
  options.merging = plan.shells.twins == nullptr ? Merging::never : Merging::always;
  return plan_filter(graph, taps, options, progress);
}

LayerFilter::LayerFilter(const ModelSettings& settings, const Graph& graph,
                         const FilterBuild& build, Progress* progress) {
  check_settings(settings);
  if (settings.model == ModelKind::mlp) return;
  const auto& partition = build.partition;
  if (settings.model == ModelKind::ngcnn) {
    const Taps taps = taps_of(settings, graph.nodes());
    const FilterOptions options = options_of(settings, build);
    if (settings.pair_weights != PairWeights::none) {
      if (partition != nullptr) {
        fail("pair weights need all nodes in one process; train without several ranks");
      }
      if (!build.embeddings) fail("a model with pair weights needs embeddings of the nodes");
      filter_ = PairFilter(graph, taps, *build.embeddings, settings.pair_power, options, progress);
    } else if (partition == nullptr) {
      filter_ = NeighborhoodFilter(graph, taps, options, progress);
    } else {
      filter_ = ShardedNeighborhoodFilter(graph, taps, options, partition, progress);
    }
    return;
  }
  const bool own_taps = settings.model == ModelKind::gcnn;
  const Taps taps = own_taps ? taps_of(settings, graph.nodes())
                             : power_taps(settings.model == ModelKind::gcn ? 1 : settings.hops);
  const Shift shift = own_taps ? settings.shift : Shift::gcn;
  if (partition == nullptr) {
    filter_ = PolynomialFilter(graph, taps, shift, build.threads, progress);
  } else {
    filter_ = ShardedPolynomialFilter(graph, taps, shift, build.threads, partition, progress);
  }
}

const Partition* LayerFilter::partition() const {
  if (const auto* held = std::get_if<ShardedNeighborhoodFilter>(&filter_)) {
    return &held->partition();
  }
  const auto* const powers = std::get_if<ShardedPolynomialFilter>(&filter_);
  return powers == nullptr ? nullptr : &powers->partition();
}

const Shells* LayerFilter::shells() const {
  if (const auto* held = std::get_if<ShardedNeighborhoodFilter>(&filter_)) {
    return &held->local().shells();
  }
  if (const auto* held = std::get_if<PairFilter>(&filter_)) return &held->shells();
  const auto* const held = std::get_if<NeighborhoodFilter>(&filter_);
  return held == nullptr ? nullptr : &held->shells();
}

std::string LayerFilter::storage() const {
  const Shells* const held = shells();
  return held == nullptr ? "" : std::string(storage_name(held->storage()));
}

double LayerFilter::flops(std::int64_t width) const {
  if (identity()) return 0;
  return visit([&](const auto& filter) { return filter.flops(width); });
}

double LayerFilter::cost(std::int64_t width) const {
  if (identity()) return 0;
  const Shells* const held = shells();
  if (held == nullptr) return flops(width) * nn::costs::flop_of_shifts;
  const bool dense = held->storage() == Storage::dense;
  return flops(width) * (dense ? 1 : nn::costs::flop_of_lists);
}

std::size_t LayerFilter::columns_at_once() const {
  const Shells* const held = shells();
  // Hops become numbers once for all columns of a product.
  if (held != nullptr && held->storage() != Storage::sparse) {
    return nn::costs::columns_of_hops;
  }
  const bool in_caches = nodes() * std::size_t{256} <= nn::costs::panel_bytes;
  return in_caches ? nn::costs::columns_of_lists : 2 * nn::costs::columns_of_lists;
}

}  // namespace ngf
