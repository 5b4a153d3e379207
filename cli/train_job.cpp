#include "train_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph_source.hpp"
#include "io/sha256.hpp"
#include "ngf/error.hpp"
#include "tasks/fingerprint.hpp"

namespace ngf::cli {

namespace {

std::string key_of(std::uint64_t seed) { return fmt::format("seed {}", seed); }

}  // namespace

std::string TrainTask::text() const {
  const ModelSettings& model = settings.model;
  const Json json{{"job", "train"},
                  {"version", NGF_VERSION},
                  {"data", name},
                  {"sha256", detail::fingerprint(*dataset, split)},
                  {"model", model_name(model.model)},
                  {"hops", model.hops},
                  {"taps", model.taps},
                  {"unit_taps", model.unit_taps},
                  {"learn_taps", model.learn_taps},
                  {"tap_groups", model.tap_groups},
                  {"normalize", normalization_name(model.normalization)},
                  {"shift", shift_name(model.shift)},
                  {"min_paths", model.min_paths},
                  {"hidden", model.hidden},
                  {"layers", model.layers},
                  {"bias", model.bias},
                  {"skip", model.skip},
                  {"normalize_features", model.normalize_features},
                  {"dropout", settings.run.dropout},
                  {"lr", settings.run.lr},
                  {"weight_decay", settings.run.weight_decay},
                  {"decay_all_layers", settings.decay_all_layers},
                  {"init", initialization_name(settings.run.init)},
                  {"optimizer", optimizer_name(settings.optimizer)},
                  {"epochs", settings.epochs},
                  {"patience", settings.patience},
                  {"metric", metric_name(settings.metric)},
                  {"storage", storage_name(settings.storage)}};
  // A name need not be UTF-8, which JSON must be.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TrainJob::TrainJob(const TrainTask& task, std::size_t runs)
    : task_(task), text_(task.text()), runs_(runs_of(task.settings, runs)) {}

TrainJob::~TrainJob() {
  if (journal_ && journal_->size() == 0) journal_->remove();
}

void TrainJob::keep_in(const std::filesystem::path& path, bool resume) {
  journal_ = std::make_unique<Journal>(path, text_, resume);
  journal_path_ = path;
  for (const RunSettings& run : runs_) {
    if (const std::string* text = journal_->find(key_of(run.seed))) {
      finished_[run.seed] = record_from(*text);
    }
  }
}

std::vector<RunResult> TrainJob::classify_runs(const std::vector<RunSettings>& runs,
                                               const ClassifyWatch& watch) const {
  if (task_.dealt == nullptr) {
    return classify(*task_.dataset, task_.split, task_.settings, runs, watch);
  }
  const auto& [dataset, partition] = *task_.dealt;
  ClassifySettings settings = task_.settings;
  settings.partition = partition;
  settings.model.tap_groups = sharded_groups(task_.settings.model.tap_groups, *partition);
  std::vector<RunResult> results = classify(dataset, dataset.splits.at(0), settings, runs, watch);
  for (RunResult& result : results) {
    result.model.settings.tap_groups = task_.settings.model.tap_groups;
  }
  return results;
}

void TrainJob::share_finished() {
  for (const RunSettings& run : runs_) {
    if (communicator()->of_first(finished_.contains(run.seed))) finished_.try_emplace(run.seed);
  }
}

void TrainJob::train(const ClassifyWatch& watch) {
  std::vector<RunSettings> missing;
  std::copy_if(runs_.begin(), runs_.end(), std::back_inserter(missing),
               [&](const RunSettings& run) { return !finished_.contains(run.seed); });
  if (missing.empty()) return;
  ClassifyWatch keeping = watch;
  keeping.on_run = [&](const RunResult& result) {
    RunRecord record = record_of(result);
    if (journal_) journal_->add(key_of(record.seed), journal_text(record));
    finished_[record.seed] = std::move(record);
  };
  trained_ = classify_runs(missing, keeping);
}

Model TrainJob::best_model(Progress* progress) {
  std::uint64_t seed = best_of(records()).seed;
  if (communicator() != nullptr) seed = communicator()->of_first(seed);
  for (const RunResult& result : trained_) {
    if (result.settings.seed == seed) return result.model;
  }
  RunSettings again = task_.settings.run;
  again.seed = seed;
  ClassifyWatch watch;
  watch.progress = progress;
  return classify_runs({again}, watch).at(0).model;
}

void TrainJob::finish() {
  if (journal_) journal_->remove();
  journal_.reset();
}

std::vector<RunRecord> TrainJob::records() const {
  std::vector<RunRecord> result;
  for (const RunSettings& run : runs_) {
    const auto found = finished_.find(run.seed);
    if (found != finished_.end()) result.push_back(found->second);
  }
  return result;
}

std::optional<std::filesystem::path> TrainJob::place_for_journal(
    const std::filesystem::path& model) const {
  if (!model.empty()) return model.string() + ".journal";
  const std::filesystem::path cache = user_cache();
  if (cache.empty()) return {};
  const std::filesystem::path folder = cache / "journals";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return {};
  io::Sha256 sum;
  sum.add(text_);
  return folder / fmt::format("train-{}.journal", sum.finish().substr(0, 16));
}

}  // namespace ngf::cli
