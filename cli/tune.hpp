#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/tasks/tune.hpp"

namespace ngf::cli {

/// Opens the journal of a job, or warns that nothing is kept.
using KeepJob = std::function<void(Job& job, const std::string& settings)>;

/// The outcome of a search.
struct Tuned {
  TuneTask task;
  std::vector<TuneRow> rows;  ///< the best first

  const ClassifySettings& chosen() const { return task.candidates.at(rows.at(0).candidate); }
};

/// Searches, with a progress bar.
Tuned search(TuneTask task, const Common& common, const KeepJob& keep);

/// The flags that train a candidate's network.
std::string settings_text(const ClassifySettings& settings);

/// All candidates, the best first.
Json tuned_json(const Tuned& tuned);
/// The best candidates as a table.
void print_tuned(const Tuned& tuned);

}  // namespace ngf::cli
