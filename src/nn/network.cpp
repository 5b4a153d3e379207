// Forward and backward by hand. With G the gradient by Z = H (X Theta) + X Theta_s + b, H' the
// transpose and T = H' G:
//
//   by b:       the sums of the columns of G
//   by Theta:   X' T            by Theta_s:  X' G
//   by X:       T Theta' + G Theta_s'
//   by the taps h_k of H = sum h_k A_k:  <G, A_k (X Theta)>
//
// Where H X is computed once, it stands for X in the first layer, and T = G.

#include "ngf/nn/network.hpp"

#include <optional>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "linalg/product.hpp"
#include "nn/costs.hpp"
#include "nn/first_layer.hpp"
#include "nn/input.hpp"
#include "nn/views.hpp"

namespace ngf {

using detail::ConstView;
using detail::Into;
using detail::MutableView;
using Kind = ParameterBlock::Kind;

template <typename Real>
struct Network<Real>::State {
  /// A matrix for each group of runs that go through a layer together, their columns side by side.
  using Blocks = std::vector<SignalsOf<Real>>;

  struct Layer {
    const ParameterBlock* weight;
    const ParameterBlock* skip;
    const ParameterBlock* bias;
    const ParameterBlock* taps;
    bool filtered;  ///< whether H is multiplied here
    bool last;
    std::size_t columns;  ///< that go through it together, or one run's where these are more
    Blocks products;      ///< X Theta, where the gradient of the taps asks for it
    Blocks outputs;
    Blocks gradient;  ///< by Z
  };

  ModelSettings settings;
  LayerFilter filter;
  ParameterLayout layout;
  FirstLayer order;
  int threads;
  std::optional<nn::Input<Real>> input;   ///< what Theta of the first layer multiplies
  std::optional<nn::Input<Real>> raw;     ///< the features, where they are needed beside it
  std::optional<nn::Input<Real>> scored;  ///< H X, where it serves passes without dropout
  std::vector<Layer> layers;
  AlignedVector<Real> scratch;  ///< X Theta, or H' G, of some runs
  AlignedVector<Real> parameters;
  AlignedVector<Real> gradient;
  std::optional<nn::Masks> masks;  ///< of the last forward pass

  State(const ModelSettings& model, LayerFilter h, FeaturesOf<Real> features, std::int64_t classes,
        const NetworkOptions& options)
      : settings(model),
        filter(std::move(h)),
        layout(model, nn::shape_of(features).second, classes, options.runs),
        order(nn::choose_first_layer(model, filter, features,
                                     static_cast<std::int64_t>(layout.find(Kind::weight, 0)->cols),
                                     options)),
        threads(options.threads),
        parameters(layout.size(), Real{0}),
        gradient(layout.size(), Real{0}) {
    if (order == FirstLayer::filter_first) {
      input.emplace(nn::filtered(filter, features), options.runs, threads);
      if (model.skip) raw.emplace(std::move(features), options.runs, threads);
    } else {
      const auto outputs = static_cast<std::int64_t>(layout.find(Kind::weight, 0)->cols);
      if (nn::scores_filter_first(model, filter, features, outputs, options)) {
        scored.emplace(nn::filtered(filter, features), options.runs, threads);
      }
      input.emplace(std::move(features), options.runs, threads);
    }
    add_layers();
  }

  void add_layers() {
    const auto count = static_cast<std::size_t>(layer_count(settings));
    const auto rows = static_cast<Eigen::Index>(input->rows());
    std::size_t widest = 0;
    for (std::size_t l = 0; l < count; ++l) {
      const bool h_in_input = l == 0 && order == FirstLayer::filter_first;
      Layer& layer = layers.emplace_back();
      layer.weight = layout.find(Kind::weight, l);
      layer.skip = layout.find(Kind::skip, l);
      layer.bias = layout.find(Kind::bias, l);
      layer.taps = layout.find(Kind::taps, l);
      layer.filtered = !filter.identity() && !h_in_input &&
                       !linear_layer(settings, static_cast<std::int64_t>(l));
      layer.last = l + 1 == count;
      layer.columns = nn::costs::columns_of_dense;
      if (layer.filtered) layer.columns = std::min(layer.columns, filter.columns_at_once());
      // The logits of all runs are one matrix.
      if (layer.last) layer.columns = layer.weight->cols * layout.runs();
      for_each_group(layer, [&](const nn::Runs& runs) {
        const auto cols = static_cast<Eigen::Index>(layer.weight->cols * runs.count);
        if (layer.taps != nullptr) layer.products.emplace_back(rows, cols);
        layer.outputs.emplace_back(rows, cols);
        layer.gradient.emplace_back(rows, cols);
      });
      if (layer.filtered) widest = std::max(widest, at_once(layer) * layer.weight->cols);
    }
    scratch.resize(input->rows() * widest);
  }

