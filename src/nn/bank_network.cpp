// Networks with banks, forward and backward by hand. With T_0 = X, u = drop(norm(T_l)), or
// drop(T_l), and Z = sum over k of B_k u Theta_k + b:
//
//   T_{l+1} = act(Z), or T_l + act(Z) in a residual block
//
// With G the gradient by Z:  by Theta_k: u' B_k' G,  by u: sum over k of B_k' G Theta_k'. The
// weights are multiplied first, so that the matrices of the bank multiply F_out columns. Powers of
// a shift follow Horner's scheme: one product with S for each power, both ways.

#include <optional>

#include "base/aligned.hpp"
#include "nn/first_layer.hpp"
#include "nn/input.hpp"
#include "nn/layer_norm.hpp"
#include "nn/network_state.hpp"

namespace ngf::nn {

namespace {

using Kind = ParameterBlock::Kind;

/// The matrices of a bank: B_1, B_2, ..., or S alone, whose powers they are.
std::vector<LayerFilter> matrices_of(const ModelSettings& settings, const LayerFilter& filter) {
  if (settings.model == ModelKind::gcnn) return {filter};
  std::vector<LayerFilter> result;
  for (std::size_t k = 1; k <= settings.hops; ++k) {
    std::vector<double> taps(filter.taps().count(), 0);
    taps[k] = 1;
    result.push_back(filter);
    result.back().set_taps(Taps(std::move(taps)));
  }
  return result;
}

/// [X, B_1 X, ..., B_K X], dense.
template <typename Real>
SignalsOf<Real> side_by_side(const std::vector<LayerFilter>& matrices, std::size_t hops,
                             const FeaturesOf<Real>& features) {
  const auto [rows, cols] = shape_of(features);
  SignalsOf<Real> all(rows, cols * static_cast<std::int64_t>(hops + 1));
  std::visit([&all](const auto& x) { all.leftCols(x.cols()) = x; }, features);
  for (std::size_t k = 1; k <= hops; ++k) {
    const bool powers = matrices.size() == 1 && k > 1;
    const auto at = static_cast<Eigen::Index>(k) * cols;
    const SignalsOf<Real> from = all.middleCols(powers ? at - cols : 0, cols);
    all.middleCols(at, cols) = matrices[std::min(k, matrices.size()) - 1].apply(from);
  }
  return all;
}

template <typename Real>
class BankNetwork final : public NetworkState<Real> {
 public:
  BankNetwork(const ModelSettings& model, LayerFilter h, FeaturesOf<Real> features,
              std::int64_t classes, const NetworkOptions& options)
      : Base(model, std::move(h),
             ParameterLayout(model, shape_of(features).second, classes, options.runs),
             options.threads),
        matrices_(matrices_of(model, filter)) {
    const auto [rows, cols] = shape_of(features);
    rows_ = static_cast<std::size_t>(rows);
    const auto shapes = layer_shapes(model, cols, classes);
    joined_ = !model.pre && !options.dropout && joining_pays(features, shapes.front(), options);
    if (joined_) features = side_by_side(matrices_, model.hops, features);
    input_.emplace(std::move(features), options.runs, threads);
    for (std::size_t l = 0; l < shapes.size(); ++l) add_layer(l, shapes[l], l + 1 == shapes.size());
  }

  FirstLayer first_layer() const override {
    if (settings.pre) return FirstLayer::plain;
    return joined_ ? FirstLayer::filter_first : FirstLayer::weights_first;
  }

  double flops() const override {
    double sum = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const LayerShape& shape = layers_[l].shape;
      const auto entries = static_cast<double>(l == 0 ? input_->entries() : rows_ * shape.inputs);
      const double products = joined_ && l == 0 ? 1 : static_cast<double>(shape.matrices);
      sum += 2 * entries * static_cast<double>(shape.outputs) * products * (l == 0 ? 2 : 3);
      if (in_bank(l)) sum += 2 * filter.flops(static_cast<std::int64_t>(shape.outputs));
    }
    return sum;
  }

