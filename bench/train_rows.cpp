#include "train_rows.hpp"

#include <fmt/format.h>

#include <atomic>
#include <limits>

#include "ngf/error.hpp"
#include "ngf/tasks/classify.hpp"

namespace ngf::bench {

namespace {

/// Ends training after some epochs.
class Stopwatch : public Progress {
 public:
  bool stop_requested() const override { return ended_ > wanted_ * workers_; }

  void starts(std::uint32_t workers) { workers_ = workers; }
  void epoch_ended() {
    ends_.push_back(std::chrono::steady_clock::now());
    ++ended_;
  }

  /// The shortest time in which all workers ended one, for each of them. The first hold what is
  /// computed once.
  double best() const {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t i = workers_; i + workers_ < ends_.size(); ++i) {
      shortest =
          std::min(shortest, std::chrono::duration<double>(ends_[i + workers_] - ends_[i]).count());
    }
    return shortest / static_cast<double>(workers_);
  }

 private:
  static constexpr std::size_t wanted_ = 25;
  std::atomic<std::size_t> workers_ = 1;
  std::atomic<std::size_t> ended_ = 0;
  std::vector<std::chrono::steady_clock::time_point> ends_;
};

struct Timed {
  double seconds = 0;  ///< of the shortest epoch of a batch, while others train too
  ClassifyPlan plan;
};

Timed timed(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs) {
  Timed result;
  Stopwatch stopwatch;
  ClassifyWatch watch;
  watch.progress = &stopwatch;
  watch.on_plan = [&](const ClassifyPlan& plan) {
    result.plan = plan;
    stopwatch.starts(plan.workers);
  };
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
        rows.push_back({.name = fmt::format("{}, K={}, hidden {}, {} {}: ngf", name, taps, hidden,
                                            runs, runs == 1 ? "run" : "runs"),
                        .seconds = seconds,
                        .limit_fraction = rate / tasks.multiplications,
                        .note = fmt::format("{}, {} side by side, {} at a time, {:.1f} GFLOP/s",
                                            trained.plan.first_layer, trained.plan.batch,
                                            trained.plan.workers, rate * 1e-9)});
      }
    }
  }
  return rows;
}

}  // namespace ngf::bench