  // ---- Runs ----

  /// How many go through a layer together.
  std::size_t at_once(const Layer& layer) const {
    return std::clamp<std::size_t>(layer.columns / layer.weight->cols, 1, layout.runs());
  }

  template <typename Body>
  void for_each_group(const Layer& layer, const Body& body) {
    for (std::size_t first = 0; first < layout.runs(); first += at_once(layer)) {
      body(nn::Runs{first, std::min(at_once(layer), layout.runs() - first)});
    }
  }

  /// Calls body(first, count) for pieces of the columns of a group, where a layer may take a run in
  /// pieces: products with sparse features are as fast for few columns.
  template <typename Body>
  void for_each_piece(std::size_t l, const nn::Runs& runs, const Body& body) {
    const Layer& layer = layers[l];
    const std::size_t total = layer.weight->cols * runs.count;
    const bool divisible = l == 0 && input->sparse() && layer.taps == nullptr;
    const std::size_t step = divisible ? std::min(total, layer.columns) : total;
    for (std::size_t first = 0; first < total; first += step) {
      body(first, std::min(step, total - first));
    }
  }

  // ---- Where things lie ----

  /// The columns of some runs of what all have side by side.
  template <typename View>
  View of(View all, const nn::Runs& runs) const {
    const Eigen::Index width = all.cols / static_cast<Eigen::Index>(layout.runs());
    all.cols = width * static_cast<Eigen::Index>(runs.count);
    all.data += width * static_cast<Eigen::Index>(runs.first);
    return all;
  }
  /// The columns of runs of one group.
  MutableView<Real> of(const Layer& layer, Blocks& blocks, const nn::Runs& runs) const {
    const std::size_t group = runs.first / at_once(layer);
    const std::size_t width = layer.weight->cols;
    return nn::columns(detail::view(blocks[group]), (runs.first - group * at_once(layer)) * width,
                       runs.count * width);
  }
  /// What a layer after the first has as its input.
  ConstView<Real> input_of(std::size_t l, const nn::Runs& run) {
    return of(layers[l - 1], layers[l - 1].outputs, run);
  }
  ConstView<Real> value(const ParameterBlock& at, const nn::Runs& runs) const {
    const auto cols = static_cast<Eigen::Index>(at.cols * layout.runs());
    return of(ConstView<Real>{parameters.data() + at.offset, static_cast<Eigen::Index>(at.rows),
                              cols, cols},
              runs);
  }
  MutableView<Real> gradient_of(const ParameterBlock& at, const nn::Runs& runs) {
    const auto cols = static_cast<Eigen::Index>(at.cols * layout.runs());
    return of(MutableView<Real>{gradient.data() + at.offset, static_cast<Eigen::Index>(at.rows),
                                cols, cols},
              runs);
  }
  /// Scratch memory for `count` columns.
  MutableView<Real> scratch_for(std::size_t count) {
    const auto cols = static_cast<Eigen::Index>(count);
    return {scratch.data(), static_cast<Eigen::Index>(input->rows()), cols, cols};
  }
  const nn::Input<Real>& input_of(const ParameterBlock& at) const {
    return at.kind == Kind::skip && raw ? *raw : *input;
  }
  const nn::Masks* current_masks() const { return masks ? &*masks : nullptr; }

  // ---- Forward ----

  /// Whether H is in what this pass multiplies the weights by.
  bool is_filtered(std::size_t l) const { return l == 0 && scored && !masks; }

  /// c = X_l B, or c += X_l B, for the weights at `at`, or in the first layer for some columns of
  /// them.
  void multiply(std::size_t l, const ParameterBlock& at, const nn::Runs& runs,
                const MutableView<Real>& c, Into into, std::size_t first = 0) {
    if (l == 0) {
      const auto count = static_cast<std::size_t>(c.cols);
      const nn::Input<Real>& x = at.kind == Kind::weight && is_filtered(l) ? *scored : input_of(at);
      x.multiply(runs, nn::columns(value(at, runs), first, count), c, into);
      return;
    }
    nn::for_each_run(runs, [&](const nn::Runs& run) {
      detail::multiply(input_of(l, run), value(at, run), nn::among(c, run, runs), into, threads);
    });
  }

  /// H with the taps of one run.
  LayerFilter filter_of(const Layer& layer, const nn::Runs& run) const {
    const ConstView<Real> taps = value(*layer.taps, run);
    std::vector<double> values;
    for (Eigen::Index g = 0; g < taps.rows; ++g) {
      for (Eigen::Index k = 0; k < taps.cols; ++k) {
        values.push_back(static_cast<double>(taps.data[g * taps.stride + k]));
      }
    }
    LayerFilter result = filter;
    result.set_taps(filter.taps().node_variant()
                        ? Taps(filter.taps().count(), std::move(values), filter.taps().group_of())
                        : Taps(std::move(values)));
    return result;
  }

