#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "common.hpp"
#include "graph_source.hpp"
#include "io/atomic_file.hpp"
#include "io/sha256.hpp"
#include "ngf/error.hpp"
#include "ngf/io/tensors.hpp"
#include "ngf/nn/layer_filter.hpp"
#include "ngf/nn/network.hpp"
#include "ngf/tasks/splits.hpp"
#include "ngf/tasks/train_job.hpp"
#include "plan_report.hpp"
#include "ranks.hpp"
#include "standard_streams.hpp"
#include "train_flags.hpp"
#include "train_report.hpp"
#include "tune.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct TrainVerb {
  Common common;
  GraphSource source;
  TrainFlags flags;
  std::size_t runs = 1;
  bool tune = false;
  bool resume = false;
  bool plan = false;
  std::filesystem::path plot;
  std::filesystem::path out;
};

/// Where the journal belongs: beside the model, or in the user's cache folder, which is made where
/// it is missing. Nothing where there is no such folder.
std::optional<std::filesystem::path> place_for_journal(const std::filesystem::path& model,
                                                       std::string_view job,
                                                       const std::string& settings) {
  if (!model.empty()) return model.string() + (job == "tune" ? ".tune.journal" : ".journal");
  const std::filesystem::path cache = user_cache();
  if (cache.empty()) return {};
  const std::filesystem::path folder = cache / "journals";
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return {};
  io::Sha256 sum;
  sum.add(settings);
  return folder / fmt::format("{}-{}.journal", job, sum.finish().substr(0, 16));
}

/// Finished runs are kept where that is possible. Where the user counts on it, it has to be.
void keep_runs(Job& job, const TrainVerb& verb, std::string_view name,
               const std::string& settings) {
  const auto place = place_for_journal(verb.out, name, settings);
  const bool needed = verb.resume || !verb.out.empty();
  if (!place) {
    if (needed) throw Error("there is no cache folder to keep finished runs in; name a model: -o");
    return;
  }
  try {
    job.keep_in(*place, settings, verb.resume);
    if (const std::string damage = job.damage(); !damage.empty()) warn(verb.common, damage);
  } catch (const Error& error) {
    if (needed) throw;
    warn(verb.common, fmt::format("finished runs are not kept: {}", message_of(error)));
  }
}

void say_what_is_kept(const TrainJob& job, const TrainVerb& verb) {
  if (verb.common.quiet || job.journal() == nullptr || job.finished() == 0) return;
  print_stderr("ngf: {} of {} runs are kept in {}; --resume trains the others\n", job.finished(),
               verb.runs, one_line(job.journal()->path().string()));
}

/// "ngcnn, 2 hops"; models without hops say none.
std::string describe(const ModelSettings& model) {
  const std::string name = std::string(model_name(model.model)) + (model.bank ? " bank" : "");
  const bool hops = model.model != ModelKind::gcn && model.model != ModelKind::mlp;
  return hops ? fmt::format("{}, {} hop{}", name, model.hops, model.hops == 1 ? "" : "s") : name;
}

void write_plot(const TrainVerb& verb, const TrainTask& task,
                const std::vector<RunRecord>& records) {
  const std::string runs = fmt::format("median and middle half of {} runs", records.size());
  const std::string title = fmt::format("{}: {}; {}", task.name, describe(task.settings.model),
                                        records.size() == 1 ? "one run" : runs);
  io::AtomicFile file(verb.plot);
  file.write(to_svg(learning_curves(records, task.settings, title)));
  file.commit();
}

Json chosen_json(const ClassifyPlan& plan) {
  return {{"first_layer", plan.first_layer},
          {"storage", plan.storage},
          {"batch", plan.batch},
          {"workers", plan.workers},
          {"epoch_flops", plan.epoch_flops}};
}

void print_outcome(const TrainVerb& verb, const TrainTask& task, const TrainJob& job,
                   const std::optional<ClassifyPlan>& plan, double seconds,
                   const std::optional<Tuned>& tuned) {
  const std::vector<RunRecord> records = job.records();
  const ModelSettings& model = task.settings.model;
  if (verb.common.json) {
    Json json = results_json(records, task.settings);
    json["seconds"] = seconds;
    json["model"] = model_name(model.model);
    json["hops"] = model.hops;
    json["recipe"] = verb.flags.recipe_name();
    json["split"] = verb.flags.split();
    json["nodes"] = {{"train", task.split.train.size()},
                     {"validation", task.split.validation.size()},
                     {"test", task.split.test.size()}};
    // Nothing is planned where all runs were found in a journal.
    if (plan) json["plan"] = chosen_json(*plan);
    if (task.settings.partition) {
      const ClassifyPlan own = plan.value_or(ClassifyPlan());
      json["ranks"] = by_rank(*task.settings.partition, own.pairs, own.bytes);
    }
    if (!verb.plot.empty()) json["plot"] = verb.plot.string();
    if (!verb.out.empty()) json["written"] = verb.out.string();
    if (tuned) json["tuned"] = tuned_json(*tuned);
    print_json(json);
    return;
  }
  fmt::print(
      "{}: {}, {} layers, hidden {}; {} nodes to learn from, {} to validate, {} to "
      "test\n\n",
      task.name, describe(model), layer_count(model), model.hidden, task.split.train.size(),
      task.split.validation.size(), task.split.test.size());
  print_results(records, task.settings);
  fmt::print("trained in {:.3g} s\n", seconds);
  if (!verb.plot.empty()) fmt::print("learning curves: {}\n", verb.plot.string());
  if (!verb.out.empty()) {
    fmt::print("written {}: the run of seed {}, the best in validation\n", verb.out.string(),
               best_of(records).seed);
  }
}

