#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/journal.hpp"
#include "ranks.hpp"
#include "train_report.hpp"

namespace ngf::cli {

/// What is trained, on what: whatever a run's numbers depend on beside its seed.
struct TrainTask {
  std::string name;  ///< of the data set, as the user gave it
  const Dataset* dataset = nullptr;
  Split split;
  ClassifySettings settings;
  const ShardedDataset* dealt = nullptr;  ///< where processes train together; it has one split

  /// The same text for the same numbers; threads and memory are not in it.
  std::string text() const;
};

/// Many runs of one task, of which those that are finished are kept on the disk until all are.
class TrainJob {
 public:
  TrainJob(const TrainTask& task, std::size_t runs);
  TrainJob(const TrainJob&) = delete;
  TrainJob& operator=(const TrainJob&) = delete;
  /// A journal in which nothing is kept goes as well.
  ~TrainJob();

  /// Where the journal belongs: beside the model, or in the user's cache folder, which is made
  /// where it is missing. Nothing where there is no such folder.
  std::optional<std::filesystem::path> place_for_journal(const std::filesystem::path& model) const;
  /// Keeps finished runs in a journal. Throws Error where that cannot be.
  void keep_in(const std::filesystem::path& path, bool resume);
  /// Tells the other processes which runs the first has found finished.
  void share_finished();
  /// Trains the runs that are missing. Throws Interrupted.
  void train(const ClassifyWatch& watch);
  /// The network of the best run. One that an earlier process trained is trained again, which
  /// gives the same.
  Model best_model(Progress* progress);
  /// The job is done: its journal goes.
  void finish();

  /// What the journal says about damaged records; empty for none.
  std::string damage() const { return journal_ ? journal_->damage() : std::string(); }
  std::size_t kept() const { return finished_.size(); }
  const std::optional<std::filesystem::path>& journal_path() const { return journal_path_; }
  std::vector<RunRecord> records() const;

 private:
  std::vector<RunResult> classify_runs(const std::vector<RunSettings>& runs,
                                       const ClassifyWatch& watch) const;

  const TrainTask& task_;
  std::string text_;
  std::vector<RunSettings> runs_;
  std::unique_ptr<Journal> journal_;
  std::optional<std::filesystem::path> journal_path_;
  std::map<std::uint64_t, RunRecord> finished_;  // by seed
  std::vector<RunResult> trained_;               // by this process
};

}  // namespace ngf::cli