  const SignalsOf<Real>& forward(const Dropout* dropout) override {
    masks_.reset();
    if (dropout != nullptr) masks_.emplace(*dropout, layers_.size(), filter.partition());
    input_->draw(masks());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      Layer& layer = layers_[l];
      if (copies_input(l)) make_input(l);
      for_each_group(l, [&](const Runs& runs) { multiply_group(l, runs); });
      std::span<const Real> bias;
      if (layer.bias != nullptr) {
        bias = {parameters.data() + layer.bias->offset, layer.bias->cols * layout.runs()};
      }
      activate(detail::view(layer.active), bias, !layer.last, nullptr, l, all_runs(), threads);
      if (layer.residual) add_state(l);
    }
    return layers_.back().active;
  }

  void backward(const SignalsOf<Real>& by_logits) override {
    layers_.back().gradient = by_logits;
    for (std::size_t l = layers_.size(); l-- > 0;) backward_layer(l);
    this->add_up_ranks();
  }

 private:
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

  struct Layer {
    LayerShape shape;
    const ParameterBlock* weight;
    const ParameterBlock* bias;
    const ParameterBlock* norm_scale;
    const ParameterBlock* norm_shift;
    bool residual;
    bool last;
    std::size_t together;      ///< runs that are multiplied together
    SignalsOf<Real> input;     ///< u, where that is not T_l itself
    SignalsOf<Real> active;    ///< act(Z)
    SignalsOf<Real> state;     ///< T_{l+1} of a residual block
    SignalsOf<Real> gradient;  ///< by T_{l+1}, then by Z
  };

  void add_layer(std::size_t l, const LayerShape& shape, bool last) {
    Layer& layer = layers_.emplace_back();
    layer.shape = shape;
    layer.weight = layout.find(Kind::weight, l);
    layer.bias = layout.find(Kind::bias, l);
    layer.norm_scale = layout.find(Kind::norm_scale, l);
    layer.norm_shift = layout.find(Kind::norm_shift, l);
    layer.residual = settings.residual && shape.filtered;
    layer.last = last;
    const std::size_t columns = in_bank(l) ? filter.columns_at_once() : costs::columns_of_dense;
    layer.together = std::clamp<std::size_t>(columns / shape.outputs, 1, layout.runs());
    const auto rows = static_cast<Eigen::Index>(rows_);
    const auto cols = static_cast<Eigen::Index>(shape.outputs * layout.runs());
    layer.active.resize(rows, cols);
    layer.gradient.resize(rows, cols);
    if (layer.residual) layer.state.resize(rows, cols);
    if (!in_bank(l)) return;
    const std::size_t room = rows_ * layer.together * shape.outputs;
    if (first_.size() < room) first_.resize(room);
    if (second_.size() < room) second_.resize(room);
  }

  /// Whether forward and backward take less time with [X, B_1 X, ...] computed once.
  bool joining_pays(const FeaturesOf<Real>& features, const LayerShape& shape,
                    const NetworkOptions& options) const {
    const auto [rows, cols] = shape_of(features);
    const auto matrices = static_cast<double>(shape.matrices);
    const auto width = static_cast<double>(shape.outputs);
    const double entries = static_cast<double>(rows) * static_cast<double>(cols) * matrices;
    const std::uint64_t budget =
        options.memory > 0 ? options.memory : detail::available_memory() / 2;
    const double once = filter.cost(cols) * matrices / options.passes;
    const double joined = 4 * entries * width + once;
    const double apart = 2 * matrices * product_cost(features, width) +
                         2 * filter.cost(static_cast<std::int64_t>(shape.outputs));
    const bool pays = 3 * sizeof(Real) * entries <= static_cast<double>(budget) && joined < apart;
    return filter.partition() == nullptr ? pays : filter.partition()->communicator().of_first(pays);
  }

  // ---- Where things lie ----

  Runs all_runs() const { return {0, layout.runs()}; }
  const Masks* masks() const { return masks_ ? &*masks_ : nullptr; }
  /// Whether layer l multiplies by the matrices of the bank.
  bool in_bank(std::size_t l) const { return layers_[l].shape.filtered && !(joined_ && l == 0); }
  bool powers() const { return settings.model == ModelKind::gcnn; }
  bool jumps_to(std::size_t l) const { return settings.jump && layers_[l].last; }
  /// Whether u is another matrix than T_l.
  bool copies_input(std::size_t l) const {
    return l > 0 && (masks_ || layers_[l].shape.norm || jumps_to(l));
  }

