// Networks with one filter per layer, forward and backward by hand. With G the gradient by Z = H (X
// Theta) + X Theta_s + b, H' the transpose and T = H' G:
//
//   by b:       the sums of the columns of G
//   by Theta:   X' T            by Theta_s:  X' G
//   by X:       T Theta' + G Theta_s'
//   by the taps h_k of H = sum h_k A_k:  <G, A_k (X Theta)>
//
// Where H X is computed once, it stands for X in the first layer, and T = G.

#include <optional>

#include "base/aligned.hpp"
#include "linalg/product.hpp"
#include "nn/costs.hpp"
#include "nn/first_layer.hpp"
#include "nn/input.hpp"
#include "nn/network_state.hpp"

namespace ngf::nn {

namespace {

using Kind = ParameterBlock::Kind;

template <typename Real>
class FilterNetwork final : public NetworkState<Real> {
 public:
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

  using Base = NetworkState<Real>;
  using Base::filter;
  using Base::gradient;
  using Base::gradient_of;
  using Base::layout;
  using Base::of;
  using Base::parameters;
  using Base::settings;
  using Base::threads;
  using Base::value;

  FirstLayer order;
  std::optional<Input<Real>> input;   ///< what Theta of the first layer multiplies
  std::optional<Input<Real>> raw;     ///< the features, where they are needed beside it
  std::optional<Input<Real>> scored;  ///< H X, where it serves passes without dropout
  std::vector<Layer> layers;
  AlignedVector<Real> scratch;  ///< X Theta, or H' G, of some runs
  std::optional<Masks> masks;   ///< of the last forward pass

