#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/experiments.hpp"
#include "ngf/report/journal.hpp"

namespace ngf::cli {

/// A figure's times: what was foretold, and what its cells took, in this process or an earlier one.
struct FigureTimes {
  double estimate = 0;
  double seconds = 0;
  double products = 0;  ///< multiplications and additions, where they are counted
};

/// The cells of some figures, each written to a journal as it ends, until all are done.
class ReproduceJob {
 public:
  /// `rate` is what the machine multiplies and adds in a second.
  ReproduceJob(const experiments::Study& study, const std::vector<std::string>& figures,
               double rate);
  ReproduceJob(const ReproduceJob&) = delete;
  ReproduceJob& operator=(const ReproduceJob&) = delete;
  /// A journal in which nothing is kept goes.
  ~ReproduceJob();

  /// Keeps finished cells in a journal. Throws Error for one that is not resumed though it holds
  /// some, and for one of other settings.
  void keep_in(const std::filesystem::path& path, bool resume);
  /// What will run, and how long it should take.
  void print_plan() const;
  /// Runs the cells that are missing. Throws Interrupted.
  void run(const Common& common);
  /// The job is done: its journal goes.
  void finish() { journal_->remove(); }

  std::size_t cells() const;
  std::size_t kept() const { return journal_->size(); }
  double rate() const { return rate_; }
  const std::vector<experiments::Figure>& figures() const { return figures_; }
  FigureTimes times(const experiments::Figure& figure) const;
  /// With a row list for each cell.
  std::vector<experiments::FigureRows> rows() const;

 private:
  struct Record {
    double seconds = 0;
    Json rows;
  };

  std::string text() const;
  bool done(const experiments::Cell& cell) const { return journal_->find(cell.key) != nullptr; }
  Record record_of(const experiments::Cell& cell) const;
  double estimate(const experiments::Cell& cell) const { return cell.work / rate_; }
  /// Of the cells that are missing.
  double estimate_left(const experiments::Figure& figure) const;
  void run_figure(const experiments::Figure& figure, const Common& common);
  /// The estimate of all that is missing, corrected by how cells went so far.
  double seconds_left() const;

  const experiments::Study& study_;
  double rate_;
  std::vector<experiments::Figure> figures_;
  std::unique_ptr<Journal> journal_;
  double spent_ = 0;     // by cells of this process
  double foretold_ = 0;  // of these
};

}  // namespace ngf::cli
