#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/report/chart.hpp"
#include "ngf/tasks/classify.hpp"

namespace ngf::cli {

/// What is kept of a run when its network is forgotten.
struct RunRecord {
  std::uint64_t seed = 0;
  double validation = 0;
  double test = 0;
  std::uint32_t best_epoch = 0;
  std::vector<std::vector<float>> taps;  ///< of each layer, where they were learned
  std::vector<EpochRecord> history;
};

RunRecord record_of(const RunResult& result);

/// A run as a line of a journal, and back: the same numbers.
std::string journal_text(const RunRecord& run);
RunRecord record_from(const std::string& journal_text);

/// The run of the best validation score, the first where two are equal.
const RunRecord& best_of(const std::vector<RunRecord>& runs);

/// The keys `runs`, `test_accuracy` (or whatever the metric is), `metric` and `taps`.
Json results_json(const std::vector<RunRecord>& runs, const ClassifySettings& settings);

/// The same as a table.
void print_results(const std::vector<RunRecord>& runs, const ClassifySettings& settings);

/// Loss and scores by epoch: the median of the runs, in a band that holds the middle half of them.
std::vector<Chart> learning_curves(const std::vector<RunRecord>& runs,
                                   const ClassifySettings& settings, const std::string& title);

}  // namespace ngf::cli
