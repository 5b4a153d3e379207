#include <algorithm>
#include <cmath>

#include "base/streams.hpp"
#include "tasks/batch.hpp"

namespace ngf::tasks {

namespace {

using Kind = ParameterBlock::Kind;

/// Calls use(row, first) for the rows of one run of a block, where `first` is the place of the
/// row's first number.
template <typename Use>
void for_each_row(const ParameterBlock& block, std::size_t runs, std::size_t run, const Use& use) {
  for (std::size_t i = 0; i < block.rows; ++i) use(i, block.offset + (i * runs + run) * block.cols);
}

double bound_of(Initialization init, const ParameterBlock& block) {
  const auto in = static_cast<double>(block.rows);
  const auto out = static_cast<double>(block.cols);
  return init == Initialization::glorot ? std::sqrt(6 / (in + out)) : 1 / std::sqrt(in * out);
}

/// Where a block of a layer has its numbers, one row after the other, made large enough for it.
float* storage_of(const ParameterBlock& block, LayerWeights& layer) {
  const auto rows = static_cast<Eigen::Index>(block.rows);
  const auto cols = static_cast<Eigen::Index>(block.cols);
  switch (block.kind) {
    case Kind::weight:
      layer.weight.resize(rows, cols);
      return layer.weight.data();
    case Kind::skip:
      layer.skip.resize(rows, cols);
      return layer.skip.data();
    case Kind::bias:
      layer.bias.resize(block.cols);
      return layer.bias.data();
    case Kind::norm_scale:
      layer.norm_scale.resize(block.cols);
      return layer.norm_scale.data();
    case Kind::norm_shift:
      layer.norm_shift.resize(block.cols);
      return layer.norm_shift.data();
    case Kind::taps:
      break;
  }
  layer.taps.resize(block.rows * block.cols);
  return layer.taps.data();
}

}  // namespace

void initialize(const LayerFilter& filter, const ParameterLayout& layout, std::size_t run,
                const RunSettings& own, std::span<float> parameters) {
  for (const ParameterBlock& block : layout.blocks()) {
    const bool drawn = block.kind == Kind::weight || block.kind == Kind::skip;
    const double bound = bound_of(own.init, block);
    const std::uint64_t item = block.layer * 2 + (block.kind == Kind::skip ? 1 : 0);
    Random random = random_for(own.seed, Use::network_weights, item);
    for_each_row(block, layout.runs(), run, [&](std::size_t i, std::size_t first) {
      for (std::size_t f = 0; f < block.cols; ++f) {
        float& to = parameters[first + f];
        if (drawn) {
          to = static_cast<float>((2 * random.uniform() - 1) * bound);
        } else if (block.kind == Kind::taps) {
          to = static_cast<float>(filter.taps().values()[i * block.cols + f]);
        } else {
          to = block.kind == Kind::norm_scale ? 1.0F : 0.0F;
        }
      }
    });
  }
}

std::vector<LayerWeights> weights_of(const ParameterLayout& layout, std::size_t run,
                                     std::span<const float> parameters) {
  std::vector<LayerWeights> layers(layout.blocks().back().layer + 1);
  for (const ParameterBlock& block : layout.blocks()) {
    float* const to = storage_of(block, layers[block.layer]);
    for_each_row(block, layout.runs(), run, [&](std::size_t i, std::size_t first) {
      std::copy_n(parameters.data() + first, block.cols, to + i * block.cols);
    });
  }
  return layers;
}

void set_weights(const ParameterLayout& layout, std::size_t run,
                 const std::vector<LayerWeights>& weights, std::span<float> parameters) {
  std::vector<LayerWeights> copy = weights;
  for (const ParameterBlock& block : layout.blocks()) {
    const float* const from = storage_of(block, copy[block.layer]);
    for_each_row(block, layout.runs(), run, [&](std::size_t i, std::size_t first) {
      std::copy_n(from + i * block.cols, block.cols, parameters.data() + first);
    });
  }
}

}  // namespace ngf::tasks
