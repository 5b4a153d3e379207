#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/tune.hpp"
#include "pair_flags.hpp"

namespace ngf::cli {

/// `--split`, whose text `choose_split` takes; with `all`, `choose_splits`.
CLI::Option* add_split_flag(CLI::App& verb, std::string& split, bool all = false);

/// The flags that say what is trained and how: a recipe, and what to do otherwise.
class TrainFlags {
 public:
  void add_to(CLI::App& verb);

  /// Throws where flags do not go together.
  void check() const;
  /// The recipe with what the flags say. Data sets of two classes are scored by ROC AUC.
  ClassifySettings settings(const Common& common, const std::string& name,
                            const Dataset& dataset) const;

  /// The grid of a search: a setting that a flag gives is fixed.
  TuneGrid grid() const;

  const PairFlags& pairs() const { return pairs_; }
  const std::string& split() const { return split_; }
  const std::string& recipe_name() const { return recipe_; }

 private:
  void check_bank() const;
  void add_network_to(CLI::App& verb);
  void add_training_to(CLI::App& verb);
  ModelSettings model_settings(ModelSettings model, const Dataset& dataset) const;

  std::string recipe_ = "strong";
  std::string split_ = "public";
  std::string model_ = "ngcnn";
  std::optional<std::uint32_t> hops_;
  std::vector<double> taps_;
  bool learn_taps_ = false;
  std::filesystem::path tap_groups_;
  std::optional<std::string> normalize_;
  std::optional<std::string> shift_;
  int min_paths_ = 1;
  std::string storage_ = "auto";
  std::optional<std::int64_t> hidden_;
  std::optional<std::int64_t> layers_;
  std::optional<bool> bias_;
  std::optional<bool> skip_;
  PairFlags pairs_;
  std::optional<bool> bank_;
  std::optional<bool> pre_;
  std::optional<bool> post_;
  std::optional<bool> residual_;
  std::optional<bool> jump_;
  std::optional<bool> normalize_features_;
  std::optional<double> dropout_;
  std::optional<double> weight_decay_;
  std::optional<bool> decay_all_layers_;
  std::optional<double> lr_;
  std::optional<std::string> optimizer_;
  std::optional<std::string> init_;
  std::optional<std::uint32_t> epochs_;
  std::optional<std::uint32_t> patience_;
  std::optional<std::string> metric_;
  std::optional<std::uint32_t> batch_;
};

}  // namespace ngf::cli
