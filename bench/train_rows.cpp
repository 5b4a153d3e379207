#include "train_rows.hpp"

#include <fmt/format.h>

#include <limits>

#include "ngf/error.hpp"
#include "ngf/tasks/classify.hpp"

namespace ngf::bench {

namespace {

struct Timed {
  double seconds = std::numeric_limits<double>::infinity();  ///< of the shortest epoch
  ClassifyPlan plan;
  std::vector<RunResult> runs;
};

Timed timed(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs) {
  Timed result;
  ClassifyWatch watch;
  watch.on_plan = [&](const ClassifyPlan& plan) { result.plan = plan; };
  auto last = std::chrono::steady_clock::now();
  watch.on_epoch = [&](const ClassifyWatch::Epoch& epoch) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    if (epoch.epoch > 1) result.seconds = std::min(result.seconds, seconds);
    last = now;
  };
  result.runs = classify(dataset, dataset.splits.at(0), settings, runs_of(settings, runs), watch);
  return result;
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
      settings.epochs = tasks.epochs;
      std::vector<EpochRecord> alone;
      for (const std::size_t runs : tasks.runs) {
        const Timed trained = timed(dataset, settings, runs);
        if (alone.empty()) alone = trained.runs[0].history;
        if (trained.runs[0].history != alone) {
          throw Error(fmt::format("{}: a run of {} differs from the same run alone", name, runs));
        }
        const double flops = trained.plan.epoch_flops * static_cast<double>(trained.plan.batch);
        const double rate = flops / trained.seconds;
        rows.push_back(
            {.name = fmt::format("{} hidden {} K={} runs {}", name, hidden, taps, runs),
             .seconds = trained.seconds,
             .limit_fraction = rate / tasks.multiplications,
             .note = fmt::format("{}, {} side by side, {:.1f} GFLOP/s", trained.plan.first_layer,
                                 trained.plan.batch, rate * 1e-9)});
      }
    }
  }
  return rows;
}

}  // namespace ngf::bench
