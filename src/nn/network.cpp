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

#include <algorithm>
#include <optional>
#include <utility>

#include "detail/fail.hpp"
#include "detail/parallel.hpp"
#include "detail/product.hpp"
#include "nn/first_layer.hpp"
#include "nn/input.hpp"
#include "nn/passes.hpp"

namespace ngf {

using detail::ConstView;
using detail::Into;
using detail::MutableView;
using Kind = ParameterBlock::Kind;

template <typename Real>
struct Network<Real>::State {
  struct Layer {
    const ParameterBlock* weight;
    const ParameterBlock* skip;
    const ParameterBlock* bias;
    const ParameterBlock* taps;
    bool filtered;  ///< whether H is multiplied here
    bool last;
    SignalsOf<Real> products;  ///< X Theta, where it must be kept
    SignalsOf<Real> outputs;
    SignalsOf<Real> gradient;  ///< by Z
  };

  ModelSettings settings;
  LayerFilter filter;
  ParameterLayout layout;
  FirstLayer order;
  int threads;
  std::optional<nn::Input<Real>> input;  ///< what Theta of the first layer multiplies
  std::optional<nn::Input<Real>> raw;    ///< the features, where they are needed beside it
  std::vector<Layer> layers;
  std::vector<Real> parameters;
  std::vector<Real> gradient;
  std::optional<nn::Masks> masks;  ///< of the last forward pass

  State(const ModelSettings& model, LayerFilter h, FeaturesOf<Real> features, std::int64_t classes,
        const NetworkOptions& options)
      : settings(model),
        filter(std::move(h)),
        layout(model, nn::shape_of(features).second, classes, options.runs),
        order(choose_first_layer(model, filter, features,
                                 static_cast<std::int64_t>(layout.find(Kind::weight, 0)->cols),
                                 options)),
        threads(options.threads),
        parameters(layout.size(), Real{0}),
        gradient(layout.size(), Real{0}) {
    if (order == FirstLayer::filter_first) {
      input.emplace(nn::filtered(filter, features), runs(), threads);
      if (model.skip) raw.emplace(std::move(features), runs(), threads);
    } else {
      input.emplace(std::move(features), runs(), threads);
    }
    add_layers();
  }

  std::size_t runs() const { return layout.runs(); }
  const nn::Input<Real>& skip_input() const { return raw ? *raw : *input; }

  void add_layers() {
    const auto count = static_cast<std::size_t>(layer_count(settings));
    const auto rows = static_cast<Eigen::Index>(input->rows());
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
      const auto cols = static_cast<Eigen::Index>(layer.weight->cols * runs());
      if (layer.filtered) layer.products.resize(rows, cols);
      layer.outputs.resize(rows, cols);
      layer.gradient.resize(rows, cols);
    }
  }

  // ---- Where things lie ----

  /// A block of parameters or of their gradient, of all runs or of one.
  template <typename View, typename Buffer>
  View block(Buffer& buffer, const ParameterBlock& at) const {
    const auto cols = static_cast<Eigen::Index>(at.cols * runs());
    return View{buffer.data() + at.offset, static_cast<Eigen::Index>(at.rows), cols, cols};
  }
  ConstView<Real> value(const ParameterBlock& at) const {
    return block<ConstView<Real>>(parameters, at);
  }
  MutableView<Real> slope(const ParameterBlock& at) {
    return block<MutableView<Real>>(gradient, at);
  }
  template <typename View>
  View of_run(View all, std::size_t r) const {
    all.cols /= static_cast<Eigen::Index>(runs());
    all.data += static_cast<Eigen::Index>(r) * all.cols;
    return all;
  }
  static ConstView<Real> turned(ConstView<Real> view) {
    view.transposed = true;
    return view;
  }

  // ---- Forward ----

  /// c = X_l B, or c += X_l B, for the weights at `at`.
  void multiply(std::size_t l, const ParameterBlock& at, SignalsOf<Real>& c, Into into) {
    if (l == 0) {
      (at.kind == Kind::skip ? skip_input() : *input).multiply(value(at), detail::view(c), into);
      return;
    }
    const SignalsOf<Real>& x = layers[l - 1].outputs;
    for (std::size_t r = 0; r < runs(); ++r) {
      detail::multiply(of_run(detail::view(x), r), of_run(value(at), r), of_run(detail::view(c), r),
                       into, threads);
    }
  }

