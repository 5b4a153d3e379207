#include "train_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ngf/summary.hpp"

namespace ngf::cli {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// "test_accuracy", "val_auc", ...
std::string score_key(std::string_view part, Metric metric) {
  std::string name = fmt::format("{}_{}", part, metric_name(metric));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string_view score_word(Metric metric) {
  if (metric == Metric::auc) return "ROC AUC";
  return metric == Metric::macro_f1 ? "macro-F1" : "accuracy";
}

std::vector<double> test_scores(const std::vector<RunRecord>& runs) {
  std::vector<double> scores;
  scores.reserve(runs.size());
  for (const RunRecord& run : runs) scores.push_back(run.test);
  return scores;
}

/// The taps that every layer has when none are learned; nothing for models without taps.
std::vector<double> fixed_taps(const ModelSettings& model) {
  if (model.model != ModelKind::ngcnn && model.model != ModelKind::gcnn) return {};
  if (!model.taps.empty()) return model.taps;
  const std::size_t count = tap_count(model);
  std::vector<double> taps(count, model.unit_taps ? 1 : 1 / static_cast<double>(count));
  return taps;
}

/// One number of each epoch, over the runs that were still training then.
Series median_series(const std::vector<RunRecord>& runs, const std::string& name,
                     double EpochRecord::*field) {
  Series series{.name = name, .x = {}, .y = {}, .low = {}, .high = {}};
  for (std::size_t epoch = 0;; ++epoch) {
    std::vector<double> values;
    bool any = false;
    for (const RunRecord& run : runs) {
      if (epoch >= run.history.size()) continue;
      any = true;
      const double value = run.history[epoch].*field;
      if (std::isfinite(value)) values.push_back(value);
    }
    if (!any) return series;
    series.x.push_back(static_cast<double>(epoch + 1));
    series.y.push_back(values.empty() ? nan : quantile(values, 0.5));
    series.low.push_back(values.empty() ? nan : quantile(values, 0.25));
    series.high.push_back(values.empty() ? nan : quantile(values, 0.75));
  }
}

}  // namespace

Json results_json(const std::vector<RunRecord>& runs, const ClassifySettings& settings) {
  const std::string test = score_key("test", settings.metric);
  Json json{{"runs", Json::array()}};
  for (const RunRecord& run : runs) {
    Json line{{"seed", run.seed},
              {test, run.test},
              {score_key("val", settings.metric), run.validation},
              {"best_epoch", run.best_epoch}};
    if (settings.model.learn_taps) line["taps"] = run.taps;
    json["runs"].push_back(std::move(line));
  }
  const Summary summary = summarize(test_scores(runs));
  json[test] = {{"mean", summary.mean},
                {"median", summary.median},
                {"std", runs.size() > 1 ? Json(summary.std) : Json()}};
  json["metric"] = metric_name(settings.metric);
  if (settings.model.learn_taps) {
    json["taps"] = best_of(runs).taps;
  } else if (!settings.model.bank) {
    json["taps"] = fixed_taps(settings.model);
  }
  return json;
}

void print_results(const std::vector<RunRecord>& runs, const ClassifySettings& settings) {
  fmt::print("{:>8} {:>12} {:>12} {:>12}\n", "seed", "best epoch", "validation", "test");
  for (const RunRecord& run : runs) {
    fmt::print("{:>8} {:>12} {:>12.4f} {:>12.4f}\n", run.seed, run.best_epoch, run.validation,
               run.test);
  }
  const Summary summary = summarize(test_scores(runs));
  if (runs.size() > 1) {
    fmt::print("\ntest {}: mean {:.4f}, median {:.4f}, standard deviation {:.4f}\n",
               score_word(settings.metric), summary.mean, summary.median, summary.std);
  } else {
    fmt::print("\ntest {}: {:.4f}\n", score_word(settings.metric), summary.mean);
  }
  if (!settings.model.learn_taps) return;
  const RunRecord& best = best_of(runs);
  for (std::size_t layer = 0; layer < best.taps.size(); ++layer) {
    // With a set for each of many groups, they are for a file rather than for people.
    const bool few = best.taps[layer].size() <= 12;
    fmt::print("taps of layer {} (seed {}): {}\n", layer, best.seed,
               few ? fmt::format("{:.4g}", fmt::join(best.taps[layer], ", "))
                   : fmt::format("{} numbers, see --json", best.taps[layer].size()));
  }
}

void print_means(const std::vector<RunRecord>& splits, const ClassifySettings& settings) {
  fmt::print("{:>8} {:>12} {:>12}\n", "split", "validation", "test");
  for (const RunRecord& split : splits) {
    fmt::print("{:>8} {:>12.4f} {:>12.4f}\n", split.seed, split.validation, split.test);
  }
  const Summary summary = summarize(test_scores(splits));
  fmt::print("\ntest {}: mean {:.4f}, median {:.4f}, standard deviation over splits {:.4f}\n",
             score_word(settings.metric), summary.mean, summary.median, summary.std);
}

std::vector<Chart> learning_curves(const std::vector<RunRecord>& runs,
                                   const ClassifySettings& settings, const std::string& title) {
  return {{.title = title,
           .x_label = "epoch",
           .y_label = "training loss",
           .series = {median_series(runs, "", &EpochRecord::loss)}},
          {.title = "",
           .x_label = "epoch",
           .y_label = std::string(score_word(settings.metric)),
           .series = {median_series(runs, "validation nodes", &EpochRecord::validation_score),
                      median_series(runs, "training nodes", &EpochRecord::train_score)}}};
}

}  // namespace ngf::cli
