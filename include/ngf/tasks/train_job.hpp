#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/job.hpp"

namespace ngf {

/// What is trained, on what: whatever a run's numbers depend on beside its seed.
struct TrainTask {
  std::string name;  ///< of the data set, as the user gave it
  const Dataset* dataset = nullptr;
  Split split;
  ClassifySettings settings;
  /// Where processes train together, what they train on instead: the same data set with its one
  /// split and its tap groups, numbered as `settings.partition` has the nodes.
  const Dataset* sharded = nullptr;
  std::vector<std::uint32_t> sharded_groups{};

  /// The same text for the same numbers; threads and memory are not in it.
  std::string text() const;
};

/// What is kept of a run when its network is forgotten.
struct RunRecord {
  std::uint64_t seed = 0;
  double validation = 0;
  double test = 0;
  std::uint32_t best_epoch = 0;
  std::vector<std::vector<float>> taps;  ///< of each layer, where they were learned
  std::vector<EpochRecord> history;
};

/// The run of the best validation score, the first where two are equal.
const RunRecord& best_of(const std::vector<RunRecord>& runs);

/// Many runs of one task, each a piece of a job.
class TrainJob : public Job {
 public:
  /// Runs with the seeds settings.run.seed, + 1, ... The task must outlive this.
  TrainJob(const TrainTask& task, std::size_t runs);

  /// Trains the runs that are missing. Throws Interrupted.
  void train(const ClassifyWatch& watch);
  /// The network of the best run. One that an earlier process trained is trained again, which
  /// gives the same.
  Model best_model(Progress* progress);
  /// The finished runs, in the order of their seeds.
  std::vector<RunRecord> records() const;

 private:
  std::vector<RunResult> classify_runs(const std::vector<RunSettings>& runs,
                                       const ClassifyWatch& watch) const;

  const TrainTask& task_;
  std::vector<RunSettings> runs_;
  std::vector<RunResult> trained_;  // by this process
};

}  // namespace ngf
