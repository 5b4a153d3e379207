#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "ngf/tensor.hpp"
#include "nn/model_json.hpp"

namespace ngf {

using nlohmann::json;

namespace {

constexpr std::string_view format = "ngf-model";

/// A whole number that `Number` can hold.
template <typename Number>
Number whole_number(const json& j, const std::string& key) {
  const json& value = j.at(key);
  const bool fits =
      value.is_number_unsigned()
          ? std::in_range<Number>(value.get<std::uint64_t>())
          : value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
  if (!fits) fail("the model's settings have {} {}, which no model has", value.dump(), key);
  return value.get<Number>();
}

/// The groups of taps are a tensor, not JSON.
constexpr const char* groups_key = "tap_groups";

/// Files of older versions do not have all settings.
bool in_file(const json& j, const std::string& key) {
  constexpr std::array later{"linear_output", "pair_weights", "pair_power", "bank",
                             "pre",           "post",         "residual",   "jump"};
  return std::ranges::find(later, key) == later.end() || j.contains(key);
}

template <typename Value>
void read_field(const json& j, const std::string& key, Value& value) {
  if (key == groups_key || !in_file(j, key)) return;
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    value = whole_number<Value>(j, key);
  } else {
    value = j.at(key).get<Value>();
  }
}

ModelSettings settings_from(const json& j) {
  ModelSettings settings;
  visit_fields(
      settings,
      nn::Overloaded{[&](const char* key, auto& value) { read_field(j, key, value); },
                     [&](const char* key, auto& kind, auto name_of, auto last) {
                       if (!in_file(j, key)) return;
                       const auto name = j.at(key).get<std::string>();
                       const auto found = detail::find_kind(name, name_of, last);
                       if (!found) {
                         fail("the model's settings name '{}', which this version does not know",
                              name);
                       }
                       kind = *found;
                     }});
  return settings;
}

void add(TensorFile& file, std::string name, std::vector<std::uint64_t> shape,
         std::vector<float> values) {
  if (!values.empty())
    file.tensors.push_back({std::move(name), std::move(shape), std::move(values)});
}

void add(TensorFile& file, std::string name, const MatrixF& matrix) {
  add(file, std::move(name),
      {static_cast<std::uint64_t>(matrix.rows()), static_cast<std::uint64_t>(matrix.cols())},
      {matrix.data(), matrix.data() + matrix.size()});
}

void add(TensorFile& file, std::string name, const std::vector<float>& values) {
  add(file, std::move(name), {values.size()}, values);
}

/// The tensors of a file by name, each taken once.
class Tensors {
 public:
  explicit Tensors(const TensorFile& file) {
    for (const Tensor& tensor : file.tensors) by_name_.emplace(tensor.name, &tensor);
  }

  bool has(const std::string& name) const { return by_name_.contains(name); }

  const Tensor& take(const std::string& name, std::size_t dimensions) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail("the model has no tensor '{}'", name);
    const Tensor& tensor = *found->second;
    by_name_.erase(found);
    if (tensor.shape.size() != dimensions) {
      fail("tensor '{}' has {} dimensions, not {}", name, tensor.shape.size(), dimensions);
    }
    return tensor;
  }

  /// Of a matrix, which stays.
  std::pair<std::int64_t, std::int64_t> shape(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) fail("the model has no tensor '{}'", name);
    const auto& shape = found->second->shape;
    if (shape.size() != 2) fail("tensor '{}' has {} dimensions, not 2", name, shape.size());
    return {static_cast<std::int64_t>(shape[0]), static_cast<std::int64_t>(shape[1])};
  }

  MatrixF matrix(const std::string& name) {
    const Tensor& tensor = take(name, 2);
    return Eigen::Map<const MatrixF>(tensor.values.data(),
                                     static_cast<Eigen::Index>(tensor.shape[0]),
                                     static_cast<Eigen::Index>(tensor.shape[1]));
  }

  std::vector<float> vector(const std::string& name) { return take(name, 1).values; }

  void check_all_taken() const {
    if (!by_name_.empty()) fail("the model has a tensor '{}' too many", by_name_.begin()->first);
  }

 private:
  std::map<std::string, const Tensor*> by_name_;
};

std::string tensor_name(std::size_t layer, std::string_view part) {
  return fmt::format("layers.{}.{}", layer, part);
}

std::vector<std::uint32_t> groups_from(const std::vector<float>& values) {
  constexpr float most = 1 << 24;  // floats hold each whole number up to here
  std::vector<std::uint32_t> groups;
  for (const float value : values) {
    if (!(value >= 0 && value < most) || value != static_cast<float>(static_cast<int>(value))) {
      fail("tensor 'tap_groups' has an entry {}, which is no group", value);
    }
    groups.push_back(static_cast<std::uint32_t>(value));
  }
  return groups;
}