/// Trains with a live line on a terminal.
std::optional<ClassifyPlan> train_all(TrainJob& job, TerminalProgress& progress) {
  std::optional<ClassifyPlan> plan;
  ClassifyWatch watch;
  watch.progress = &progress;
  watch.on_plan = [&](const ClassifyPlan& chosen) { plan = chosen; };
  watch.on_epoch = [&](const ClassifyWatch::Epoch& epoch) {
    progress.note(
        fmt::format("loss {:.4f}, validation {:.4f}", epoch.loss, epoch.validation_score));
  };
  job.train(watch);
  return plan;
}

void run_job(const TrainVerb& verb, const TrainTask& task,
             const std::optional<Tuned>& tuned = std::nullopt) {
  TrainJob job(task, verb.runs);
  if (speaks()) keep_runs(job, verb, "train", task.text());
  if (communicator() != nullptr) job.share(*communicator());
  TerminalProgress progress("training", verb.common.quiet);
  const auto begun = std::chrono::steady_clock::now();
  std::optional<ClassifyPlan> plan;
  try {
    plan = train_all(job, progress);
  } catch (const Interrupted&) {
    progress.clear();
    say_what_is_kept(job, verb);
    throw;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!verb.out.empty()) {
    const Model best = job.best_model(&progress);
    if (speaks()) {
      naming(verb.out.string(), [&] { write_tensors(verb.out, to_tensors(best)); });
    }
  }
  if (!verb.plot.empty() && speaks()) write_plot(verb, task, job.records());
  progress.clear();
  job.finish();
  print_outcome(verb, task, job, plan, seconds, tuned);
}

/// The scores of networks that were trained on several splits.
void print_splits(const TrainVerb& verb, const ClassifySettings& settings,
                  const std::vector<std::vector<RunRecord>>& of_splits, double seconds,
                  const std::optional<Tuned>& tuned) {
  std::vector<RunRecord> means;
  Json rows = Json::array();
  for (std::size_t s = 0; s < of_splits.size(); ++s) {
    RunRecord& mean = means.emplace_back();
    mean.seed = s;
    for (const RunRecord& run : of_splits[s]) {
      const auto count = static_cast<double>(of_splits[s].size());
      mean.validation += run.validation / count;
      mean.test += run.test / count;
    }
    Json row = results_json(of_splits[s], settings);
    row["split"] = s;
    rows.push_back(std::move(row));
  }
  if (verb.common.json) {
    Json json = results_json(means, settings);
    json["runs"] = std::move(rows);
    json["splits"] = of_splits.size();
    json["seconds"] = seconds;
    json["settings"] = settings_text(settings);
    if (tuned) json["tuned"] = tuned_json(*tuned);
    return print_json(json);
  }
  fmt::print("{}: {}\n{} runs on each of {} splits\n\n", verb.source.name(),
             settings_text(settings), verb.runs, of_splits.size());
  print_means(means, settings);
  fmt::print("trained in {:.3g} s\n", seconds);
}

