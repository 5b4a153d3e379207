#pragma once

#include <filesystem>

#include "common.hpp"
#include "ngf/dataset.hpp"
#include "ngf/pair_weights.hpp"
#include "node_signals.hpp"

namespace ngf::cli {

/// `--pair-weights` and `--pair-power`.
class PairFlags {
 public:
  void add_to(CLI::App& verb, const std::string& group = "");
  /// For a model that was trained with a file of embeddings: the file again.
  void add_file_to(CLI::App& verb);

  bool given() const { return !weights_.empty(); }
  bool of_features() const { return weights_ == "features"; }
  double power() const { return power_; }
  /// The embeddings that weight pairs. Warns of those that are 0.
  Embeddings read(const std::string& source, const Dataset& dataset, const NodeIds& ids,
                  const Common& common) const;

 private:
  std::filesystem::path weights_;  // "features", or a file of embeddings
  double power_ = 1;
};

}  // namespace ngf::cli