  void forward_group(std::size_t l, const nn::Runs& runs) {
    Layer& layer = layers[l];
    const MutableView<Real> outputs = of(layer, layer.outputs, runs);
    if (layer.taps != nullptr) {
      const MutableView<Real> products = of(layer, layer.products, runs);
      multiply(l, *layer.weight, runs, products, Into::replace);
      nn::for_each_run(runs, [&](const nn::Runs& run) {
        const ConstView<Real> own = nn::among(products, run, runs);
        filter_of(layer, run)
            .template apply_to<Real>(nn::signals(own), nn::signals(nn::among(outputs, run, runs)));
      });
    } else if (layer.filtered && !is_filtered(l)) {
      for_each_piece(l, runs, [&](std::size_t first, std::size_t count) {
        const MutableView<Real> products = scratch_for(count);
        multiply(l, *layer.weight, runs, products, Into::replace, first);
        filter.apply_to<Real>(nn::signals(ConstView<Real>(products)),
                              nn::signals(nn::columns(outputs, first, count)));
      });
    } else {
      multiply(l, *layer.weight, runs, outputs, Into::replace);
    }
    if (layer.skip != nullptr) multiply(l, *layer.skip, runs, outputs, Into::add);
    std::span<const Real> bias;
    if (layer.bias != nullptr) {
      bias = {value(*layer.bias, runs).data, layer.bias->cols * runs.count};
    }
    nn::activate(outputs, bias, !layer.last, layer.last ? nullptr : current_masks(), l + 1, runs,
                 threads);
  }

  const SignalsOf<Real>& forward(const Dropout* dropout) {
    masks.reset();
    if (dropout != nullptr) masks.emplace(*dropout, layers.size(), filter.partition());
    input->draw(current_masks());
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for_each_group(layers[l], [&](const nn::Runs& runs) { forward_group(l, runs); });
    }
    return layers.back().outputs.front();
  }

  // ---- Backward ----

  /// T = H' G of some columns.
  ConstView<Real> through_filter(const MutableView<Real>& g) {
    const MutableView<Real> t = scratch_for(static_cast<std::size_t>(g.cols));
    filter.apply_transpose_to<Real>(nn::signals(ConstView<Real>(g)), nn::signals(t));
    return t;
  }

