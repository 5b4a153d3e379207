#include "ngf/tasks/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "base/part_of_progress.hpp"
#include "ngf/summary.hpp"
#include "nn/model_json.hpp"
#include "tasks/fingerprint.hpp"

namespace ngf {

using Json = nlohmann::ordered_json;

namespace {

/// Seeds of the search are others than those of the networks trained afterwards.
constexpr std::uint64_t first_search_seed = 1'000'000;

/// Shares of the epochs in the first two rungs, which tell architectures apart; later ones have
/// all.
constexpr double first_epochs = 0.15;
constexpr double second_epochs = 0.4;
/// Validation nodes that a candidate is scored on in the first three rungs, where the splits have
/// them.
constexpr std::size_t first_nodes = 500;
constexpr std::size_t second_nodes = 1500;
constexpr std::size_t third_nodes = 5000;

std::string key_of(std::size_t rung, std::size_t candidate, std::size_t split, std::size_t run) {
  return fmt::format("rung {} candidate {} split {} run {}", rung, candidate, split, run);
}

/// The settings of a block, without those that other axes set.
ModelSettings with_block(ModelSettings model, TuneBlock block) {
  model.bank = block != TuneBlock::taps;
  model.pre = model.post = block == TuneBlock::jump || block == TuneBlock::residual;
  model.jump = block == TuneBlock::jump;
  model.residual = block == TuneBlock::residual;
  if (model.bank) model.skip = false;
  return model;
}

/// Calls add(model) for each architecture of the grid.
template <typename Add>
void for_each_model(const ModelSettings& base, const TuneGrid& grid, const Add& add) {
  const bool has_blocks = base.model == ModelKind::ngcnn || base.model == ModelKind::gcnn;
  const bool has_hops = has_blocks || base.model == ModelKind::sgc;
  // Without blocks to choose from, layers are those of the base.
  std::vector<std::optional<TuneBlock>> blocks(grid.blocks.begin(), grid.blocks.end());
  if (!has_blocks || blocks.empty()) blocks = {std::nullopt};
  const auto hops = has_hops ? grid.hops : std::vector{base.hops};
  const auto normalizations =
      base.model == ModelKind::ngcnn ? grid.normalizations : std::vector{base.normalization};
  const auto shifts = base.model == ModelKind::gcnn ? grid.shifts : std::vector{base.shift};
  for (const std::optional<TuneBlock> block : blocks) {
    ModelSettings model = block ? with_block(base, *block) : base;
    const auto layers = model.residual ? grid.residual_layers : std::vector{base.layers};
    for (const std::int64_t count : layers) {
      for (const std::uint32_t hop : hops) {
        for (const Normalization normalization : normalizations) {
          for (const Shift shift : shifts) {
            for (const bool normalize : grid.normalize_features) {
              model.layers = count;
              model.hops = hop;
              model.normalization = normalization;
              model.shift = shift;
              model.normalize_features = normalize;
              add(model);
            }
          }
        }
      }
    }
  }
}

/// What runs of one `classify` call share.
std::string shared_text(const ClassifySettings& settings) {
  return nn::to_json(settings.model).dump() + (settings.decay_all_layers ? " all" : " first");
}

}  // namespace

std::string_view tune_block_name(TuneBlock block) {
  return detail::name_in({"taps", "bank", "jump", "residual"}, block);
}

std::vector<ClassifySettings> tune_candidates(const ClassifySettings& base, const TuneGrid& grid) {
  std::vector<ClassifySettings> result;
  for_each_model(base.model, grid, [&](const ModelSettings& model) {
    for (const double dropout : grid.dropouts) {
      for (const double decay : grid.weight_decays) {
        ClassifySettings& candidate = result.emplace_back(base);
        candidate.model = model;
        candidate.run.dropout = dropout;
        candidate.run.weight_decay = decay;
        candidate.decay_all_layers = base.decay_all_layers || model.bank;
      }
    }
  });
  if (result.empty()) fail("the grid has no candidates; each axis needs a value");
  return result;
}

std::string TuneTask::text() const {
  Json text{{"job", "tune"}, {"version", NGF_VERSION}, {"data", name}};
  for (const Split& split : splits) {
    text["sha256"].push_back(
        detail::fingerprint(*dataset, {split.train, split.validation, split.validation}));
  }
  for (const ClassifySettings& candidate : candidates) {
    text["candidates"].push_back(
        {nn::to_json(candidate.model), candidate.run.dropout, candidate.run.weight_decay,
         candidate.run.lr, initialization_name(candidate.run.init), candidate.run.seed,
         candidate.decay_all_layers, candidate.epochs, candidate.patience,
         metric_name(candidate.metric), optimizer_name(candidate.optimizer)});
  }
  if (const auto& given = candidates.at(0).embeddings) {
    text["embeddings"] = detail::fingerprint(*given);
  }
  return text.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<TuneRung> tune_rungs(std::size_t candidates, std::uint32_t epochs, std::size_t splits,
                                 std::size_t validation_nodes) {
  const auto share = [&](double of) {
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(of * epochs)));
  };
  const auto best = [&](std::size_t of) { return std::clamp<std::size_t>(of, 1, candidates); };
  // The splits that together have this number of validation nodes.
  const auto with = [&](std::size_t nodes) {
    return std::clamp<std::size_t>(nodes / std::max<std::size_t>(validation_nodes, 1), 1, splits);
  };
  const bool one = splits == 1;
  std::vector<TuneRung> rungs{{candidates, share(first_epochs), with(first_nodes), 1},
                              {best(candidates / 5), share(second_epochs), with(second_nodes), 1},
                              {best(candidates / 25), epochs, with(third_nodes), one ? 2U : 1U},
                              {best(candidates / 75), epochs, splits, one ? 5U : 2U}};
  // Few candidates need no halving.
  while (rungs.size() > 1 && rungs[rungs.size() - 2].candidates == rungs.back().candidates) {
    rungs.erase(rungs.end() - 2);
  }
  return rungs;
}

