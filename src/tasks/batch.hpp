#pragma once

#include <mutex>

#include "ngf/nn/network.hpp"
#include "ngf/tasks/classify.hpp"

/// Runs that train side by side.
namespace ngf::tasks {

/// What all runs learn from. The nodes are those of the split alone where the network does not
/// look at others.
struct Task {
  FeaturesOf<float> features;
  LayerFilter filter;
  std::vector<std::int32_t> labels;
  Split split;
  std::int64_t classes = 0;
  std::vector<std::string> label_names;
};

/// The parameters of a run, drawn by its seed, written to their places.
void initialize(const LayerFilter& filter, const ParameterLayout& layout, std::size_t run,
                const RunSettings& own, std::span<float> parameters);

/// The parameters of one run as weights of layers, and back.
std::vector<LayerWeights> weights_of(const ParameterLayout& layout, std::size_t run,
                                     std::span<const float> parameters);
void set_weights(const ParameterLayout& layout, std::size_t run,
                 const std::vector<LayerWeights>& weights, std::span<float> parameters);

/// The outputs of one run: node u's begin at data[u * stride].
struct Outputs {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::size_t classes = 0;

  /// The class with the largest output, the first of equal ones.
  std::int32_t label(NodeId u) const;
};

double score(Metric metric, const Outputs& outputs, std::span<const std::int32_t> labels,
             std::span<const NodeId> nodes);

/// How far all batches are, and who is told: of one thing at a time.
struct Told {
  const ClassifyWatch& watch;
  std::uint64_t epochs = 0;  ///< of all runs
  std::uint64_t epochs_done = 0;
  std::size_t runs_done = 0;
  std::mutex mutex{};
};

/// Trains `runs`, as many as the network has, and tells of each as it ends.
std::vector<RunResult> train_batch(const Task& task, const ClassifySettings& settings,
                                   std::span<const RunSettings> runs, Network<float>& network,
                                   Told& told);

}  // namespace ngf::tasks
