#include "train_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ngf/summary.hpp"

namespace ngf::cli {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// JSON has no word for what is no number; a null stands for it.
double number(const Json& value) { return value.is_null() ? nan : value.get<double>(); }

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
  return std::vector<double>(count, model.unit_taps ? 1 : 1 / static_cast<double>(count));
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

RunRecord record_of(const RunResult& result) {
  RunRecord run{.seed = result.settings.seed,
                .validation = result.validation_score,
                .test = result.test_score,
                .best_epoch = result.best_epoch,
                .taps = {},
                .history = result.history};
  for (const LayerWeights& layer : result.model.layers) {
    if (!layer.taps.empty()) run.taps.push_back(layer.taps);
  }
  return run;
}

std::string journal_text(const RunRecord& run) {
  Json json{{"seed", run.seed}, {"validation", run.validation},
            {"test", run.test}, {"best_epoch", run.best_epoch},
            {"taps", run.taps}, {"history", Json::array()}};
  for (const EpochRecord& epoch : run.history) {
    json["history"].push_back({epoch.loss, epoch.train_score, epoch.validation_score});
  }
  return json.dump();
}

RunRecord record_from(const std::string& journal_text) {
  const Json json = Json::parse(journal_text);
  RunRecord run{.seed = json.at("seed").get<std::uint64_t>(),
                .validation = number(json.at("validation")),
                .test = number(json.at("test")),
                .best_epoch = json.at("best_epoch").get<std::uint32_t>(),
                .taps = {},
                .history = {}};
  for (const Json& layer : json.at("taps")) {
    auto& taps = run.taps.emplace_back();
    for (const Json& tap : layer) taps.push_back(static_cast<float>(number(tap)));
  }
  for (const Json& epoch : json.at("history")) {
    run.history.push_back({number(epoch.at(0)), number(epoch.at(1)), number(epoch.at(2))});
  }
  return run;
}

const RunRecord& best_of(const std::vector<RunRecord>& runs) {
  return *std::max_element(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) {
    return a.validation < b.validation;
  });
}

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
  json[test] = {{"mean", summary.mean}, {"median", summary.median}, {"std", summary.std}};
  json["metric"] = metric_name(settings.metric);
  if (settings.model.learn_taps) {
    json["taps"] = best_of(runs).taps;
  } else {
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
  fmt::print("\ntest {}: mean {:.4f}, median {:.4f}, standard deviation {:.4f}\n",
             score_word(settings.metric), summary.mean, summary.median, summary.std);
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
