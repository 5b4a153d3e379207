#include "ngf/tasks/train_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "nn/model_json.hpp"
#include "tasks/fingerprint.hpp"

namespace ngf {

using Json = nlohmann::ordered_json;

namespace {

std::string key_of(std::uint64_t seed) { return fmt::format("seed {}", seed); }

std::vector<std::string> keys_of(const std::vector<RunSettings>& runs) {
  std::vector<std::string> keys;
  keys.reserve(runs.size());
  for (const RunSettings& run : runs) keys.push_back(key_of(run.seed));
  return keys;
}

/// JSON has no word for what is no number; a null stands for it.
double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

/// A run as a piece of the job, and back: the same numbers.
std::string piece_of(const RunResult& run) {
  Json piece{{"seed", run.settings.seed}, {"validation", run.validation_score},
             {"test", run.test_score},    {"best_epoch", run.best_epoch},
             {"taps", Json::array()},     {"history", Json::array()}};
  for (const LayerWeights& layer : run.model.layers) {
    if (!layer.taps.empty()) piece["taps"].push_back(layer.taps);
  }
  for (const EpochRecord& epoch : run.history) {
    piece["history"].push_back({epoch.loss, epoch.train_score, epoch.validation_score});
  }
  return piece.dump();
}

RunRecord record_from(const std::string& piece) {
  const Json values = Json::parse(piece);
  RunRecord run{.seed = values.at("seed").get<std::uint64_t>(),
                .validation = number(values.at("validation")),
                .test = number(values.at("test")),
                .best_epoch = values.at("best_epoch").get<std::uint32_t>(),
                .taps = {},
                .history = {}};
  for (const Json& layer : values.at("taps")) {
    auto& taps = run.taps.emplace_back();
    for (const Json& tap : layer) taps.push_back(static_cast<float>(number(tap)));
  }
  for (const Json& epoch : values.at("history")) {
    run.history.push_back({number(epoch.at(0)), number(epoch.at(1)), number(epoch.at(2))});
  }
  return run;
}

}  // namespace

std::string TrainTask::text() const {
  Json text{{"job", "train"},
            {"version", NGF_VERSION},
            {"data", name},
            {"sha256", detail::fingerprint(*dataset, split)}};
  const Json model = nn::to_json(settings.model);
  for (const auto& [key, value] : model.items()) {
    // No network with a linear output is trained here, and few have a bank or pair weights.
    constexpr std::array of_banks{"linear_output", "bank", "pre", "post", "residual", "jump"};
    constexpr std::array of_pairs{"pair_weights", "pair_power"};
    const auto is_in = [](const auto& keys, const std::string& wanted) {
      return std::ranges::find(keys, wanted) != keys.end();
    };
    if (is_in(of_banks, key) && (!settings.model.bank || key == "linear_output")) continue;
    if (is_in(of_pairs, key) && settings.model.pair_weights == PairWeights::none) continue;
    text[key == "normalization" ? "normalize" : key] = value;
  }
  if (settings.embeddings) text["embeddings"] = detail::fingerprint(*settings.embeddings);
  text.update({{"dropout", settings.run.dropout},
               {"lr", settings.run.lr},
               {"weight_decay", settings.run.weight_decay},
               {"decay_all_layers", settings.decay_all_layers},
               {"init", initialization_name(settings.run.init)},
               {"optimizer", optimizer_name(settings.optimizer)},
               {"epochs", settings.epochs},
               {"patience", settings.patience},
               {"metric", metric_name(settings.metric)},
               {"storage", storage_name(settings.storage)}});
  // A name need not be UTF-8, which JSON must be.
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const RunRecord& best_of(const std::vector<RunRecord>& runs) {
  return *std::max_element(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) {
    return a.validation < b.validation;
  });
}

TrainJob::TrainJob(const TrainTask& task, std::size_t runs)
    : Job(keys_of(runs_of(task.settings, runs))),
      task_(task),
      runs_(runs_of(task.settings, runs)) {}

std::vector<RunResult> TrainJob::classify_runs(const std::vector<RunSettings>& runs,
                                               const ClassifyWatch& watch) const {
  if (task_.sharded == nullptr) {
    return classify(*task_.dataset, task_.split, task_.settings, runs, watch);
  }
  ClassifySettings settings = task_.settings;
  settings.model.tap_groups = task_.sharded_groups;
  std::vector<RunResult> results =
      classify(*task_.sharded, task_.sharded->splits.at(0), settings, runs, watch);
  for (RunResult& result : results) {
    result.model.settings.tap_groups = task_.settings.model.tap_groups;
  }
  return results;
}

void TrainJob::train(const ClassifyWatch& watch) {
  std::vector<RunSettings> missing;
  std::ranges::copy_if(runs_, std::back_inserter(missing),
                       [&](const RunSettings& run) { return find(key_of(run.seed)) == nullptr; });
  if (missing.empty()) return;
  ClassifyWatch keeping = watch;
  keeping.on_run = [&](const RunResult& result) {
    add(key_of(result.settings.seed), piece_of(result));
  };
  trained_ = classify_runs(missing, keeping);
}

Model TrainJob::best_model(Progress* progress) {
  RunSettings again = task_.settings.run;
  again.seed = best_of(records()).seed;
  for (const RunResult& result : trained_) {
    if (result.settings.seed == again.seed) return result.model;
  }
  ClassifyWatch watch;
  watch.progress = progress;
  return classify_runs({again}, watch).at(0).model;
}

std::vector<RunRecord> TrainJob::records() const {
  std::vector<RunRecord> result;
  for (const RunSettings& run : runs_) {
    if (const std::string* const piece = find(key_of(run.seed))) {
      result.push_back(record_from(*piece));
    }
  }
  return result;
}

}  // namespace ngf
