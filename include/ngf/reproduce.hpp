#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ngf/experiments.hpp"
#include "ngf/tasks/journal.hpp"

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
  ReproduceJob(const ReproduceJob&) = delete;
  ReproduceJob& operator=(const ReproduceJob&) = delete;
  /// Removes a journal without finished cells.
  ~ReproduceJob();

  /// Finds how fast this machine does what the cells do, by short runs, if any cells are missing.
  void time_trials(const ReproduceWatch& watch);
  /// Runs the cells that are missing. Throws Interrupted. On rank 0 of
  /// several ranks, the others run cells too, by `help_with_cells`.
  void run(const ReproduceWatch& watch, Communicator* ranks = nullptr);
  /// Writes results, tables, pictures and the page; then the journal goes. Returns provenance.json.
  std::string write_report(bool stand_in);

  std::size_t cells() const;
  std::size_t kept() const { return journal_->size(); }
  double rate() const { return rate_; }
  const std::filesystem::path& journal() const { return journal_->path(); }
  /// What the journal says about damaged records; empty for none.
  std::string damage() const { return journal_->damage(); }
  const std::vector<Figure>& figures() const { return figures_; }
  /// Of the cells that are missing, in seconds.
  double estimate_left(const Figure& figure) const;

 private:
  struct Times;
  /// Seconds for a second of `rate`: of what is done once, and of the work that follows.
  struct Pace {
    double once = 1;
    double work = 1;
  };

  std::string settings_text() const;
  bool done(const Cell& cell) const { return journal_->find(cell.key) != nullptr; }
  double estimate(const Cell& cell) const;
  /// By short runs of about this number of seconds.
  Pace pace_of(const Trial& trial, double enough) const;
  /// The cell of that kind to be tried within a number of seconds; or none.
  const Cell* to_be_tried(const std::string& kind, double seconds) const;
  void run_figure(const Figure& figure, const ReproduceWatch& watch, Communicator* ranks);
  /// Keeps what a cell has told, and counts its time.
  double keep(const Cell& cell, const std::string& told);
  /// The estimate of all that is missing, corrected by how cells went so far.
  double seconds_left() const;
  Times times(const Figure& figure) const;
  std::vector<FigureRows> rows() const;
  std::string provenance_text() const;

  const Study& study_;
  std::filesystem::path folder_;
  double rate_;
  std::map<std::string, Pace> paces_;  // by kind and by family of trial; "": of all others
  std::vector<Figure> figures_;
  std::unique_ptr<Journal> journal_;
  double spent_ = 0;     // by cells of this process
  double foretold_ = 0;  // of these
};

/// Runs the cells that the first process of the ranks asks for, until it needs no more.
void help_with_cells(const Study& study, const std::vector<std::string>& figures,
                     Communicator& ranks);

}  // namespace ngf::experiments