/// Throws Error for weights that no training ends with: a network of them computes no numbers.
void check_weights(const TensorFile& file) {
  constexpr float largest = 1e18F;  // products of two are finite
  for (const Tensor& tensor : file.tensors) {
    for (const float value : tensor.values) {
      if (std::abs(value) <= largest) continue;
      fail("tensor '{}' has a weight {}; a weight is a finite number of at most {} in size",
           tensor.name, value, largest);
    }
  }
}

/// A layer of this shape. Throws Error where the tensors have others.
LayerWeights take_layer(Tensors& tensors, const ModelSettings& settings, std::size_t l,
                        const LayerShape& shape) {
  const auto name = [&](std::string_view part) { return tensor_name(l, part); };
  LayerWeights layer;
  bool fits = true;
  const auto take_matrix = [&](std::string_view part, MatrixF& to, std::size_t rows) {
    to = tensors.matrix(name(part));
    fits = fits && to.size() > 0 && to.rows() == static_cast<Eigen::Index>(rows) &&
           to.cols() == static_cast<Eigen::Index>(shape.outputs);
  };
  const auto take_vector = [&](std::string_view part, std::vector<float>& to, std::size_t size) {
    to = tensors.vector(name(part));
    fits = fits && to.size() == size;
  };
  take_matrix("weight", layer.weight, shape.matrices * shape.inputs);
  if (shape.skip) take_matrix("skip", layer.skip, shape.inputs);
  if (shape.bias) take_vector("bias", layer.bias, shape.outputs);
  if (shape.learned_taps) {
    take_vector("taps", layer.taps, tap_count(settings) * tap_group_count(settings));
  }
  if (shape.norm) {
    take_vector("norm_scale", layer.norm_scale, shape.inputs);
    take_vector("norm_shift", layer.norm_shift, shape.inputs);
  }
  if (!fits) {
    fail("the tensors of layer {} of the model do not fit its settings or its neighbours", l);
  }
  return layer;
}

}  // namespace

TensorFile to_tensors(const Model& model) {
  TensorFile file;
  file.metadata["format"] = format;
  json settings = nn::to_json(model.settings);
  settings.erase(groups_key);
  file.metadata["settings"] = settings.dump();
  file.metadata["labels"] = json(model.labels).dump();
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const LayerWeights& layer = model.layers[l];
    add(file, tensor_name(l, "weight"), layer.weight);
    add(file, tensor_name(l, "skip"), layer.skip);
    add(file, tensor_name(l, "bias"), layer.bias);
    add(file, tensor_name(l, "taps"), layer.taps);
    add(file, tensor_name(l, "norm_scale"), layer.norm_scale);
    add(file, tensor_name(l, "norm_shift"), layer.norm_shift);
  }
  const auto& groups = model.settings.tap_groups;
  add(file, groups_key, std::vector<float>(groups.begin(), groups.end()));
  check_weights(file);
  return file;
}

Model model_from(const TensorFile& file) {
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) {
      fail("the file's metadata have no '{}': it is no model of ngf", key);
    }
    return found->second;
  };
  if (text("format") != format) fail("the file is no model of ngf");
  Model model;
  try {
    model.settings = settings_from(json::parse(text("settings")));
    model.labels = json::parse(text("labels")).get<std::vector<std::string>>();
  } catch (const json::exception&) {
    fail("the model's metadata are broken: 'settings' or 'labels' are not as ngf writes them");
  }
  check_weights(file);
  Tensors tensors(file);
  if (tensors.has(groups_key)) {
    model.settings.tap_groups = groups_from(tensors.vector(groups_key));
  }
  check_settings(model.settings);
  // The first and the last weights tell the numbers of features and classes.
  const auto count = static_cast<std::size_t>(layer_count(model.settings));
  const std::int64_t rows = tensors.shape(tensor_name(0, "weight")).first;
  const std::int64_t classes = tensors.shape(tensor_name(count - 1, "weight")).second;
  const auto matrices =
      static_cast<std::int64_t>(layer_shapes(model.settings, 1, 1).front().matrices);
  const auto shapes = layer_shapes(model.settings, rows / matrices, classes);
  for (std::size_t l = 0; l < count; ++l) {
    model.layers.push_back(take_layer(tensors, model.settings, l, shapes[l]));
  }
  tensors.check_all_taken();
  if (static_cast<std::int64_t>(model.labels.size()) != model.classes()) {
    fail("the model names {} labels for {} classes", model.labels.size(), model.classes());
  }
  return model;
}

}  // namespace ngf