  /// H with the taps of one run.
  LayerFilter filter_of_run(const Layer& layer, std::size_t r) const {
    const ConstView<Real> taps = of_run(value(*layer.taps), r);
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

  /// The columns of run r, as a matrix of their own.
  SignalsOf<Real> columns(const SignalsOf<Real>& all, std::size_t r) const {
    const auto width = all.cols() / static_cast<Eigen::Index>(runs());
    return all.middleCols(static_cast<Eigen::Index>(r) * width, width);
  }
  void set_columns(SignalsOf<Real>& all, std::size_t r, const SignalsOf<Real>& of_run) const {
    all.middleCols(static_cast<Eigen::Index>(r) * of_run.cols(), of_run.cols()) = of_run;
  }

  void forward_layer(std::size_t l) {
    Layer& layer = layers[l];
    multiply(l, *layer.weight, layer.filtered ? layer.products : layer.outputs, Into::replace);
    if (layer.filtered && layer.taps == nullptr) {
      layer.outputs = filter.apply(layer.products);
    } else if (layer.filtered) {
      for (std::size_t r = 0; r < runs(); ++r) {
        set_columns(layer.outputs, r, filter_of_run(layer, r).apply(columns(layer.products, r)));
      }
    }
    if (layer.skip != nullptr) multiply(l, *layer.skip, layer.outputs, Into::add);
    std::span<const Real> bias;
    if (layer.bias != nullptr) {
      bias = {parameters.data() + layer.bias->offset, layer.bias->cols * runs()};
    }
    nn::activate(layer.outputs, bias, !layer.last, layer.last ? nullptr : current_masks(), l + 1,
                 runs(), threads);
  }

  const nn::Masks* current_masks() const { return masks ? &*masks : nullptr; }

  const SignalsOf<Real>& forward(const Dropout* dropout) {
    masks.reset();
    if (dropout != nullptr) masks.emplace(*dropout, layers.size());
    input->draw(current_masks());
    for (std::size_t l = 0; l < layers.size(); ++l) forward_layer(l);
    return layers.back().outputs;
  }

  // ---- Backward ----

  /// T = H' G, and the gradient of the taps.
  SignalsOf<Real> through_filter(Layer& layer) {
    if (layer.taps == nullptr) return filter.apply_transpose(layer.gradient);
    SignalsOf<Real> result(layer.gradient.rows(), layer.gradient.cols());
    for (std::size_t r = 0; r < runs(); ++r) {
      const auto gradients =
          filter_of_run(layer, r).gradients(columns(layer.products, r), columns(layer.gradient, r));
      set_columns(result, r, gradients.input);
      const MutableView<Real> taps = of_run(slope(*layer.taps), r);
      for (std::size_t i = 0; i < gradients.taps.size(); ++i) {
        const auto g = static_cast<Eigen::Index>(i) / taps.cols;
        taps.data[g * taps.stride + static_cast<Eigen::Index>(i) % taps.cols] =
            static_cast<Real>(gradients.taps[i]);
      }
    }
    return result;
  }

  /// The gradient of the weights at `at`, where `g` is the one by their product with X_l.
  void weight_gradient(std::size_t l, const ParameterBlock& at, const SignalsOf<Real>& g) {
    if (l == 0) {
      (at.kind == Kind::skip ? skip_input() : *input)
          .multiply_transpose(detail::view(g), slope(at));
      return;
    }
    const SignalsOf<Real>& x = layers[l - 1].outputs;
    for (std::size_t r = 0; r < runs(); ++r) {
      detail::multiply(turned(of_run(detail::view(x), r)), of_run(detail::view(g), r),
                       of_run(slope(at), r), Into::replace, threads);
    }
  }

  /// The gradient by X_l, in place of that of the layer before.
  void input_gradient(std::size_t l, const ParameterBlock& at, const SignalsOf<Real>& g,
                      Into into) {
    SignalsOf<Real>& to = layers[l - 1].gradient;
    for (std::size_t r = 0; r < runs(); ++r) {
      detail::multiply(of_run(detail::view(g), r), turned(of_run(value(at), r)),
                       of_run(detail::view(to), r), into, threads);
    }
  }

  void backward_layer(std::size_t l) {
    Layer& layer = layers[l];
    std::span<Real> by_bias;
    if (layer.bias != nullptr) {
      by_bias = {gradient.data() + layer.bias->offset, layer.bias->cols * runs()};
    }
    nn::deactivate(layer.gradient, layer.last ? nullptr : &layer.outputs,
                   layer.last ? nullptr : current_masks(), by_bias, runs(), threads);
    SignalsOf<Real> behind_filter;
    if (layer.filtered) behind_filter = through_filter(layer);
    const SignalsOf<Real>& t = layer.filtered ? behind_filter : layer.gradient;
    weight_gradient(l, *layer.weight, t);
    if (layer.skip != nullptr) weight_gradient(l, *layer.skip, layer.gradient);
    if (l == 0) return;
    input_gradient(l, *layer.weight, t, Into::replace);
    if (layer.skip != nullptr) input_gradient(l, *layer.skip, layer.gradient, Into::add);
  }

  /// Of both passes of one run. Only the first layer does without a gradient by its input.
  double flops() const {
    double sum = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const auto width = static_cast<double>(layers[l].weight->cols);
      const double entries =
          static_cast<double>(l == 0 ? input->entries() : input->rows() * layers[l].weight->rows);
      sum += 2 * entries * width * (l == 0 ? 2 : 3) * (layers[l].skip != nullptr ? 2 : 1);
      if (layers[l].filtered) {
        sum += 2 * filter.flops(static_cast<std::int64_t>(layers[l].weight->cols));
      }
    }
    return sum;
  }

  void backward(const SignalsOf<Real>& by_logits) {
    layers.back().gradient = by_logits;
    for (std::size_t l = layers.size(); l-- > 0;) backward_layer(l);
  }
};

namespace {

template <typename Real>
void check(const ModelSettings& settings, const LayerFilter& filter,
           const FeaturesOf<Real>& features, std::int64_t classes, const NetworkOptions& options) {
  check_settings(settings);
  const auto [rows, cols] = nn::shape_of(features);
  if (cols < 1) detail::fail("a network needs nodes with features");
  if (classes < 1) detail::fail("a network needs at least one output");
  if (options.runs < 1) detail::fail("a batch needs at least one run");
  if (!filter.identity() && filter.nodes() != static_cast<NodeId>(rows)) {
    detail::fail("features of {} nodes on a graph of {}", rows, filter.nodes());
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
std::span<const Real> Network<Real>::parameters() const {
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
