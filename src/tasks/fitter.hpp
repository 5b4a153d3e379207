#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "ngf/tasks/denoise.hpp"

/// Networks that are fitted to single signals, whatever stops them.
namespace ngf::tasks {

/// Reports to `progress` how many of the epochs of all columns are done.
class Meter {
 public:
  Meter(Progress* progress, std::uint64_t total) : progress_(progress), total_(total) {}

  /// Throws Interrupted where the work should end.
  void add(std::uint64_t epochs);

 private:
  Progress* progress_;
  std::uint64_t total_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

/// What is fitted: one column per signal. A node of weight 0 is not in the loss, which is the mean
/// over those of weight 1.
struct FitTask {
  Eigen::MatrixXf targets;
  Eigen::MatrixXf weights;
  std::uint32_t epochs = 0;
};

/// Sees the outputs of a column after an epoch, from 1 on; false ends its fit. Columns are seen
/// from several threads at once, each from one alone.
using FitWatch =
    std::function<bool(std::size_t column, std::uint32_t epoch, std::span<const float> outputs)>;

class Fitter {
 public:
  Fitter() = default;
  Fitter(const Fitter&) = delete;
  Fitter& operator=(const Fitter&) = delete;
  virtual ~Fitter() = default;

  /// Root of the mean square that signals should have.
  virtual double signal_size() const = 0;
  /// A column's outputs do not depend on the other columns.
  virtual void fit(const FitTask& task, const FitWatch& watch, Meter& meter) = 0;
};

std::unique_ptr<Fitter> make_decoder_fitter(const Graph& graph, const DenoiseSettings& settings,
                                            Progress* progress);
std::unique_ptr<Fitter> make_network_fitter(const Graph& graph, const DenoiseSettings& settings,
                                            Progress* progress);

/// Columns of the noise that a network begins with.
std::int64_t input_width(const Graph& graph, const DenoiseSettings& settings);

/// The gradient by the outputs of the mean of (outputs - targets)^2 over nodes of weight 1.
void squared_error_gradient(std::span<const float> outputs, const float* targets,
                            const float* weights, float* gradient);

}  // namespace ngf::tasks
