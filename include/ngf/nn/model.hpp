#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/filter.hpp"
#include "ngf/matrix.hpp"
#include "ngf/shells.hpp"

/// Graph networks, and trained models. A layer is X' = act(H (X Theta) + X Theta_s + b) with a
/// filter H, or X' = act(sum over k of B_k X Theta_k + b) with a bank: one weight matrix per shell
/// (B_k = N(A_k)) or power (B_k = S^k), and B_0 = I.

namespace ngf {

struct TensorFile;

enum class ModelKind {
  ngcnn,  ///< H is a neighbourhood filter
  gcnn,   ///< H is a polynomial filter
  gcn,    ///< H is the GCN propagation (D + I)^-1/2 (A + I) (D + I)^-1/2
  sgc,    ///< that to the power of `hops`, and one linear map
  mlp,    ///< no graph: H is the identity
};

std::string_view model_name(ModelKind kind);

/// Embeddings whose cosines weight the pairs of shells; see PairFilter.
enum class PairWeights {
  none,
  features,  ///< those of the data set, see feature_embeddings
  given,     ///< by the caller, who has to give them for predictions too
};

std::string_view pair_weights_name(PairWeights pairs);

/// Architecture of a network.
struct ModelSettings {
  ModelKind model = ModelKind::ngcnn;
  /// Shells or powers 0..hops, inclusive (hops + 1 taps); for sgc, the power. gcn and mlp ignore
  /// it.
  std::uint32_t hops = 2;
  /// Fixed taps, or initial values if learned: hops + 1 of them, for each group of `tap_groups`.
  /// Empty: all equal, 1 / (hops + 1), or 1 with `unit_taps`, unless they are learned.
  std::vector<double> taps;
  bool unit_taps = false;
  /// Learn the taps of each layer (ngcnn and gcnn).
  bool learn_taps = false;
  /// Group of each node; empty: one set of taps for all.
  std::vector<std::uint32_t> tap_groups;
  Normalization normalization = Normalization::symmetric;  ///< of ngcnn
  Shift shift = Shift::adjacency_lmax;                     ///< of gcnn
  int min_paths = 1;                                       ///< of ngcnn, see ShellOptions
  std::int64_t hidden = 64;
  std::int64_t layers = 2;  ///< sgc has one, whatever this says
  bool bias = true;
  bool skip = false;  ///< each layer sees its input beside the filter, by Theta_s
  /// The last layer is a linear map alone, without filter and bias; there are layers before it.
  bool linear_output = false;
  PairWeights pair_weights = PairWeights::none;  ///< of ngcnn
  double pair_power = 1;                         ///< of the cosines
  /// Layers are banks of matrices B_0..B_hops, each with weights of its own (ngcnn and gcnn).
  bool bank = false;
  bool pre = false;   ///< a layer without graph before the `layers` banks (with `bank`)
  bool post = false;  ///< a linear layer after them
  /// Banks are blocks X + act(bank(norm(X))), with layer normalisation, between pre and post.
  bool residual = false;
  /// The last layer sees the outputs of all layers before it, side by side. Needs post.
  bool jump = false;
  bool normalize_features = true;  ///< each node's features are divided by the sum of their sizes
};

/// Calls field(name, value) for each of the settings, and field(name, value, name_of, last) for one
/// of several kinds: what names them, and the last of them.
template <typename Settings, typename Field>
void visit_fields(Settings& settings, const Field& field) {
  field("model", settings.model, model_name, ModelKind::mlp);
  field("hops", settings.hops);
  field("taps", settings.taps);
  field("unit_taps", settings.unit_taps);
  field("learn_taps", settings.learn_taps);
  field("tap_groups", settings.tap_groups);
  field("normalization", settings.normalization, normalization_name, Normalization::row);
  field("shift", settings.shift, shift_name, Shift::gcn);
  field("min_paths", settings.min_paths);
  field("hidden", settings.hidden);
  field("layers", settings.layers);
  field("bias", settings.bias);
  field("skip", settings.skip);
  field("linear_output", settings.linear_output);
  field("pair_weights", settings.pair_weights, pair_weights_name, PairWeights::given);
  field("pair_power", settings.pair_power);
  field("bank", settings.bank);
  field("pre", settings.pre);
  field("post", settings.post);
  field("residual", settings.residual);
  field("jump", settings.jump);
  field("normalize_features", settings.normalize_features);
}

/// Throws Error for invalid settings.
void check_settings(const ModelSettings& settings);
/// What a layer does with the outputs of the one before.
struct LayerShape {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t matrices = 1;  ///< with weights of their own: those of a bank, or one
  bool filtered = false;     ///< whether the graph is used
  bool bias = false;
  bool skip = false;
  bool learned_taps = false;
  bool norm = false;  ///< layer normalisation of the input
};
/// The layers of a network with this number of features and classes.
std::vector<LayerShape> layer_shapes(const ModelSettings& settings, std::int64_t features,
                                     std::int64_t classes);
/// Number of layers, those without graph included, of taps and groups of taps.
std::int64_t layer_count(const ModelSettings& settings);
/// Whether layer `l` is a linear map only.
bool linear_layer(const ModelSettings& settings, std::int64_t l);
std::size_t tap_count(const ModelSettings& settings);
std::size_t tap_group_count(const ModelSettings& settings);

/// The weights of one layer; unused ones are empty.
struct LayerWeights {
  MatrixF weight;           ///< F_in x F_out; of a bank Theta_0, Theta_1, ... below each other
  MatrixF skip;             ///< F_in x F_out
  std::vector<float> bias;  ///< F_out
  std::vector<float> taps;  ///< of each group, where they are learned
  std::vector<float> norm_scale;  ///< F_in, of the layer normalisation of its input
  std::vector<float> norm_shift;  ///< F_in
  friend bool operator==(const LayerWeights&, const LayerWeights&) = default;
};

/// A trained network.
struct Model {
  ModelSettings settings;
  std::vector<LayerWeights> layers;
  std::vector<std::string> labels;  ///< the classes' names

  std::int64_t features() const;
  std::int64_t classes() const { return layers.empty() ? 0 : layers.back().weight.cols(); }
};

/// A model as named tensors (layers.0.weight, layers.0.skip, layers.0.bias, layers.0.taps, ...,
/// tap_groups), its settings and labels as JSON in the metadata. Throws Error for weights that are
/// not finite, or larger than 1e18 in size.
TensorFile to_tensors(const Model& model);
/// The inverse. Throws Error for such weights, and for missing, additional or inconsistent tensors.
Model model_from(const TensorFile& file);

}  // namespace ngf
