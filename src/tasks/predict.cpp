#include <cmath>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "tasks/batch.hpp"
#include "tasks/node_data.hpp"

namespace ngf {

namespace {

/// Each row z becomes softmax(z).
void softmax_rows(MatrixF& z) {
  for (Eigen::Index u = 0; u < z.rows(); ++u) {
    const float top = z.row(u).maxCoeff();
    float sum = 0;
    for (float& value : z.row(u)) {
      value = std::exp(value - top);
      sum += value;
    }
    z.row(u) /= sum;
  }
}

}  // namespace

Prediction predict(const Model& model, const Dataset& dataset, const PredictOptions& options) {
  if (model.layers.empty()) fail("the model has no layers");
  FeaturesOf<float> features = tasks::features_of(dataset, model.settings.normalize_features);
  if (dataset.feature_count() != model.features()) {
    fail("the model was trained on {} features, and the data set has {}", model.features(),
         dataset.feature_count());
  }
  if (!dataset.labels.empty()) {
    for (const std::int32_t label : dataset.labels) {
      if (label < model.classes()) continue;
      fail("the data set has a label {}, and the model knows {} classes", label, model.classes());
    }
  }
  const auto embeddings = model_embeddings(model.settings, dataset, options.embeddings);
  LayerFilter filter = make_in_half(options.memory, [&](std::uint64_t memory) {
    return LayerFilter(model.settings, dataset.graph,
                       {.storage = options.storage,
                        .threads = options.threads,
                        .memory = memory,
                        .embeddings = embeddings},
                       options.progress);
  });
  Network<float> network(
      model.settings, std::move(filter), std::move(features), model.classes(),
      {.passes = 1, .threads = options.threads, .memory = share_of_left(options.memory, 2)});
  tasks::set_weights(network.layout(), 0, model.layers, network.parameters());
  Prediction result;
  result.probabilities = network.forward();
  if (!result.probabilities.allFinite()) {
    fail("the network's outputs are not finite; its weights or the features are too large");
  }
  const auto classes = static_cast<std::size_t>(model.classes());
  const tasks::Outputs outputs{result.probabilities.data(), classes, classes};
  for (NodeId u = 0; u < dataset.graph.nodes(); ++u) result.labels.push_back(outputs.label(u));
  softmax_rows(result.probabilities);
  return result;
}

}  // namespace ngf
