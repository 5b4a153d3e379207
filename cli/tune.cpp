#include "tune.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "standard_streams.hpp"

namespace ngf::cli {

namespace {

/// Candidates that the table shows.
constexpr std::size_t shown_candidates = 12;

std::string layer_flags(const ModelSettings& model) {
  std::string text;
  const auto flag = [&](bool given, const char* name) {
    if (given) text += name;
  };
  flag(model.bank, " --bank");
  flag(model.pre, " --pre");
  flag(model.post, " --post");
  flag(model.residual, " --residual");
  flag(model.jump, " --jump");
  flag(model.skip, " --skip");
  flag(model.learn_taps, " --learn-taps");
  if (model.pair_weights == PairWeights::features) {
    text += fmt::format(" --pair-weights features --pair-power {}", model.pair_power);
  }
  return text;
}

}  // namespace

Tuned search(TuneTask task, const Common& common, const KeepJob& keep) {
  Tuned tuned{.task = std::move(task), .rows = {}};
  TuneJob job(tuned.task);
  keep(job, tuned.task.text());
  TerminalProgress progress(fmt::format("searching {} settings", tuned.task.candidates.size()),
                            common.quiet);
  ClassifyWatch watch;
  watch.progress = &progress;
  try {
    job.search(watch);
  } catch (const Interrupted&) {
    progress.clear();
    if (job.journal() != nullptr && job.finished() > 0) {
      print_stderr("ngf: {} runs of the search are kept in {}; --resume trains the others\n",
                   job.finished(), one_line(job.journal()->path().string()));
    }
    throw;
  }
  progress.clear();
  tuned.rows = job.rows();
  job.finish();
  return tuned;
}

std::string settings_text(const ClassifySettings& settings) {
  const ModelSettings& model = settings.model;
  std::string text = fmt::format("--model {}{}", model_name(model.model), layer_flags(model));
  const bool gcn = model.model == ModelKind::gcn || model.model == ModelKind::mlp;
  if (!gcn) text += fmt::format(" --hops {}", model.hops);
  text += fmt::format(" --layers {}", model.layers);
  if (model.model == ModelKind::ngcnn) {
    text += fmt::format(" --normalize {}", normalization_name(model.normalization));
  }
  if (model.model == ModelKind::gcnn) text += fmt::format(" --shift {}", shift_name(model.shift));
  text += model.normalize_features ? " --normalize-features" : " --raw-features";
  text += fmt::format(" --dropout {} --weight-decay {}", settings.run.dropout,
                      settings.run.weight_decay);
  if (settings.decay_all_layers) text += " --decay-all-layers";
  return text;
}

Json tuned_json(const Tuned& tuned) {
  Json rows = Json::array();
  for (const TuneRow& row : tuned.rows) {
    rows.push_back({{"settings", settings_text(tuned.task.candidates[row.candidate])},
                    {"rung", row.rung},
                    {"runs", row.runs},
                    {"validation", row.validation},
                    {"std", row.runs > 1 ? Json(row.deviation) : Json()}});
  }
  return {{"chosen", settings_text(tuned.chosen())}, {"candidates", rows}};
}

void print_tuned(const Tuned& tuned) {
  fmt::print("{} settings, the best in validation:\n\n", tuned.rows.size());
  fmt::print("{:>10} {:>8} {:>5}  settings\n", "validation", "+-", "runs");
  for (std::size_t i = 0; i < std::min(shown_candidates, tuned.rows.size()); ++i) {
    const TuneRow& row = tuned.rows[i];
    const std::string spread = row.runs > 1 ? fmt::format("{:.4f}", row.deviation) : "";
    fmt::print("{:>10.4f} {:>8} {:>5}  {}\n", row.validation, spread, row.runs,
               settings_text(tuned.task.candidates[row.candidate]));
  }
  fmt::print("\n");
}

}  // namespace ngf::cli
