#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// How far all batches are.
class EpochCounter {
 public:
  EpochCounter(std::size_t runs, std::uint32_t epochs) : total_(std::uint64_t{epochs} * runs) {}

  /// So many epochs of runs are done, or will not be needed. Returns the sum.
  std::uint64_t add(std::uint64_t count) { return done_ += count; }
  std::uint64_t total() const { return total_; }
  std::size_t run_ended() { return ++runs_ended_; }
  std::size_t runs_ended() const { return runs_ended_; }

 private:
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::size_t> runs_ended_{0};
};

/// Trains `runs`, as many as the network has, and tells of each as it ends.
std::vector<RunResult> train_batch(const Task& task, const ClassifySettings& settings,
                                   std::span<const RunSettings> runs, Network<float>& network,
                                   const ClassifyWatch& watch, EpochCounter& counter);

}  // namespace ngf::tasks
