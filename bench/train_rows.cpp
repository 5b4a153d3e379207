#include "train_rows.hpp"

#include <fmt/format.h>

#include <limits>

#include "ngf/error.hpp"
#include "ngf/tasks/classify.hpp"

namespace ngf::bench {

namespace {

/// Ends training after some epochs.
class Stopwatch : public Progress {
 public:
  bool stop_requested() const override { return epochs_ > wanted_; }

  void epoch_ended() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    // The first holds what is computed once.
    if (epochs_++ > 0) best_ = std::min(best_, seconds);
    last_ = now;
  }
  double best() const { return best_; }

 private:
  static constexpr int wanted_ = 25;
  int epochs_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point last_;
};

struct Timed {
  double seconds = 0;  ///< of the shortest epoch
  ClassifyPlan plan;
};

Timed timed(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs) {
  Timed result;
  Stopwatch stopwatch;
  ClassifyWatch watch;
  watch.progress = &stopwatch;
  watch.on_plan = [&](const ClassifyPlan& plan) { result.plan = plan; };
  watch.on_epoch = [&](const ClassifyWatch::Epoch&) { stopwatch.epoch_ended(); };
  try {
    classify(dataset, dataset.splits.at(0), settings, runs_of(settings, runs), watch);
  } catch (const Interrupted&) {
    result.seconds = stopwatch.best();
  }
  return result;
}

/// Throws Error where a run in a batch differs from itself alone.
void check(const Dataset& dataset, ClassifySettings settings) {
  settings.epochs = 2;
  const auto trained = [&](std::size_t runs) {
    return classify(dataset, dataset.splits.at(0), settings, runs_of(settings, runs));
  };
  if (trained(3)[0].history != trained(1)[0].history) {
    throw Error("a run in a batch differs from the same run alone");
  }
}

}  // namespace

std::vector<Row> train_rows(const std::string& name, const Dataset& dataset,
                            const TrainTasks& tasks) {
  std::vector<Row> rows;
  for (const int hidden : tasks.hidden) {
    for (const std::uint32_t taps : tasks.taps) {
      ClassifySettings settings = recipe("paper");
      settings.model.hidden = hidden;
      settings.model.hops = taps - 1;
      settings.threads = tasks.threads;
      check(dataset, settings);
      for (const std::size_t runs : tasks.runs) {
        const Timed trained = timed(dataset, settings, runs);
        // Batches follow each other.
        const double batches = static_cast<double>(runs) / trained.plan.batch;
        const double seconds = trained.seconds * batches;
        const double rate = trained.plan.epoch_flops * static_cast<double>(runs) / seconds;
        rows.push_back(
            {.name = fmt::format("{}, K={}, hidden {}, {} {}: ngf", name, taps, hidden, runs,
                                 runs == 1 ? "run" : "runs"),
             .seconds = seconds,
             .limit_fraction = rate / tasks.multiplications,
             .note = fmt::format("{}, {} side by side, {:.1f} GFLOP/s", trained.plan.first_layer,
                                 trained.plan.batch, rate * 1e-9)});
      }
    }
  }
  return rows;
}

}  // namespace ngf::bench
