#pragma once

#include <memory>

#include "experiments/common.hpp"

/// What cells should take: work that is counted, and short runs that show how fast this machine
/// does it.
namespace ngf::experiments {

/// Fits of a network to all signals of a case.
void foretell_fits(Cell& cell, const std::shared_ptr<const DenoiseCase>& data,
                   const DenoiseSettings& settings);

/// So many runs of training. The dataset must outlive the cell.
void foretell_training(Cell& cell, const Dataset& dataset, const ClassifySettings& settings,
                       std::size_t runs);

}  // namespace ngf::experiments