namespace {

std::vector<TuneRung> rungs_of(const TuneTask& task) {
  if (task.splits.empty() || task.candidates.empty()) fail("a search needs candidates and splits");
  return tune_rungs(task.candidates.size(), task.candidates[0].epochs, task.splits.size(),
                    task.splits[0].validation.size());
}

std::vector<std::string> keys_of(const TuneTask& task) {
  std::vector<std::string> keys;
  const std::vector<TuneRung> rungs = rungs_of(task);
  for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
    for (std::size_t c = 0; c < task.candidates.size(); ++c) {
      for (std::size_t s = 0; s < rungs[rung].splits; ++s) {
        for (std::size_t r = 0; r < rungs[rung].runs; ++r) {
          keys.push_back(key_of(rung, c, s, r));
        }
      }
    }
  }
  return keys;
}

}  // namespace

TuneJob::TuneJob(const TuneTask& task) : Job(keys_of(task)), task_(task), rungs_(rungs_of(task)) {}

std::uint64_t TuneJob::all_epochs() const {
  std::uint64_t total = 0;
  for (const TuneRung& rung : rungs_) {
    total += std::uint64_t{rung.epochs} * rung.candidates * rung.splits * rung.runs;
  }
  return total;
}

void TuneJob::train(const std::vector<std::size_t>& candidates, std::size_t rung,
                    const ClassifyWatch& watch, std::uint64_t& epochs_done) {
  const TuneRung& of = rungs_[rung];
  // Candidates that share a network train side by side, in the order of the first of them.
  std::map<std::string, std::size_t> group_of;
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t c : candidates) {
    const auto [found, fresh] =
        group_of.try_emplace(shared_text(task_.candidates[c]), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(c);
  }
  for (const auto& group : groups) {
    for (std::size_t s = 0; s < of.splits; ++s) {
      std::vector<RunSettings> runs;
      std::vector<std::string> keys;
      for (const std::size_t c : group) {
        for (std::size_t r = 0; r < of.runs; ++r) {
          epochs_done += of.epochs;
          if (find(key_of(rung, c, s, r)) != nullptr) continue;
          runs.push_back(task_.candidates[c].run);
          runs.back().seed += first_search_seed + 1000 * s + r;
          keys.push_back(key_of(rung, c, s, r));
        }
      }
      if (runs.empty()) continue;
      ClassifySettings settings = task_.candidates[group.front()];
      settings.epochs = of.epochs;
      const std::uint64_t now = std::uint64_t{of.epochs} * runs.size();
      detail::PartOfProgress progress(watch.progress, epochs_done - now, all_epochs());
      ClassifyWatch own;
      own.progress = &progress;
      own.on_epoch = watch.on_epoch;
      const Split& split = task_.splits[s];
      const auto results = classify(
          *task_.dataset, {split.train, split.validation, split.validation}, settings, runs, own);
      for (std::size_t i = 0; i < results.size(); ++i) {
        add(keys[i], Json(results[i].validation_score).dump());
      }
    }
  }
}

TuneRow TuneJob::row_of(std::size_t candidate, std::size_t rung) const {
  std::vector<double> scores;
  for (std::size_t s = 0; s < rungs_[rung].splits; ++s) {
    for (std::size_t r = 0; r < rungs_[rung].runs; ++r) {
      const Json score = Json::parse(*find(key_of(rung, candidate, s, r)));
      // A run whose numbers overflowed has no score.
      scores.push_back(score.is_null() ? 0 : score.get<double>());
    }
  }
  const Summary summary = summarize(scores);
  return {candidate, rung, summary.mean, summary.std, scores.size()};
}

void TuneJob::search(const ClassifyWatch& watch) {
  rows_.clear();
  std::vector<std::size_t> left(task_.candidates.size());
  for (std::size_t c = 0; c < left.size(); ++c) left[c] = c;
  std::uint64_t epochs_done = 0;
  for (std::size_t rung = 0; rung < rungs_.size(); ++rung) {
    left.resize(std::min(left.size(), rungs_[rung].candidates));
    train(left, rung, watch, epochs_done);
    std::vector<TuneRow> rows;
    rows.reserve(left.size());
    for (const std::size_t c : left) rows.push_back(row_of(c, rung));
    // Of equal ones, the first of the grid.
    std::ranges::stable_sort(rows, [](const TuneRow& a, const TuneRow& b) {
      return a.validation > b.validation ||
             (a.validation == b.validation && a.candidate < b.candidate);
    });
    left.clear();
    for (const TuneRow& row : rows) left.push_back(row.candidate);
    std::erase_if(rows_, [&](const TuneRow& row) {
      return std::ranges::find(left, row.candidate) != left.end();
    });
    rows_.insert(rows_.begin(), rows.begin(), rows.end());
  }
}

}  // namespace ngf
