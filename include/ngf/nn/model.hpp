#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/filter.hpp"
#include "ngf/matrix.hpp"
#include "ngf/shells.hpp"

/// Graph networks with layers X' = act(H (X Theta) + X Theta_s + b), and trained models.

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
  field("normalize_features", settings.normalize_features);
}

/// Throws Error for invalid settings.
void check_settings(const ModelSettings& settings);
/// Number of layers, taps and groups of taps.
std::int64_t layer_count(const ModelSettings& settings);
/// Whether layer `l` is a linear map only.
bool linear_layer(const ModelSettings& settings, std::int64_t l);
std::size_t tap_count(const ModelSettings& settings);
std::size_t tap_group_count(const ModelSettings& settings);

/// The weights of one layer; unused ones are empty.
struct LayerWeights {
  MatrixF weight;           ///< F_in x F_out
  MatrixF skip;             ///< F_in x F_out
  std::vector<float> bias;  ///< F_out
  std::vector<float> taps;  ///< of each group, where they are learned
  friend bool operator==(const LayerWeights&, const LayerWeights&) = default;
};

/// A trained network.
struct Model {
  ModelSettings settings;
  std::vector<LayerWeights> layers;
  std::vector<std::string> labels;  ///< the classes' names

  std::int64_t features() const { return layers.empty() ? 0 : layers.front().weight.rows(); }
  std::int64_t classes() const { return layers.empty() ? 0 : layers.back().weight.cols(); }
};

/// A model as named tensors (layers.0.weight, layers.0.skip, layers.0.bias, layers.0.taps, ...,
/// tap_groups), its settings and labels as JSON in the metadata. Throws Error for weights that are
/// not finite, or larger than 1e18 in size.
TensorFile to_tensors(const Model& model);
/// The inverse. Throws Error for such weights, and for missing, additional or inconsistent tensors.
Model model_from(const TensorFile& file);

}  // namespace ngf
