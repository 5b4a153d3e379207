#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/report/chart.hpp"
#include "ngf/tasks/train_job.hpp"

namespace ngf::cli {

/// The keys `runs`, `test_accuracy` (or whatever the metric is), `metric` and `taps`.
Json results_json(const std::vector<RunRecord>& runs, const ClassifySettings& settings);

/// The same as a table.
void print_results(const std::vector<RunRecord>& runs, const ClassifySettings& settings);

/// Means of the runs of each split (`seed` is its number), and of all.
void print_means(const std::vector<RunRecord>& splits, const ClassifySettings& settings);

/// Loss and scores by epoch: the median of the runs, in a band that holds the middle half of them.
std::vector<Chart> learning_curves(const std::vector<RunRecord>& runs,
                                   const ClassifySettings& settings, const std::string& title);

}  // namespace ngf::cli
