#include "reproduce_job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "fingerprint.hpp"
#include "ngf/error.hpp"

namespace ngf::cli {

using experiments::Cell;
using experiments::Figure;

namespace {

/// A figure's bar, moved by the cell that runs.
class CellProgress : public Progress {
 public:
  CellProgress(TerminalProgress& bar, double before, double own, double all)
      : bar_(bar), before_(before), own_(own), all_(all) {}

  void report(std::uint64_t done, std::uint64_t total) override {
    constexpr std::uint64_t steps = 1'000'000;
    const double share = static_cast<double>(done) / static_cast<double>(total);
    const double place = (before_ + own_ * share) / all_ * static_cast<double>(steps);
    bar_.report(static_cast<std::uint64_t>(place), steps);
  }
  bool stop_requested() const override { return bar_.stop_requested(); }

 private:
  TerminalProgress& bar_;
  double before_, own_, all_;  // estimates of the figure's cells
};

}  // namespace

ReproduceJob::ReproduceJob(const experiments::Study& study, const std::vector<std::string>& figures,
                           double rate)
    : study_(study), rate_(rate) {
  for (const std::string& name : figures) {
    figures_.push_back(experiments::make_figure(name, study));
  }
}

ReproduceJob::~ReproduceJob() {
  if (journal_ && journal_->size() == 0) journal_->remove();
}

std::string ReproduceJob::text() const {
  Json json{{"job", "reproduce"},
            {"version", NGF_VERSION},
            {"settings", settings_name(study_.settings)},
            {"size", study_.size == experiments::Size::quick ? "quick" : "full"},
            {"seed", study_.seed}};
  for (const Figure& figure : figures_) json["figures"].push_back(figure.name);
  for (const experiments::NamedDataset& named : study_.datasets) {
    json["data"][named.name] = fingerprint(named.dataset, named.dataset.splits.at(0));
  }
  return json.dump();
}

void ReproduceJob::keep_in(const std::filesystem::path& path, bool resume) {
  journal_ = std::make_unique<Journal>(path, text(), true);
  if (resume || journal_->size() == 0) return;
  throw Error(fmt::format(
      "{}: a job that was cut off left {} of {} cells here; go on with --resume, or remove the "
      "file to begin anew",
      path.string(), journal_->size(), cells()));
}

std::size_t ReproduceJob::cells() const {
  std::size_t count = 0;
  for (const Figure& figure : figures_) count += figure.cells.size();
  return count;
}

ReproduceJob::Record ReproduceJob::record_of(const Cell& cell) const {
  const Json piece = Json::parse(*journal_->find(cell.key));
  return {piece.at("seconds").get<double>(), piece.at("rows")};
}

double ReproduceJob::estimate_left(const Figure& figure) const {
  double sum = 0;
  for (const Cell& cell : figure.cells) sum += done(cell) ? 0 : estimate(cell);
  return sum;
}

double ReproduceJob::seconds_left() const {
  double sum = 0;
  for (const Figure& figure : figures_) sum += estimate_left(figure);
  // A few cells say little about all.
  constexpr double trust_after = 1;
  return foretold_ > trust_after ? sum * spent_ / foretold_ : sum;
}

void ReproduceJob::print_plan() const {
  fmt::print(stderr, "{:8} {:>6} {:>10}\n", "", "cells", "about");
  double sum = 0;
  for (const Figure& figure : figures_) {
    const double left = estimate_left(figure);
    sum += left;
    fmt::print(stderr, "{:8} {:>6} {:>10}  {}\n", figure.name, figure.cells.size(),
               human_seconds(left), figure.title);
  }
  const std::string kept_text =
      kept() == 0 ? "" : fmt::format("; {} of them are done already", kept());
  fmt::print(stderr, "{:8} {:>6} {:>10}  at {:.0f} GFLOP/s of products{}\n", "all", cells(),
             human_seconds(sum), rate_ / 1e9, kept_text);
}

void ReproduceJob::run(const Common& common) {
  for (const Figure& figure : figures_) run_figure(figure, common);
}

void ReproduceJob::run_figure(const Figure& figure, const Common& common) {
  using Clock = std::chrono::steady_clock;
  const double all = estimate_left(figure);
  if (all == 0) return;
  TerminalProgress bar(figure.name, common.quiet);
  double before = 0;
  double seconds = 0;
  for (const Cell& cell : figure.cells) {
    if (done(cell)) continue;
    CellProgress progress(bar, before, estimate(cell), all);
    throw_if_stopped(&progress);
    bar.note(fmt::format("all figures: {} left", human_seconds(seconds_left())));
    const auto begun = Clock::now();
    const std::string rows = cell.run(&progress);
    const double took = std::chrono::duration<double>(Clock::now() - begun).count();
    journal_->add(cell.key, Json{{"seconds", took}, {"rows", Json::parse(rows)}}.dump());
    before += estimate(cell);
    seconds += took;
    spent_ += took;
    foretold_ += estimate(cell);
  }
  bar.clear();
  if (common.quiet) return;
  fmt::print(stderr, "{:8} done in {}, about {} left\n", figure.name, human_seconds(seconds),
             human_seconds(seconds_left()));
}

FigureTimes ReproduceJob::times(const Figure& figure) const {
  FigureTimes times;
  for (const Cell& cell : figure.cells) {
    times.estimate += estimate(cell);
    times.seconds += record_of(cell).seconds;
    times.products += cell.products;
  }
  return times;
}

std::vector<experiments::FigureRows> ReproduceJob::rows() const {
  std::vector<experiments::FigureRows> result;
  for (const Figure& figure : figures_) {
    experiments::FigureRows& own = result.emplace_back();
    own.figure = &figure;
    for (const Cell& cell : figure.cells) own.rows.push_back(record_of(cell).rows.dump());
  }
  return result;
}

}  // namespace ngf::cli
