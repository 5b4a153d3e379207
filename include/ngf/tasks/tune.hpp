#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/job.hpp"

/// Selection of a network by validation nodes: a grid of settings, searched by successive halving.

namespace ngf {

/// Kinds of networks that a search compares.
enum class TuneBlock {
  taps,      ///< layers with one weight matrix and fixed taps
  bank,      ///< banks alone
  jump,      ///< banks between pre and post, with a jump
  residual,  ///< residual blocks between pre and post
};

std::string_view tune_block_name(TuneBlock block);

/// The values of each setting that is searched. All combinations are candidates, but for settings
/// that a block does not have.
struct TuneGrid {
  /// Empty: the layers of the base.
  std::vector<TuneBlock> blocks{TuneBlock::taps, TuneBlock::bank, TuneBlock::jump,
                                TuneBlock::residual};
  std::vector<std::uint32_t> hops{1, 2, 3};
  std::vector<Normalization> normalizations{Normalization::symmetric, Normalization::row};
  std::vector<Shift> shifts{Shift::gcn, Shift::normalized_laplacian};
  std::vector<std::int64_t> residual_layers{2, 4};  ///< other blocks have those of the base
  std::vector<bool> normalize_features{false, true};
  std::vector<double> dropouts{0.2, 0.5, 0.7};
  std::vector<double> weight_decays{5e-5, 5e-4, 5e-3};
};

/// The candidates of a grid around the settings that are not searched. Only ngcnn and gcnn have
/// blocks; other models are searched by dropout, weight decay and features, sgc also by hops.
std::vector<ClassifySettings> tune_candidates(const ClassifySettings& base, const TuneGrid& grid);

/// What is searched. Of a split, only training and validation nodes are read.
struct TuneTask {
  std::string name;  ///< of the data set, as the user gave it
  const Dataset* dataset = nullptr;
  std::vector<Split> splits;
  std::vector<ClassifySettings> candidates;

  /// The same text for the same results.
  std::string text() const;
};

/// A candidate's results.
struct TuneRow {
  std::size_t candidate = 0;
  std::size_t rung = 0;   ///< the last one that it reached
  double validation = 0;  ///< mean of the runs of that rung
  double deviation = 0;   ///< standard deviation of these
  std::size_t runs = 0;
};

/// Rungs of successive halving: each trains the best candidates of the one before, for more epochs,
/// on more splits, in more runs.
struct TuneRung {
  std::size_t candidates = 0;
  std::uint32_t epochs = 0;
  std::size_t splits = 0;
  std::size_t runs = 0;  ///< per split
};

/// The rungs for this number of candidates, epochs, splits, and validation nodes of a split.
std::vector<TuneRung> tune_rungs(std::size_t candidates, std::uint32_t epochs, std::size_t splits,
                                 std::size_t validation_nodes);

/// A search, each training run a piece of the job.
class TuneJob : public Job {
 public:
  /// The task must outlive this.
  explicit TuneJob(const TuneTask& task);

  /// Trains what is missing. Throws Interrupted. `on_run` and `on_plan` of the watch are not
  /// called.
  void search(const ClassifyWatch& watch);
  /// The candidates, the best first; those that reached later rungs before others.
  const std::vector<TuneRow>& rows() const { return rows_; }
  /// The best candidate.
  const ClassifySettings& chosen() const { return task_.candidates.at(rows_.at(0).candidate); }
  const std::vector<TuneRung>& rungs() const { return rungs_; }

 private:
  void train(const std::vector<std::size_t>& candidates, std::size_t rung,
             const ClassifyWatch& watch, std::uint64_t& epochs_done);
  std::uint64_t all_epochs() const;
  TuneRow row_of(std::size_t candidate, std::size_t rung) const;

  const TuneTask& task_;
  std::vector<TuneRung> rungs_;
  std::vector<TuneRow> rows_;
};

}  // namespace ngf
