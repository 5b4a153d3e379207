// Epochs of a batch.
//
// Without dropout the forward pass that scores an epoch is also the one that the next step starts
// from, so that an epoch is one forward and one backward pass.

#include <cmath>

#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "ngf/nn/loss.hpp"
#include "ngf/tasks/metrics.hpp"
#include "tasks/batch.hpp"

namespace ngf::tasks {

namespace {

class Trainer {
 public:
  Trainer(const Task& task, const ClassifySettings& settings, std::span<const RunSettings> runs,
          Network<float>& network)
      : task_(task),
        settings_(settings),
        runs_(runs),
        network_(network),
        optimizer_(settings.optimizer, network.layout(), steps(runs), settings.decay_all_layers,
                   settings.threads),
        results_(runs.size()),
        stopped_(runs.size(), false) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      results_[r].settings = runs[r];
      results_[r].validation_score = -std::numeric_limits<double>::infinity();
      drops_ = drops_ || runs[r].dropout > 0;
      dropout_.rates.push_back(runs[r].dropout);
      dropout_.seeds.push_back(runs[r].seed);
    }
    parallel_for(runs.size(), settings.threads, [&](std::size_t r) {
      initialize(task_.filter, network_.layout(), r, runs_[r], network_.parameters());
    });
    if (!drops_) forward(nullptr);
  }

  /// One step of all runs, and their scores.
  void epoch(std::uint32_t number) {
    if (drops_) {
      dropout_.step = number;
      forward(&dropout_);
    }
    const std::vector<double> losses =
        softmax_cross_entropy(*logits_, runs_.size(), task_.labels, task_.split.train, &by_logits_);
    backward();
    if (number == 1) record_gradients();
    optimizer_.step(network_.parameters(), network_.gradient());
    forward(nullptr);
    parallel_for(runs_.size(), settings_.threads, [&](std::size_t r) {
      if (!stopped_[r]) record(r, number, losses[r]);
    });
  }

  bool stopped(std::size_t r) const { return stopped_[r] != 0; }
  RunResult& result(std::size_t r) { return results_[r]; }

 private:
  void forward(const Dropout* dropout) {
    logits_ = &network_.forward(dropout);
    if (const Partition* const partition = task_.filter.partition()) {
      all_logits_ = gathered<float>(*partition, *logits_);
      logits_ = &all_logits_;
    }
  }
  void backward() {
    const Partition* const partition = task_.filter.partition();
    network_.backward(partition == nullptr
                          ? by_logits_
                          : SignalsOf<float>(by_logits_.middleRows(partition->own().begin,
                                                                   partition->own().count())));
  }

  static std::vector<StepSettings> steps(std::span<const RunSettings> runs) {
    std::vector<StepSettings> result;
    for (const RunSettings& run : runs) result.push_back({run.lr, run.weight_decay});
    return result;
  }

  double score_of(std::size_t r, const std::vector<NodeId>& nodes) const {
    const auto classes = static_cast<std::size_t>(task_.classes);
    const Outputs outputs{logits_->data() + r * classes, classes * runs_.size(), classes};
    return score(settings_.metric, outputs, task_.labels, nodes);
  }

  void record_gradients() {
    const ParameterBlock& first = *network_.layout().find(ParameterBlock::Kind::weight, 0);
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      double squares = 0;
      for (std::size_t i = 0; i < first.rows; ++i) {
        const std::size_t begin = first.offset + (i * runs_.size() + r) * first.cols;
        for (const float value : network_.gradient().subspan(begin, first.cols)) {
          squares += double{value} * value;
        }
      }
      results_[r].first_gradient = std::sqrt(squares);
    }
  }

  void record(std::size_t r, std::uint32_t number, double loss) {
    RunResult& result = results_[r];
    const double validation = score_of(r, task_.split.validation);
    result.history.push_back({loss, score_of(r, task_.split.train), validation});
    if (validation > result.validation_score) {
      result.validation_score = validation;
      result.test_score = score_of(r, task_.split.test);
      result.best_epoch = number;
      result.model.layers = weights_of(network_.layout(), r, network_.parameters());
    }
    const bool patient = settings_.patience == 0 || number - result.best_epoch < settings_.patience;
    stopped_[r] = number == settings_.epochs || !patient ? 1 : 0;
  }

  const Task& task_;
  const ClassifySettings& settings_;
  std::span<const RunSettings> runs_;
  Network<float>& network_;
  Optimizer<float> optimizer_;
  Dropout dropout_;
  bool drops_ = false;
  const SignalsOf<float>* logits_ = nullptr;
  SignalsOf<float> all_logits_;  // of all ranks' nodes; unused by one process
  SignalsOf<float> by_logits_;
  std::vector<RunResult> results_;
  std::vector<std::uint8_t> stopped_;  // bytes, since threads write them side by side
};

}  // namespace

std::int32_t Outputs::label(NodeId u) const {
  const float* const row = data + u * stride;
  return static_cast<std::int32_t>(std::max_element(row, row + classes) - row);
}

double score(Metric metric, const Outputs& outputs, std::span<const std::int32_t> labels,
             std::span<const NodeId> nodes) {
  std::vector<std::int32_t> truth;
  truth.reserve(nodes.size());
  for (const NodeId u : nodes) truth.push_back(labels[u]);
  if (metric == Metric::auc) {
    if (outputs.classes != 2) fail("AUC is for two classes, and there are {}", outputs.classes);
    std::vector<float> margins;
    margins.reserve(nodes.size());
    for (const NodeId u : nodes) {
      const float* const row = outputs.data + u * outputs.stride;
      margins.push_back(row[1] - row[0]);
    }
    return roc_auc(std::span<const float>(margins), truth);
  }
  std::vector<std::int32_t> predicted;
  predicted.reserve(nodes.size());
  for (const NodeId u : nodes) predicted.push_back(outputs.label(u));
  return metric == Metric::accuracy ? accuracy(predicted, truth) : macro_f1(predicted, truth);
}

std::vector<RunResult> train_batch(const Task& task, const ClassifySettings& settings,
                                   std::span<const RunSettings> runs, Network<float>& network,
                                   Told& told) {
  const ClassifyWatch& watch = told.watch;
  Trainer trainer(task, settings, runs, network);
  std::vector<RunResult> results(runs.size());
  std::vector<bool> done(runs.size(), false);
  std::size_t left = runs.size();
  for (std::uint32_t number = 1; left > 0; ++number) {
    throw_if_stopped(watch.progress);
    trainer.epoch(number);
    const std::lock_guard lock(told.mutex);
    ClassifyWatch::Epoch news{.epoch = number, .runs_done = told.runs_done, .runs = left};
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (done[r]) continue;
      const EpochRecord& last = trainer.result(r).history.back();
      news.loss += last.loss / static_cast<double>(left);
      news.validation_score += last.validation_score / static_cast<double>(left);
    }
    if (watch.on_epoch) watch.on_epoch(news);
    told.epochs_done += left;
    if (watch.progress != nullptr) watch.progress->report(told.epochs_done, told.epochs);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (done[r] || !trainer.stopped(r)) continue;
      done[r] = true;
      --left;
      told.epochs_done += settings.epochs - number;
      ++told.runs_done;
      results[r] = std::move(trainer.result(r));
      results[r].model.settings = settings.model;
      results[r].model.labels = task.label_names;
      if (watch.on_run) watch.on_run(results[r]);
    }
  }
  return results;
}

}  // namespace ngf::tasks
