#pragma once

#include <memory>

#include "experiments/common.hpp"

/// What cells should take: work that is counted, and short runs that show how fast this machine
/// does it.
namespace ngf::experiments {

/// Fits of a network to all signals of a case.
void foretell_fits(Cell& cell, const std::shared_ptr<const DenoiseCase>& data,
                   const DenoiseSettings& settings);

/// Training on so many graphs, with so many runs each; `dataset` is one of them, or much like them.
struct Training {
  std::string_view name;  ///< of the data set, such as "cora"
  std::shared_ptr<const Dataset> dataset;
  ClassifySettings settings;
  std::size_t runs;
  std::size_t graphs = 1;
};
void foretell_training(Cell& cell, const Training& training);

/// The study outlives the cells of its figures.
inline std::shared_ptr<const Dataset> of_study(const NamedDataset& named) {
  return {std::shared_ptr<const void>(), &named.dataset};
}

}  // namespace ngf::experiments