  /// T_{l+1}.
  SignalsOf<Real>& state(std::size_t l) {
    return layers_[l].residual ? layers_[l].state : layers_[l].active;
  }
  ConstView<Real> input_of(std::size_t l, const Runs& run) {
    return of(ConstView<Real>(detail::view(copies_input(l) ? layers_[l].input : state(l - 1))),
              run);
  }
  /// Theta_k, or its gradient: some rows of all weights of a layer.
  template <typename View>
  View block(View all, std::size_t l, std::size_t k) const {
    if (!in_bank(l)) return all;
    const auto inputs = static_cast<Eigen::Index>(layers_[l].shape.inputs);
    all.data += static_cast<Eigen::Index>(k) * inputs * all.stride;
    all.rows = inputs;
    return all;
  }
  MutableView<Real> scratch(AlignedVector<Real>& at, std::size_t l, const Runs& runs) const {
    const auto cols = static_cast<Eigen::Index>(layers_[l].shape.outputs * runs.count);
    return {at.data(), static_cast<Eigen::Index>(rows_), cols, cols};
  }

  template <typename Body>
  void for_each_group(std::size_t l, const Body& body) {
    const std::size_t together = layers_[l].together;
    for (std::size_t first = 0; first < layout.runs(); first += together) {
      body(Runs{first, std::min(together, layout.runs() - first)});
    }
  }

  /// Calls body(j, at) for each layer j whose T_{j+1} is a part of what layer l sees, from column
  /// `at` on: the layer before, or all of them where the layer jumps.
  template <typename Body>
  void for_each_source(std::size_t l, const Body& body) {
    const std::size_t begin = jumps_to(l) ? 0 : l - 1;
    for (std::size_t j = begin; j < l; ++j) body(j, (j - begin) * layers_[j].shape.outputs);
  }

  // ---- Forward ----

  /// u = drop(norm(T_l)), of all runs.
  void make_input(std::size_t l) {
    Layer& layer = layers_[l];
    const std::size_t width = layer.shape.inputs;
    const std::size_t runs = layout.runs();
    layer.input.resize(static_cast<Eigen::Index>(rows_), static_cast<Eigen::Index>(width * runs));
    for_each_rows(
        rows_, rows_in_piece, threads, [&](std::size_t, std::size_t begin, std::size_t end) {
          std::vector<std::uint16_t> words(masks_ ? width : 0);
          for (std::size_t u = begin; u < end; ++u) {
            for (std::size_t r = 0; r < runs; ++r) {
              Real* const to = layer.input.data() + (u * runs + r) * width;
              gather_row(l, r, u, to);
              if (layer.shape.norm) {
                norm_row(to, width, parameters.data() + layer.norm_scale->offset + r * width,
                         parameters.data() + layer.norm_shift->offset + r * width, to);
              }
              drop_row(l, r, u, words, to);
            }
          }
        });
  }

  /// The row of T_l of a run and node, or of all that a jump sees.
  void gather_row(std::size_t l, std::size_t r, std::size_t u, Real* to) {
    for_each_source(l, [&](std::size_t j, std::size_t at) {
      const std::size_t count = layers_[j].shape.outputs;
      std::copy_n(state(j).data() + (u * layout.runs() + r) * count, count, to + at);
    });
  }

  void drop_row(std::size_t l, std::size_t r, std::size_t u, std::vector<std::uint16_t>& words,
                Real* row) const {
    if (!masks_) return;
    masks_->words(r, l, u, rows_, words.size(), words.data());
    drop(words.data(), masks_->threshold(r), static_cast<Real>(masks_->scale(r)), words.size(),
         row);
  }

  /// c = u Theta_k, or c += u Theta_k.
  void multiply(std::size_t l, std::size_t k, const Runs& runs, const MutableView<Real>& c,
                Into into) {
    if (l == 0) {
      input_->multiply(runs, block(value(*layers_[l].weight, runs), l, k), c, into);
      return;
    }
    for_each_run(runs, [&](const Runs& run) {
      detail::multiply(input_of(l, run), block(value(*layers_[l].weight, run), l, k),
                       among(c, run, runs), into, threads);
    });
  }