  /// The same with the taps of each run, whose gradient is found on the way.
  ConstView<Real> through_learned_filter(Layer& layer, const nn::Runs& runs) {
    const MutableView<Real> t = scratch_for(layer.weight->cols * runs.count);
    nn::for_each_run(runs, [&](const nn::Runs& run) {
      const ConstView<Real> x = of(layer, layer.products, run);
      const ConstView<Real> by_output = of(layer, layer.gradient, run);
      const std::vector<double> by_taps =
          filter_of(layer, run)
              .template gradients_to<Real>(nn::signals(x), nn::signals(by_output),
                                           nn::signals(nn::among(t, run, runs)));
      const MutableView<Real> taps = gradient_of(*layer.taps, run);
      for (std::size_t i = 0; i < by_taps.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i);
        taps.data[at / taps.cols * taps.stride + at % taps.cols] = static_cast<Real>(by_taps[i]);
      }
    });
    return t;
  }

  /// The gradient of the weights at `at`, where `g` is the one by their product with X_l; in the
  /// first layer this may be for some columns.
  void weight_gradient(std::size_t l, const ParameterBlock& at, const nn::Runs& runs,
                       const ConstView<Real>& g, std::size_t first = 0) {
    if (l == 0) {
      const auto count = static_cast<std::size_t>(g.cols);
      input_of(at).multiply_transpose(runs, g, nn::columns(gradient_of(at, runs), first, count));
      return;
    }
    nn::for_each_run(runs, [&](const nn::Runs& run) {
      detail::multiply(nn::turned(input_of(l, run)), nn::among(g, run, runs), gradient_of(at, run),
                       Into::replace, threads);
    });
  }

  /// The gradient by X_l: where that of the layer before has its own.
  void input_gradient(std::size_t l, const ParameterBlock& at, const nn::Runs& runs,
                      const ConstView<Real>& g, Into into) {
    Layer& before = layers[l - 1];
    nn::for_each_run(runs, [&](const nn::Runs& run) {
      detail::multiply(nn::among(g, run, runs), nn::turned(value(at, run)),
                       of(before, before.gradient, run), into, threads);
    });
  }

  void backward_group(std::size_t l, const nn::Runs& runs) {
    Layer& layer = layers[l];
    const MutableView<Real> g = of(layer, layer.gradient, runs);
    const ConstView<Real> outputs = of(layer, layer.outputs, runs);
    std::span<Real> by_bias;
    if (layer.bias != nullptr) {
      by_bias = {gradient_of(*layer.bias, runs).data, layer.bias->cols * runs.count};
    }
    nn::deactivate(g, layer.last ? nullptr : &outputs, layer.last ? nullptr : current_masks(),
                   by_bias, runs, threads);
    if (layer.skip != nullptr) {
      weight_gradient(l, *layer.skip, runs, g);
      if (l > 0) input_gradient(l, *layer.skip, runs, g, Into::replace);
    }
    const auto use = [&](const ConstView<Real>& t, std::size_t first) {
      weight_gradient(l, *layer.weight, runs, t, first);
      const Into into = layer.skip != nullptr ? Into::add : Into::replace;
      if (l > 0) input_gradient(l, *layer.weight, runs, t, into);
    };
    if (layer.taps != nullptr) {
      use(through_learned_filter(layer, runs), 0);
    } else if (layer.filtered) {
      for_each_piece(l, runs, [&](std::size_t first, std::size_t count) {
        use(through_filter(nn::columns(g, first, count)), first);
      });
    } else {
      use(g, 0);
    }
  }

  void backward(const SignalsOf<Real>& by_logits) {
    layers.back().gradient.front() = by_logits;
    for (std::size_t l = layers.size(); l-- > 0;) {
      for_each_group(layers[l], [&](const nn::Runs& runs) { backward_group(l, runs); });
    }
    if (filter.partition() != nullptr) add_up_ranks();
  }

  /// Gradients are sums over nodes; those of the taps have been added up already.
  void add_up_ranks() {
    for (const ParameterBlock& block : layout.blocks()) {
      if (block.kind == Kind::taps) continue;
      filter.partition()->communicator().sum(
          std::span(gradient).subspan(block.offset, block.rows * block.cols * layout.runs()));
    }
  }

  /// Of both passes of one run. Only the first layer does without a gradient by its input.
  double flops() const {
    double sum = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto width = static_cast<double>(layers[l].weight->cols);
      const auto entries =
          static_cast<double>(l == 0 ? input->entries() : input->rows() * layers[l].weight->rows);
      sum += 2 * entries * width * (l == 0 ? 2 : 3) * (layers[l].skip != nullptr ? 2 : 1);
      if (layers[l].filtered) {
        sum += 2 * filter.flops(static_cast<std::int64_t>(layers[l].weight->cols));
      }
    }
    return sum;
  }
};

namespace {

template <typename Real>
void check(const ModelSettings& settings, const LayerFilter& filter,
           const FeaturesOf<Real>& features, std::int64_t classes, const NetworkOptions& options) {
  check_settings(settings);
  const auto [rows, cols] = nn::shape_of(features);
  if (cols < 1) fail("a network needs nodes with features");
  if (classes < 1) fail("a network needs at least one output");
  if (options.runs < 1) fail("a batch needs at least one run");
  if (!filter.identity() && filter.rows() != static_cast<NodeId>(rows)) {
    fail("features of {} nodes on a graph of {}", rows, filter.rows());
  }
}

}  // namespace

template <typename Real>
Network<Real>::Network(const ModelSettings& settings, LayerFilter filter, FeaturesOf<Real> features,
                       std::int64_t classes, const NetworkOptions& options) {
  check(settings, filter, features, classes, options);
  state_ =
      std::make_unique<State>(settings, std::move(filter), std::move(features), classes, options);
}
template <typename Real>
Network<Real>::Network(Network&&) noexcept = default;
template <typename Real>
Network<Real>& Network<Real>::operator=(Network&&) noexcept = default;
template <typename Real>
Network<Real>::~Network() = default;

template <typename Real>
const ParameterLayout& Network<Real>::layout() const {
  return state_->layout;
}
template <typename Real>
FirstLayer Network<Real>::first_layer() const {
  return state_->order;
}
template <typename Real>
double Network<Real>::flops() const {
  return state_->flops();
}
template <typename Real>
std::span<Real> Network<Real>::parameters() {
  return state_->parameters;
}
template <typename Real>
std::span<const Real> Network<Real>::gradient() const {
  return state_->gradient;
}
template <typename Real>
const SignalsOf<Real>& Network<Real>::forward(const Dropout* dropout) {
  return state_->forward(dropout);
}
template <typename Real>
void Network<Real>::backward(const SignalsOf<Real>& by_logits) {
  state_->backward(by_logits);
}

template class Network<float>;
template class Network<double>;

}  // namespace ngf
