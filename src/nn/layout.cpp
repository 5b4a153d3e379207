#include <algorithm>

#include "ngf/nn/network.hpp"

namespace ngf {

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
