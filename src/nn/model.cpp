#include "ngf/nn/model.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "ngf/nn/network.hpp"

namespace ngf {

namespace {

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
  return detail::name_in({"ngcnn", "gcnn", "gcn", "sgc", "mlp"}, kind);
}

void check_settings(const ModelSettings& settings) {
  constexpr std::uint32_t most_hops = 65534;  // what two bytes per pair hold
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

// ---- Where the parameters lie ----

ParameterLayout::ParameterLayout(const ModelSettings& settings, std::int64_t features,
                                 std::int64_t classes, std::size_t runs)
    : runs_(runs) {
  const auto layers = static_cast<std::size_t>(layer_count(settings));
  const auto add = [&](ParameterBlock::Kind kind, std::size_t layer, std::size_t rows,
                       std::size_t cols) {
    blocks_.push_back({kind, layer, rows, cols, size_});
    size_ += rows * cols * runs_;
  };
  auto inputs = static_cast<std::size_t>(features);
  for (std::size_t l = 0; l < layers; ++l) {
    const auto outputs = static_cast<std::size_t>(l + 1 < layers ? settings.hidden : classes);
    add(ParameterBlock::Kind::weight, l, inputs, outputs);
    const bool filtered = !linear_layer(settings, static_cast<std::int64_t>(l));
    if (settings.skip && filtered) add(ParameterBlock::Kind::skip, l, inputs, outputs);
    if (settings.bias && filtered) add(ParameterBlock::Kind::bias, l, 1, outputs);
    if (settings.learn_taps && filtered) {
      add(ParameterBlock::Kind::taps, l, tap_group_count(settings), tap_count(settings));
    }
    inputs = outputs;
  }
}

const ParameterBlock* ParameterLayout::find(ParameterBlock::Kind kind, std::size_t layer) const {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const ParameterBlock& block) {
    return block.kind == kind && block.layer == layer;
  });
  return found == blocks_.end() ? nullptr : &*found;
}

std::uint64_t run_bytes(const ModelSettings& settings, bool filtered, std::uint64_t nodes,
                        std::int64_t features, std::int64_t classes) {
  const ParameterLayout layout(settings, features, classes, 1);
  std::uint64_t widths = 0;
  std::uint64_t widest = 0;
  for (const ParameterBlock& block : layout.blocks()) {
    if (block.kind != ParameterBlock::Kind::weight) continue;
    widths += block.cols;
    widest = std::max<std::uint64_t>(widest, block.cols);
  }
  // Outputs, their gradients, and products kept; what a filter copies and writes.
  std::uint64_t columns = 2 * widths;
  if (settings.learn_taps) columns += widths;
  if (filtered) columns += 3 * widest;
  // Parameters, their gradient, two moments, and the best so far.
  return sizeof(float) * (nodes * columns + 5 * layout.size());
}

}  // namespace ngf