  FilterNetwork(const ModelSettings& model, LayerFilter h, FeaturesOf<Real> features,
                std::int64_t classes, const NetworkOptions& options)
      : Base(model, std::move(h),
             ParameterLayout(model, shape_of(features).second, classes, options.runs),
             options.threads),
        order(choose_first_layer(model, filter, features,
                                 static_cast<std::int64_t>(layout.find(Kind::weight, 0)->cols),
                                 options)) {
    if (order == FirstLayer::filter_first) {
      input.emplace(filtered(filter, features), options.runs, threads);
      if (model.skip) raw.emplace(std::move(features), options.runs, threads);
    } else {
      const auto outputs = static_cast<std::int64_t>(layout.find(Kind::weight, 0)->cols);
      if (scores_filter_first(model, filter, features, outputs, options)) {
        scored.emplace(filtered(filter, features), options.runs, threads);
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
      layer.columns = costs::columns_of_dense;
      if (layer.filtered) layer.columns = std::min(layer.columns, filter.columns_at_once());
      // The logits of all runs are one matrix.
      if (layer.last) layer.columns = layer.weight->cols * layout.runs();
      for_each_group(layer, [&](const Runs& runs) {
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
      body(Runs{first, std::min(at_once(layer), layout.runs() - first)});
    }
  }

  /// Calls body(first, count) for pieces of the columns of a group, where a layer may take a run in
  /// pieces: products with sparse features are as fast for few columns.
  template <typename Body>
  void for_each_piece(std::size_t l, const Runs& runs, const Body& body) {
    const Layer& layer = layers[l];
    const std::size_t total = layer.weight->cols * runs.count;
    const bool divisible = l == 0 && input->sparse() && layer.taps == nullptr;
    const std::size_t step = divisible ? std::min(total, layer.columns) : total;
    for (std::size_t first = 0; first < total; first += step) {
      body(first, std::min(step, total - first));
    }
  }

  // ---- Where things lie ----

  /// The columns of runs of one group.
  MutableView<Real> of(const Layer& layer, Blocks& blocks, const Runs& runs) const {
    const std::size_t group = runs.first / at_once(layer);
    const std::size_t width = layer.weight->cols;
    return columns(detail::view(blocks[group]), (runs.first - group * at_once(layer)) * width,
                   runs.count * width);
  }
  /// What a layer after the first has as its input.
  ConstView<Real> input_of(std::size_t l, const Runs& run) {
    return of(layers[l - 1], layers[l - 1].outputs, run);
  }
  /// Scratch memory for `count` columns.
  MutableView<Real> scratch_for(std::size_t count) {
    const auto cols = static_cast<Eigen::Index>(count);
    return {scratch.data(), static_cast<Eigen::Index>(input->rows()), cols, cols};
  }
  const Input<Real>& input_of(const ParameterBlock& at) const {
    return at.kind == Kind::skip && raw ? *raw : *input;
  }
  const Masks* current_masks() const { return masks ? &*masks : nullptr; }

  // ---- Forward ----

  /// Whether H is in what this pass multiplies the weights by.
  bool is_filtered(std::size_t l) const { return l == 0 && scored && !masks; }

  /// c = X_l B, or c += X_l B, for the weights at `at`, or in the first layer for some columns of
  /// them.
  void multiply(std::size_t l, const ParameterBlock& at, const Runs& runs,
                const MutableView<Real>& c, Into into, std::size_t first = 0) {
    if (l == 0) {
      const auto count = static_cast<std::size_t>(c.cols);
      const Input<Real>& x = at.kind == Kind::weight && is_filtered(l) ? *scored : input_of(at);
      x.multiply(runs, columns(value(at, runs), first, count), c, into);
      return;
    }
    for_each_run(runs, [&](const Runs& run) {
      detail::multiply(input_of(l, run), value(at, run), among(c, run, runs), into, threads);
    });
  }

  /// H with the taps of one run.
  LayerFilter filter_of(const Layer& layer, const Runs& run) const {
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

  void forward_group(std::size_t l, const Runs& runs) {
    Layer& layer = layers[l];
    const MutableView<Real> outputs = of(layer, layer.outputs, runs);
    if (layer.taps != nullptr) {
      const MutableView<Real> products = of(layer, layer.products, runs);
      multiply(l, *layer.weight, runs, products, Into::replace);
      for_each_run(runs, [&](const Runs& run) {
        const ConstView<Real> own = among(products, run, runs);
        filter_of(layer, run)
            .template apply_to<Real>(signals(own), signals(among(outputs, run, runs)));
      });
    } else if (layer.filtered && !is_filtered(l)) {
      for_each_piece(l, runs, [&](std::size_t first, std::size_t count) {
        const MutableView<Real> products = scratch_for(count);
        multiply(l, *layer.weight, runs, products, Into::replace, first);
        filter.template apply_to<Real>(signals(ConstView<Real>(products)),
                                       signals(columns(outputs, first, count)));
      });
    } else {
      multiply(l, *layer.weight, runs, outputs, Into::replace);
    }
    if (layer.skip != nullptr) multiply(l, *layer.skip, runs, outputs, Into::add);
    std::span<const Real> bias;
    if (layer.bias != nullptr) {
      bias = {value(*layer.bias, runs).data, layer.bias->cols * runs.count};
    }
    activate(outputs, bias, !layer.last, layer.last ? nullptr : current_masks(), l + 1, runs,
             threads);
  }

  const SignalsOf<Real>& forward(const Dropout* dropout) override {
    masks.reset();
    if (dropout != nullptr) masks.emplace(*dropout, layers.size(), filter.partition());
    input->draw(current_masks());
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for_each_group(layers[l], [&](const Runs& runs) { forward_group(l, runs); });
    }
    return layers.back().outputs.front();
  }

  // ---- Backward ----

  /// T = H' G of some columns.
  ConstView<Real> through_filter(const MutableView<Real>& g) {
    const MutableView<Real> t = scratch_for(static_cast<std::size_t>(g.cols));
    filter.template apply_transpose_to<Real>(signals(ConstView<Real>(g)), signals(t));
    return t;
  }

  /// The same with the taps of each run, whose gradient is found on the way.
  ConstView<Real> through_learned_filter(Layer& layer, const Runs& runs) {
    const MutableView<Real> t = scratch_for(layer.weight->cols * runs.count);
    for_each_run(runs, [&](const Runs& run) {
      const ConstView<Real> x = of(layer, layer.products, run);
      const ConstView<Real> by_output = of(layer, layer.gradient, run);
      const std::vector<double> by_taps =
          filter_of(layer, run)
              .template gradients_to<Real>(signals(x), signals(by_output),
                                           signals(among(t, run, runs)));
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
  void weight_gradient(std::size_t l, const ParameterBlock& at, const Runs& runs,
                       const ConstView<Real>& g, std::size_t first = 0) {
    if (l == 0) {
      const auto count = static_cast<std::size_t>(g.cols);
      input_of(at).multiply_transpose(runs, g, columns(gradient_of(at, runs), first, count));
      return;
    }
    for_each_run(runs, [&](const Runs& run) {
      detail::multiply(turned(input_of(l, run)), among(g, run, runs), gradient_of(at, run),
                       Into::replace, threads);
    });
  }

  /// The gradient by X_l: where that of the layer before has its own.
  void input_gradient(std::size_t l, const ParameterBlock& at, const Runs& runs,
                      const ConstView<Real>& g, Into into) {
    Layer& before = layers[l - 1];
    for_each_run(runs, [&](const Runs& run) {
      detail::multiply(among(g, run, runs), turned(value(at, run)),
                       of(before, before.gradient, run), into, threads);
    });
  }

  void backward_group(std::size_t l, const Runs& runs) {
    Layer& layer = layers[l];
    const MutableView<Real> g = of(layer, layer.gradient, runs);
    const ConstView<Real> outputs = of(layer, layer.outputs, runs);
    std::span<Real> by_bias;
    if (layer.bias != nullptr) {
      by_bias = {gradient_of(*layer.bias, runs).data, layer.bias->cols * runs.count};
    }
    deactivate(g, layer.last ? nullptr : &outputs, layer.last ? nullptr : current_masks(), by_bias,
               runs, threads);
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
        use(through_filter(columns(g, first, count)), first);
      });
    } else {
      use(g, 0);
    }
  }

  void backward(const SignalsOf<Real>& by_logits) override {
    layers.back().gradient.front() = by_logits;
    for (std::size_t l = layers.size(); l-- > 0;) {
      for_each_group(layers[l], [&](const Runs& runs) { backward_group(l, runs); });
    }
    this->add_up_ranks();
  }

  FirstLayer first_layer() const override { return order; }
  /// Of both passes of one run. Only the first layer does without a gradient by its input.
  double flops() const override {
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

}  // namespace

template <typename Real>
std::unique_ptr<NetworkState<Real>> make_filter_network(const ModelSettings& settings,
                                                        LayerFilter filter,
                                                        FeaturesOf<Real> features,
                                                        std::int64_t classes,
                                                        const NetworkOptions& options) {
  return std::make_unique<FilterNetwork<Real>>(settings, std::move(filter), std::move(features),
                                               classes, options);
}

template std::unique_ptr<NetworkState<float>> make_filter_network(const ModelSettings&, LayerFilter,
                                                                  FeaturesOf<float>, std::int64_t,
                                                                  const NetworkOptions&);
template std::unique_ptr<NetworkState<double>> make_filter_network(const ModelSettings&,
                                                                   LayerFilter, FeaturesOf<double>,
                                                                   std::int64_t,
                                                                   const NetworkOptions&);

}  // namespace ngf::nn
