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

void check_pairs(const ModelSettings& settings) {
  if (settings.pair_weights == PairWeights::none) return;
  if (settings.model != ModelKind::ngcnn) {
    fail("model {} has no shells whose pairs could be weighted; take ngcnn",
         model_name(settings.model));
  }
  if (settings.normalization == Normalization::lmax) {
    fail("pair weights are normalised by none, symmetric or row, not by lmax");
  }
  if (!(settings.pair_power >= 0) || !std::isfinite(settings.pair_power)) {
    fail("the power of pair weights is {}; it must be at least 0", settings.pair_power);
  }
}

void check_bank(const ModelSettings& settings) {
  if (!settings.bank) {
    if (settings.pre || settings.post || settings.residual || settings.jump) {
      fail("pre, post, residual and jump are parts of networks with a bank; set bank too");
    }
    return;
  }
  if (!has_taps(settings.model)) {
    fail("model {} has no bank; take ngcnn or gcnn", model_name(settings.model));
  }
  if (settings.learn_taps || !settings.taps.empty() || !settings.tap_groups.empty()) {
    fail("a bank has weights in the place of taps; leave the taps out");
  }
  if (settings.skip || settings.linear_output) {
    fail(
        "a bank sees the node itself by Theta_0, and its linear last layer is post; leave skip "
        "and linear_output out");
  }
  if (settings.hops < 1) fail("a bank needs at least one hop");
  if (settings.residual && !(settings.pre && settings.post)) {
    fail("residual blocks need layers before and after them; set pre and post too");
  }
  if (settings.jump && !settings.post)
    fail("jump needs a last layer that sees all others; set post too");
}

}  // namespace

std::string_view model_name(ModelKind kind) {
  return detail::name_in({"ngcnn", "gcnn", "gcn", "sgc", "mlp"}, kind);
}

std::string_view pair_weights_name(PairWeights pairs) {
  return detail::name_in({"none", "features", "given"}, pairs);
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
  check_pairs(settings);
  check_bank(settings);
}

std::vector<LayerShape> layer_shapes(const ModelSettings& settings, std::int64_t features,
                                     std::int64_t classes) {
  const auto layers = static_cast<std::size_t>(layer_count(settings));
  const auto hidden = static_cast<std::size_t>(settings.hidden);
  std::vector<LayerShape> shapes;
  auto inputs = static_cast<std::size_t>(features);
  for (std::size_t l = 0; l < layers; ++l) {
    const bool last = l + 1 == layers;
    LayerShape shape{.inputs = inputs,
                     .outputs = last ? static_cast<std::size_t>(classes) : hidden,
                     .filtered = !linear_layer(settings, static_cast<std::int64_t>(l))};
    if (settings.bank) {
      shape.matrices = shape.filtered ? settings.hops + std::size_t{1} : 1;
      shape.bias = settings.bias;
      shape.norm = settings.residual && l > 0;
      // Without a layer before the banks, there is nothing of this width but their outputs.
      if (last && settings.jump) shape.inputs = (layers - 1) * hidden;
    } else {
      shape.bias = settings.bias && shape.filtered;
      shape.skip = settings.skip && shape.filtered;
      shape.learned_taps = settings.learn_taps && shape.filtered;
    }
    inputs = shape.outputs;
    shapes.push_back(shape);
  }
  return shapes;
}

std::int64_t layer_count(const ModelSettings& settings) {
  if (settings.bank) return settings.layers + (settings.pre ? 1 : 0) + (settings.post ? 1 : 0);
  return settings.model == ModelKind::sgc ? 1 : settings.layers;
}

bool linear_layer(const ModelSettings& settings, std::int64_t l) {
  const bool last = l + 1 == layer_count(settings);
  return (settings.pre && l == 0) || ((settings.linear_output || settings.post) && last);
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
  using Kind = ParameterBlock::Kind;
  const std::vector<LayerShape> shapes = layer_shapes(settings, features, classes);
  for (std::size_t l = 0; l < shapes.size(); ++l) {
    const auto add = [&](Kind kind, std::size_t rows, std::size_t cols) {
      blocks_.push_back({kind, l, rows, cols, size_});
      size_ += rows * cols * runs_;
    };
    const LayerShape& shape = shapes[l];
    add(Kind::weight, shape.matrices * shape.inputs, shape.outputs);
    if (shape.skip) add(Kind::skip, shape.inputs, shape.outputs);
    if (shape.bias) add(Kind::bias, 1, shape.outputs);
    if (shape.learned_taps) add(Kind::taps, tap_group_count(settings), tap_count(settings));
    if (shape.norm) {
      add(Kind::norm_scale, 1, shape.inputs);
      add(Kind::norm_shift, 1, shape.inputs);
    }
  }
}

const ParameterBlock* ParameterLayout::find(ParameterBlock::Kind kind, std::size_t layer) const {
  const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const ParameterBlock& block) {
    return block.kind == kind && block.layer == layer;
  });
  return found == blocks_.end() ? nullptr : &*found;
}

std::int64_t Model::features() const {
  if (layers.empty()) return 0;
  const bool bank = settings.bank && !settings.pre;
  return layers.front().weight.rows() / (bank ? std::int64_t{settings.hops} + 1 : 1);
}

std::uint64_t run_bytes(const ModelSettings& settings, bool filtered, std::uint64_t nodes,
                        std::int64_t features, std::int64_t classes) {
  const ParameterLayout layout(settings, features, classes, 1);
  std::uint64_t widths = 0;
  std::uint64_t widest = 0;
  for (const LayerShape& shape : layer_shapes(settings, features, classes)) {
    widths += shape.outputs;
    widest = std::max<std::uint64_t>(widest, shape.outputs);
    // What weights multiply, beside the outputs of the layer before.
    if (settings.bank && widths > shape.outputs) widths += 2 * shape.inputs;
  }
  // Outputs, their gradients, and products kept; what a filter copies and writes.
  std::uint64_t columns = 2 * widths;
  if (settings.learn_taps) columns += widths;
  if (filtered) columns += 3 * widest;
  // Parameters, their gradient, two moments, and the best so far.
  return sizeof(float) * (nodes * columns + 5 * layout.size());
}

}  // namespace ngf
