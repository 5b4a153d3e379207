#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tasks/fitter.hpp"

/// Rules that say when a fit should end, from the noisy signal alone.
namespace ngf::tasks {

/// What a rule says of one signal.
struct Verdict {
  std::uint32_t epoch = 1;
  std::vector<double> criterion;  ///< by epoch; not a number where there is none
  // Of blind alone, in the unit of the signals squared:
  double held_out_error = 0;      ///< mean square at the chosen epoch
  double null_error = 0;          ///< that of the mean of the other nodes
  double gain_in_deviations = 0;  ///< of the second over the first, in its standard errors
  std::size_t nodes = 0;          ///< that were held out
};

/// How many epochs a rule looks at, at most, for each signal.
std::uint64_t epochs_of_rule(const DenoiseSettings& settings);

/// `task` has the signals with all their known values. `noise` is the standard deviation of each
/// one's noise, which sure needs.
std::vector<Verdict> judge(Fitter& fitter, const FitTask& task, const DenoiseSettings& settings,
                           const std::vector<double>& noise, Meter& meter);

/// The weight, 0 to 1, of the prediction of a held-out node in its average with the noisy value,
/// after `blind`. The unit of the noise level is that of the errors.
double prediction_weight(const Verdict& verdict, double explained,
                         std::optional<double> noise_level);

/// Folds of 0..count-1: the one that each belongs to.
std::vector<std::uint32_t> draw_folds(std::size_t count, std::uint32_t folds, std::uint64_t seed);

}  // namespace ngf::tasks
