#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ngf/experiments.hpp"
#include "ngf/tasks/job.hpp"

namespace ngf::experiments {

/// Callbacks to the caller of a reproduction.
struct ReproduceWatch {
  /// A figure or another named step begins. Returns its progress, which may be null.
  std::function<std::shared_ptr<Progress>(const std::string& name)> begin;
  /// Estimated seconds until all figures are done.
  std::function<void(double seconds)> on_left;
  /// A figure is done, with its seconds.
  std::function<void(const Figure& figure, double seconds, double left)> on_done;
};

/// Finds Cora, Citeseer and Pubmed in the folders. Returns the names of those that are not there,
/// which a synthetic data set replaces.
std::vector<std::string> add_datasets(Study& study, std::span<const std::filesystem::path> folders,
                                      const ReproduceWatch& watch);

/// The cells of some figures, each written to a journal in the folder of the report as it ends,
/// until all are done.
class ReproduceJob {
 public:
  /// Measures for a moment what the machine multiplies and adds in a second. With `resume` finished
  /// cells are taken from the journal; without, throws Error for a folder that has any, and in both
  /// cases for a journal of other settings. The study must outlive this.
  ReproduceJob(const Study& study, const std::vector<std::string>& figures,
               std::filesystem::path folder, bool resume);

  /// Runs the cells that are missing. Throws Interrupted. On rank 0 of several ranks, the others
  /// run cells too, by `help_with_cells`.
  void run(const ReproduceWatch& watch, Communicator* ranks = nullptr);
  /// Writes results, tables, pictures and the page; then the journal goes. Returns provenance.json.
  std::string write_report(bool stand_in);

  const Job& job() const { return job_; }
  double rate() const { return rate_; }
  const std::vector<Figure>& figures() const { return figures_; }
  /// Of the cells that are missing: by those of the figure that are finished, or else by all.
  double seconds_left(const Figure& figure) const;

 private:
  struct Times;

  std::string settings_text() const;
  /// The rough time of a cell, scaled to the speed of this machine.
  double estimate(const Cell& cell) const;
  Times times(const Figure& figure) const;
  void run_figure(const Figure& figure, const ReproduceWatch& watch, Communicator* ranks);
  double seconds_left() const;
  std::vector<FigureRows> rows() const;
  std::string provenance_text() const;

  const Study& study_;
  std::filesystem::path folder_;
  double rate_;
  std::vector<Figure> figures_;
  Job job_;
};

/// Runs the cells that the first process of the ranks asks for, until it needs no more.
void help_with_cells(const Study& study, const std::vector<std::string>& figures,
                     Communicator& ranks);

}  // namespace ngf::experiments