  /// Z without b.
  void multiply_group(std::size_t l, const Runs& runs) {
    const MutableView<Real> z = of(detail::view(layers_[l].active), runs);
    if (!in_bank(l)) return multiply(l, 0, runs, z, Into::replace);
    MutableView<Real> product = scratch(first_, l, runs);
    MutableView<Real> next = scratch(second_, l, runs);
    if (powers()) {
      // u Theta_0 + S (u Theta_1 + S (u Theta_2 + ...))
      multiply(l, settings.hops, runs, product, Into::replace);
      for (std::size_t k = settings.hops; k-- > 0;) {
        const MutableView<Real>& to = k == 0 ? z : next;
        matrices_[0].template apply_to<Real>(signals(ConstView<Real>(product)), signals(to));
        multiply(l, k, runs, to, Into::add);
        std::swap(product, next);
      }
      return;
    }
    multiply(l, 0, runs, z, Into::replace);
    for (std::size_t k = 1; k <= settings.hops; ++k) {
      multiply(l, k, runs, product, Into::replace);
      matrices_[k - 1].template apply_to<Real>(signals(ConstView<Real>(product)), signals(next));
      add(next, z);
    }
  }

  /// to += from.
  void add(const ConstView<Real>& from, const MutableView<Real>& to) const {
    for_each_rows(rows_, rows_in_piece, threads,
                  [&](std::size_t, std::size_t begin, std::size_t end) {
                    for (std::size_t u = begin; u < end; ++u) {
                      const auto row = static_cast<Eigen::Index>(u);
                      const Real* const x = from.data + row * from.stride;
                      Real* const y = to.data + row * to.stride;
                      for (Eigen::Index f = 0; f < to.cols; ++f) y[f] += x[f];
                    }
                  });
  }

  /// T_{l+1} = T_l + act(Z).
  void add_state(std::size_t l) {
    layers_[l].state = layers_[l].active;
    add(detail::view(state(l - 1)), detail::view(layers_[l].state));
  }

  // ---- Backward ----

  void backward_layer(std::size_t l) {
    Layer& layer = layers_[l];
    // A jump has given the layers before their first part of the gradient.
    const bool given = settings.jump && !layer.last;
    if (layer.residual) {
      if (given) {
        add(detail::view(layer.gradient), detail::view(layers_[l - 1].gradient));
      } else {
        layers_[l - 1].gradient = layer.gradient;
      }
    }
    const ConstView<Real> active = detail::view(layer.active);
    std::span<Real> by_bias;
    if (layer.bias != nullptr) {
      by_bias = {gradient.data() + layer.bias->offset, layer.bias->cols * layout.runs()};
    }
    deactivate(detail::view(layer.gradient), layer.last ? nullptr : &active, nullptr, by_bias,
               all_runs(), threads);
    const bool apart = copies_input(l);
    if (apart) by_input_.resize(layer.input.rows(), layer.input.cols());
    SignalsOf<Real>* const by_u = l == 0 ? nullptr : apart ? &by_input_ : &layers_[l - 1].gradient;
    const Into into = !apart && (given || layer.residual) ? Into::add : Into::replace;
    for_each_group(l, [&](const Runs& runs) { backward_group(l, runs, by_u, into); });
    if (apart) through_input(l, given || layer.residual);
  }

  /// The gradients by Theta_k, for each k, and by u.
  void backward_group(std::size_t l, const Runs& runs, SignalsOf<Real>* by_u, Into into) {
    const MutableView<Real> g = of(detail::view(layers_[l].gradient), runs);
    use_gradient(l, 0, runs, g, by_u, into);
    if (!in_bank(l)) return;
    MutableView<Real> t = scratch(first_, l, runs);
    MutableView<Real> next = scratch(second_, l, runs);
    for (std::size_t k = 1; k <= settings.hops; ++k) {
      const bool follows = powers() && k > 1;
      matrices_[powers() ? 0 : k - 1].template apply_transpose_to<Real>(
          signals(ConstView<Real>(follows ? t : g)), signals(next));
      std::swap(t, next);
      use_gradient(l, k, runs, t, by_u, Into::add);
    }
  }

