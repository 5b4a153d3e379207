#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/nn/model.hpp"
#include "ngf/nn/optimizer.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/progress.hpp"

/// Node classification: trains networks on the labels of some nodes and scores them on others.
///
/// One epoch is one gradient step on the mean cross-entropy of the training nodes; then the
/// validation nodes are scored. A run's result is its test score at the epoch of its best
/// validation score, the earlier one where two are equal. A run is a function of its seed and
/// settings alone: bit-identical alone or beside other runs, on any number of threads.

namespace ngf {

enum class Metric { accuracy, auc, macro_f1 };
enum class Initialization {
  glorot,  ///< U(+-sqrt(6 / (F_in + F_out)))
  paper,   ///< U(+-1 / sqrt(F_in F_out))
};

std::string_view metric_name(Metric metric);
std::string_view optimizer_name(OptimizerKind kind);
std::string_view initialization_name(Initialization kind);

/// Settings that may differ between runs that share a filter.
struct RunSettings {
  std::uint64_t seed = 1;
  double dropout = 0.7;        ///< of each layer's input, while training
  double lr = 0.01;            ///< the optimiser's step
  double weight_decay = 1e-3;  ///< added to the loss as weight_decay / 2 |Theta|^2
  Initialization init = Initialization::glorot;
};

/// How a network is trained. The defaults are those of recipe("strong"), but for the shift of gcnn,
/// which suits directed graphs too.
struct ClassifySettings {
  ModelSettings model;
  RunSettings run;
  bool decay_all_layers = false;  ///< weight decay on all layers, not only on the first
  OptimizerKind optimizer = OptimizerKind::adam;
  std::uint32_t epochs = 200;
  std::uint32_t patience = 0;  ///< epochs without a better validation score; 0: never stop early
  Metric metric = Metric::accuracy;
  Storage storage = Storage::automatic;  ///< of the shells
  std::optional<Embeddings> embeddings;  ///< of the nodes, for PairWeights::given
  std::uint32_t batch = 0;               ///< runs that train side by side at most; 0: as they fit
  int threads = 0;                       ///< 0: all that the machine offers
  std::uint64_t memory = 0;              ///< bytes; 0: a share of what the machine has free
  /// If given, the ranks of a communicator train together, each on its own nodes. Each rank has the
  /// whole data set, its nodes in the order of the partition, and each gets the results.
  std::shared_ptr<const Partition> partition;
};

/// The defaults of "paper" (the paper's test case 3) or "strong", which has special values for some
/// data sets. Throws Error for another name.
ClassifySettings recipe(std::string_view name, std::string_view dataset = {});

struct EpochRecord {
  double loss = 0;  ///< of the training nodes, without weight decay, before the epoch's step
  double train_score = 0;
  double validation_score = 0;
  friend bool operator==(const EpochRecord&, const EpochRecord&) = default;
};

struct RunResult {
  RunSettings settings;
  double validation_score = 0;
  double test_score = 0;
  std::uint32_t best_epoch = 0;      ///< from 1
  double first_gradient = 0;         ///< norm of the first step's gradient by the first weights
  std::vector<EpochRecord> history;  ///< of epoch 1, 2, ...
  Model model;                       ///< as it was after the best epoch
};

/// What was chosen, for reports.
struct ClassifyPlan {
  std::string first_layer;    ///< "(HX)Theta", "H(X Theta)" or "X Theta"
  std::string storage;        ///< of the shells; empty where there are none
  std::uint32_t batch = 1;    ///< runs side by side
  std::uint32_t workers = 1;  ///< batches at the same time, each on a thread of its own
  double epoch_flops = 0;     ///< of one run: forward and backward, counted
  std::uint64_t pairs = 0;    ///< of the shells that this process holds, and their bytes
  std::uint64_t bytes = 0;
};

/// Callbacks during training. `Progress` counts epochs of runs.
struct ClassifyWatch {
  Progress* progress = nullptr;
  /// A run has ended. What was handed out is kept when training is interrupted later.
  std::function<void(const RunResult&)> on_run;
  /// After each epoch of a batch: the means over its runs that still train.
  struct Epoch {
    std::uint32_t epoch = 0;    ///< from 1
    std::size_t runs_done = 0;  ///< of all
    std::size_t runs = 0;       ///< in this batch
    double loss = 0;
    double validation_score = 0;
  };
  std::function<void(const Epoch&)> on_epoch;
  std::function<void(const ClassifyPlan&)> on_plan;
};

/// Number of outputs of a network for these labels: the largest label + 1. Unlike
/// `Dataset::class_count`, it counts labels that do not occur. The data set must have labels.
std::int64_t output_count(const Dataset& dataset);

/// `count` runs as `settings.run`, with the seeds settings.run.seed, + 1, + 2, ...
std::vector<RunSettings> runs_of(const ClassifySettings& settings, std::size_t count);

/// Trains a network for each of the runs (settings.run does not count) on the nodes of the split.
/// Results come in the order of `runs`, and through the watch as each ends. Throws Error for a data
/// set without features or labels, and for settings out of range; Interrupted when asked to stop.
std::vector<RunResult> classify(const Dataset& dataset, const Split& split,
                                const ClassifySettings& settings,
                                const std::vector<RunSettings>& runs,
                                const ClassifyWatch& watch = {});

struct PredictOptions {
  Storage storage = Storage::automatic;
  int threads = 0;
  std::uint64_t memory = 0;
  std::optional<Embeddings> embeddings = {};  ///< of the nodes, for PairWeights::given
  Progress* progress = nullptr;
};

struct Prediction {
  MatrixF probabilities;             ///< a row for each node
  std::vector<std::int32_t> labels;  ///< the most probable
};

/// Predictions of a model for each node of a data set with the features of the training data.
/// Throws Error if they do not fit.
Prediction predict(const Model& model, const Dataset& dataset, const PredictOptions& options = {});

}  // namespace ngf