/// Trains on each split of a data set.
void train_on_splits(const TrainVerb& verb, const Dataset& dataset,
                     const std::vector<Split>& splits, const ClassifySettings& settings,
                     const std::optional<Tuned>& tuned) {
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::vector<RunRecord>> records;
  for (const Split& split : splits) {
    const TrainTask task{
        .name = verb.source.name(), .dataset = &dataset, .split = split, .settings = settings};
    TrainJob job(task, verb.runs);
    keep_runs(job, verb, "train", task.text());
    TerminalProgress progress(
        fmt::format("training on split {} of {}", records.size() + 1, splits.size()),
        verb.common.quiet);
    train_all(job, progress);
    progress.clear();
    records.push_back(job.records());
    job.finish();
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  print_splits(verb, settings, records, seconds, tuned);
}

/// Selects settings by validation.
Tuned tune(const TrainVerb& verb, const Dataset& dataset, std::vector<Split> splits,
           const ClassifySettings& base) {
  TuneTask task{.name = verb.source.name(),
                .dataset = &dataset,
                .splits = std::move(splits),
                .candidates = tune_candidates(base, verb.flags.grid())};
  Tuned tuned = search(std::move(task), verb.common, [&](Job& job, const std::string& settings) {
    keep_runs(job, verb, "tune", settings);
  });
  if (!verb.common.json) print_tuned(tuned);
  return tuned;
}

/// Several processes train together what the first has read.
void train_together(const TrainVerb& verb, Dataset dataset) {
  const std::string& name = verb.source.name();
  TrainTask task{.name = name, .dataset = nullptr, .split = {}, .settings = {}};
  std::uint32_t hops = 0;
  if (speaks()) {
    task.split = choose_split(dataset, verb.flags.split());
    hops = verb.flags.settings(verb.common, name, dataset).model.hops;
    dataset.splits = {task.split};
  }
  const ShardedDataset sharded = distribute(dataset, hops);
  task.dataset = speaks() ? &dataset : &sharded.dataset;
  task.settings = verb.flags.settings(verb.common, name, sharded.dataset);
  task.settings.partition = sharded.partition;
  task.sharded = &sharded.dataset;
  task.sharded_groups = sharded_groups(task.settings.model.tap_groups, *sharded.partition);
  if (!speaks()) task.split = sharded.dataset.splits.at(0);
  run_job(verb, task);
}

/// The plan of the filter of a layer, and the sizes of the job.
void show_plan(const TrainVerb& verb, const Dataset& dataset, const ClassifySettings& settings) {
  const ModelSettings& model = settings.model;
  const FilterBuild build{
      .storage = settings.storage, .threads = settings.threads, .memory = settings.memory};
  Json plan{{"kind", "none"}, {"nodes", dataset.graph.nodes()}};
  if (model.model == ModelKind::ngcnn) {
    plan = plan_json(plan_layer(model, dataset.graph, build), dataset.graph.nodes());
  } else if (model.model != ModelKind::mlp) {
    plan = plan_json(*LayerFilter(model, dataset.graph, build).polynomial(), model.hidden);
  }
  plan["model"] = model_name(model.model);
  if (model.bank) plan["bank"] = true;
  plan["layers"] = layer_count(model);
  plan["hidden"] = model.hidden;
  plan["runs"] = verb.runs;
  plan["epochs"] = settings.epochs;
  plan["bytes_of_run"] = run_bytes(model, model.model != ModelKind::mlp, dataset.graph.nodes(),
                                   dataset.feature_count(), output_count(dataset));
  print_plan(plan, verb.common);
}

/// Trains in this process.
void train_here(const TrainVerb& verb, const Dataset& dataset, const NodeIds& ids) {
  auto settings = verb.flags.settings(verb.common, verb.source.name(), dataset);
  if (verb.flags.pairs().given()) {
    // Those of the features are found again where they are needed.
    auto embeddings = verb.flags.pairs().read(verb.source.name(), dataset, ids, verb.common);
    if (!verb.flags.pairs().of_features()) settings.embeddings = std::move(embeddings);
  }
  const std::vector<Split> splits = choose_splits(dataset, verb.flags.split());
  if (verb.plan) return show_plan(verb, dataset, settings);
  std::optional<Tuned> tuned;
  if (verb.tune) {
    tuned = tune(verb, dataset, splits, settings);
    settings = tuned->chosen();
  }
  if (splits.size() > 1) return train_on_splits(verb, dataset, splits, settings, tuned);
  run_job(verb,
          {.name = verb.source.name(),
           .dataset = &dataset,
           .split = splits.at(0),
           .settings = settings},
          tuned);
}

void run_train(const TrainVerb& verb) {
  verb.flags.check();
  const bool all = verb.flags.split() == "all";
  if (all && !(verb.out.empty() && verb.plot.empty())) {
    throw CLI::ValidationError("--split",
                               "all trains networks on each split; -o and --plot need one split");
  }
  if ((all || verb.tune || verb.flags.pairs().given()) && communicator() != nullptr) {
    throw CLI::ValidationError(
        "--tune", "--tune, --split all and --pair-weights work in one process, without mpirun");
  }
  check_writable(verb.out);
  check_picture(verb.plot);
  io::ReadResult read = verb.source.load(verb.common);
  if (verb.plan && !speaks()) return;
  if (communicator() != nullptr && !verb.plan) {
    naming(verb.source.name(), [&] { train_together(verb, std::move(read.dataset)); });
    return;
  }
  const NodeIds ids = take_ids(read);
  naming(verb.source.name(), [&] { train_here(verb, read.dataset, ids); });
}

}  // namespace

void add_train(CLI::App& program) {
  auto train = std::make_shared<TrainVerb>();
  CLI::App* const verb = program.add_subcommand("train", "Train a node classifier and score it");
  train->source.add_to(*verb, true, "DATASET");
  verb->add_option("--runs", train->runs, "Number of networks, with seeds --seed, --seed + 1, ...")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  verb->add_flag(
      "--tune", train->tune,
      "Search the settings that no flag gives on the validation nodes, then train the best "
      "with other seeds");
  verb->add_flag("--resume", train->resume,
                 "Resume an interrupted job: train only the missing runs");
  verb->add_flag("--plan", train->plan, "Print the plan of the computation and exit");
  verb->add_option("--plot", train->plot, "Write a chart of the learning curves: .svg");
  verb->add_option("-o,--output", train->out,
                   "Write the network with the best validation score: .safetensors");
  train->flags.add_to(*verb);
  train->common.add_to(*verb);
  verb->callback([train] { run_train(*train); });
}

}  // namespace ngf::cli
