#include "ngf/nn/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.hpp"

namespace ngf {

namespace {

/// Whether the model has taps at all.
bool has_taps(ModelKind kind) { return kind == ModelKind::ngcnn || kind == ModelKind::gcnn; }

void check_taps(const ModelSettings& settings) {
  for (const double tap : settings.taps) {
    if (!std::isfinite(tap)) fail("a tap is {}; taps are finite numbers", tap);
  }
  const std::size_t count = tap_count(settings);
  const std::size_t groups = tap_group_count(settings);
  if (!settings.taps.empty() && settings.taps.size() != count &&
      settings.taps.size() != groups * count) {
    fail("{} taps given, where {} hops have {}{}", settings.taps.size(), settings.hops, count,
         groups > 1 ? " for each group" : "");
  }
}

}  // namespace

std::string_view model_name(ModelKind kind) {
  constexpr std::array<std::string_view, 5> names{"ngcnn", "gcnn", "gcn", "sgc", "mlp"};
  return names[static_cast<std::size_t>(kind)];
}

void check_settings(const ModelSettings& settings) {
  constexpr std::uint32_t most_hops = 65534;  // what two bytes a pair hold
  if (settings.hops > most_hops) fail("{} hops are too many", settings.hops);
  if (settings.layers < 1) fail("a network needs at least one layer");
  if (settings.hidden < 1) fail("hidden layers need a width of at least 1");
  if (settings.min_paths < 1 || settings.min_paths > 3) {
    fail("min_paths is {}; it can be 1, 2 or 3", settings.min_paths);
  }
  const bool given = settings.learn_taps || !settings.taps.empty() || !settings.tap_groups.empty();
  if (given && !has_taps(settings.model)) {
    fail("model {} has no taps; take ngcnn or gcnn", model_name(settings.model));
  }
  if (settings.linear_output && layer_count(settings) < 2) {
    fail("a linear last layer needs layers before it");
  }
  check_taps(settings);
}

std::int64_t layer_count(const ModelSettings& settings) {
  return settings.model == ModelKind::sgc ? 1 : settings.layers;
}

bool linear_layer(const ModelSettings& settings, std::int64_t l) {
  return settings.linear_output && l + 1 == layer_count(settings);
}

std::size_t tap_count(const ModelSettings& settings) { return settings.hops + std::size_t{1}; }

std::size_t tap_group_count(const ModelSettings& settings) {
  if (settings.tap_groups.empty()) return 1;
  return *std::max_element(settings.tap_groups.begin(), settings.tap_groups.end()) + std::size_t{1};
}

}  // namespace ngf