  /// With t = B_k' G: u' t, and t Theta_k' for the gradient by u.
  void use_gradient(std::size_t l, std::size_t k, const Runs& runs, const ConstView<Real>& t,
                    SignalsOf<Real>* by_u, Into into) {
    const ParameterBlock& weight = *layers_[l].weight;
    if (l == 0) {
      input_->multiply_transpose(runs, t, block(gradient_of(weight, runs), l, k));
      return;
    }
    for_each_run(runs, [&](const Runs& run) {
      const ConstView<Real> own = among(t, run, runs);
      detail::multiply(turned(input_of(l, run)), own, block(gradient_of(weight, run), l, k),
                       Into::replace, threads);
      detail::multiply(own, turned(block(value(weight, run), l, k)), of(detail::view(*by_u), run),
                       into, threads);
    });
  }

  /// From the gradient by u to that by T_l, or by all that a jump sees; `added` to the existing
  /// one.
  void through_input(std::size_t l, bool added) {
    Layer& layer = layers_[l];
    const std::size_t width = layer.shape.inputs;
    const std::size_t runs = layout.runs();
    const std::size_t pieces = (rows_ + rows_in_piece - 1) / rows_in_piece;
    const bool norm = layer.shape.norm;
    // Sums over rows, piece by piece: by the scales, then by the shifts.
    std::vector<Real> sums(norm ? pieces * 2 * runs * width : 0, Real{0});
    for_each_rows(
        rows_, rows_in_piece, threads, [&](std::size_t piece, std::size_t begin, std::size_t end) {
          std::vector<std::uint16_t> words(masks_ ? width : 0);
          std::vector<Real> x(norm ? width : 0);
          for (std::size_t u = begin; u < end; ++u) {
            for (std::size_t r = 0; r < runs; ++r) {
              Real* const g = by_input_.data() + (u * runs + r) * width;
              drop_row(l, r, u, words, g);
              if (norm) {
                gather_row(l, r, u, x.data());
                Real* const sum = sums.data() + (piece * 2 * runs + r) * width;
                norm_row_backward(x.data(), width,
                                  parameters.data() + layer.norm_scale->offset + r * width, g, sum,
                                  sum + runs * width);
              }
              for_each_source(l, [&](std::size_t j, std::size_t at) {
                const std::size_t count = layers_[j].shape.outputs;
                Real* const to = layers_[j].gradient.data() + (u * runs + r) * count;
                for (std::size_t f = 0; f < count; ++f) to[f] = (added ? to[f] : 0) + g[at + f];
              });
            }
          }
        });
    if (norm) add_up_norm(layer, sums);
  }

  void add_up_norm(const Layer& layer, const std::vector<Real>& sums) {
    const std::size_t count = layer.shape.inputs * layout.runs();
    Real* const by_scale = gradient.data() + layer.norm_scale->offset;
    Real* const by_shift = gradient.data() + layer.norm_shift->offset;
    std::fill_n(by_scale, count, Real{0});
    std::fill_n(by_shift, count, Real{0});
    for (std::size_t begin = 0; begin < sums.size(); begin += 2 * count) {
      for (std::size_t i = 0; i < count; ++i) {
        by_scale[i] += sums[begin + i];
        by_shift[i] += sums[begin + count + i];
      }
    }
  }

  std::vector<LayerFilter> matrices_;
  std::size_t rows_ = 0;
  bool joined_ = false;               // whether the first layer's input is [X, B_1 X, ...]
  std::optional<Input<Real>> input_;  // of the first layer
  std::vector<Layer> layers_;
  AlignedVector<Real> first_;  // products of some runs
  AlignedVector<Real> second_;
  SignalsOf<Real> by_input_;    // the gradient by u
  std::optional<Masks> masks_;  // of the last forward pass
};

}  // namespace

template <typename Real>
std::unique_ptr<NetworkState<Real>> make_bank_network(const ModelSettings& settings,
                                                      LayerFilter filter, FeaturesOf<Real> features,
                                                      std::int64_t classes,
                                                      const NetworkOptions& options) {
  return std::make_unique<BankNetwork<Real>>(settings, std::move(filter), std::move(features),
                                             classes, options);
}

template std::unique_ptr<NetworkState<float>> make_bank_network(const ModelSettings&, LayerFilter,
                                                                FeaturesOf<float>, std::int64_t,
                                                                const NetworkOptions&);
template std::unique_ptr<NetworkState<double>> make_bank_network(const ModelSettings&, LayerFilter,
                                                                 FeaturesOf<double>, std::int64_t,
                                                                 const NetworkOptions&);

}  // namespace ngf::nn
