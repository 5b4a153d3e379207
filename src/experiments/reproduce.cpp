#include "ngf/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "io/atomic_file.hpp"
#include "kernels/target.hpp"
#include "linalg/product_rate.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"
#include "ngf/report/figures.hpp"
#include "ngf/report/page.hpp"
#include "ngf/summary.hpp"
#include "tasks/fingerprint.hpp"

namespace ngf::experiments {

using Json = nlohmann::ordered_json;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// A figure's progress, moved by the cell that runs.
class CellProgress : public Progress {
 public:
  CellProgress(Progress* whole, double before, double own, double all)
      : whole_(whole), before_(before), own_(own), all_(all) {}

  void report(std::uint64_t done, std::uint64_t total) override {
    if (whole_ == nullptr) return;
    constexpr std::uint64_t steps = 1'000'000;
    const double share = static_cast<double>(done) / static_cast<double>(total);
    const double place = (before_ + own_ * share) / all_ * static_cast<double>(steps);
    whole_->report(static_cast<std::uint64_t>(place), steps);
  }
  bool stop_requested() const override { return whole_ != nullptr && whole_->stop_requested(); }

 private:
  Progress* whole_;
  double before_, own_, all_;  // estimates of the figure's cells
};

std::shared_ptr<Progress> begin(const ReproduceWatch& watch, const std::string& name) {
  return watch.begin ? watch.begin(name) : nullptr;
}

/// What a finished cell left in the journal.
struct Record {
  double seconds = 0;
  Json rows;
};

Record record_of(const Journal& journal, const Cell& cell) {
  const Json piece = Json::parse(*journal.find(cell.key));
  return {piece.at("seconds").get<double>(), piece.at("rows")};
}

std::string machine_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    constexpr std::string_view key = "model name";
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string_view size_name(Size size) { return size == Size::quick ? "quick" : "full"; }

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("{}: no folder to write the report to", folder.string()));
  }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

// ---- Data sets ----

std::vector<std::string> add_datasets(Study& study, std::span<const std::filesystem::path> folders,
                                      const ReproduceWatch& watch) {
  std::vector<std::string> missing;
  for (const std::string name : {"cora", "citeseer", "pubmed"}) {
    const auto folder = io::locate_dataset("planetoid:" + name, folders);
    if (!folder) {
      missing.push_back(name);
      continue;
    }
    const auto progress = begin(watch, "reading " + name);
    io::ReadOptions options;
    options.threads = study.threads;
    options.memory = study.memory;
    options.progress = progress.get();
    study.datasets.push_back(
        {name, io::read_named_dataset("planetoid:" + name, *folder, options).dataset});
  }
  if (missing.empty()) return missing;
  constexpr std::uint64_t nodes = 2708;
  study.datasets.push_back({"citation", citation_network(nodes, study.seed)});
  return missing;
}

// ---- The job ----

/// A figure's times: what was foretold, and what its cells took, in this process or an earlier one.
struct ReproduceJob::Times {
  double estimate = 0;
  double seconds = 0;
  double products = 0;  ///< multiplications and additions, where they are counted
};

ReproduceJob::ReproduceJob(const Study& study, const std::vector<std::string>& figures,
                           std::filesystem::path folder, bool resume)
    : study_(study), folder_(std::move(folder)), rate_(detail::product_rate(study.threads, 0.3)) {
  make_folder(folder_);
  for (const std::string& name : figures) figures_.push_back(make_figure(name, study));
  journal_ = std::make_unique<Journal>(folder_ / "reproduce.journal", settings_text(), true);
  if (resume || journal_->size() == 0) return;
  throw Error(fmt::format("{}: a job that was cut off left {} of {} cells here",
                          journal_->path().string(), journal_->size(), cells()),
              {"go on with {}, or remove the file to begin anew", {{"resume", true}}});
}

ReproduceJob::~ReproduceJob() {
  if (journal_ && journal_->size() == 0) journal_->remove();
}

std::string ReproduceJob::settings_text() const {
  Json json{{"job", "reproduce"},
            {"version", NGF_VERSION},
            {"settings", settings_name(study_.settings)},
            {"size", size_name(study_.size)},
            {"seed", study_.seed},
            {"runs", study_.runs}};
  for (const Figure& figure : figures_) json["figures"].push_back(figure.name);
  for (const NamedDataset& named : study_.datasets) {
    json["data"][named.name] = detail::fingerprint(named.dataset, named.dataset.splits.at(0));
  }
  return json.dump();
}

std::size_t ReproduceJob::cells() const {
  std::size_t count = 0;
  for (const Figure& figure : figures_) count += figure.cells.size();
  return count;
}

double ReproduceJob::estimate(const Cell& cell) const {
  Pace pace;
  for (const std::string& name : {std::string(), cell.trial.family, cell.trial.kind}) {
    if (const auto found = paces_.find(name); found != paces_.end()) pace = found->second;
  }
  return (cell.once * pace.once + cell.work * pace.work) / rate_;
}

const Cell* ReproduceJob::to_be_tried(const std::string& kind, double seconds) const {
  // A larger one tells more.
  const Cell* best = nullptr;
  for (const Figure& figure : figures_) {
    for (const Cell& cell : figure.cells) {
      if (cell.trial.kind != kind) continue;
      if (cell.trial.once + cell.trial.least > seconds * rate_) continue;
      if (best == nullptr || cell.trial.least > best->trial.least) best = &cell;
    }
  }
  return best;
}

namespace {

/// What a trial took that did so much work.
struct TimedTrial {
  TimedTrial(const Trial& trial, double wanted) {
    const auto begun = Clock::now();
    work = trial.run(wanted);
    seconds = seconds_since(begun);
  }

  double work;
  double seconds;
};

}  // namespace

ReproduceJob::Pace ReproduceJob::pace_of(const Trial& trial, double enough) const {
  const auto begun = Clock::now();
  const auto spent = [&] { return seconds_since(begun); };
  TimedTrial brief(trial, 0);
  // The first time, some is done that cells need not do again. But what takes long is done once.
  if (spent() < 2 * enough) brief = TimedTrial(trial, 0);
  // Longer and longer, until it is not just what is done once.
  double wanted = enough * rate_;
  TimedTrial longer(trial, wanted);
  while (longer.seconds < 2 * brief.seconds && spent() < 8 * enough) {
    wanted *= 3;
    longer = TimedTrial(trial, wanted);
  }
  // What else happens on the machine only adds to it.
  if (spent() < 8 * enough) {
    longer.seconds = std::min(longer.seconds, TimedTrial(trial, wanted).seconds);
  }
  const double even = longer.seconds * rate_ / (trial.once + longer.work);
  if (trial.once == 0 || longer.work <= brief.work) return {even, even};
  // What a longer one takes more is the work's; the rest is done once.
  const double work = std::max(0.0, longer.seconds - brief.seconds) / (longer.work - brief.work);
  const double once = std::max(0.0, brief.seconds - work * brief.work) / trial.once;
  return {once * rate_, work * rate_};
}

void ReproduceJob::time_trials(const ReproduceWatch& watch) {
  std::map<std::string, std::string> family_of;
  double all = 0;
  for (const Figure& figure : figures_) {
    all += estimate_left(figure);
    for (const Cell& cell : figure.cells) family_of[cell.trial.kind] = cell.trial.family;
  }
  family_of.erase("");
  if (kept() == cells()) return;
  const double most_seconds = std::clamp(all / 1000, 0.3, 3.0);
  const double enough = std::clamp(all / 5000, 0.02, 0.1);
  const auto progress = begin(watch, "short runs, to tell the time");
  std::map<std::string, std::vector<Pace>> found;
  std::size_t tried = 0;
  for (const auto& [kind, family] : family_of) {
    if (progress) progress->report(tried++, family_of.size());
    throw_if_stopped(progress.get());
    const Cell* const cell = to_be_tried(kind, most_seconds);
    if (cell == nullptr) continue;
    paces_[kind] = pace_of(cell->trial, enough);
    for (const std::string& name : std::set{family, std::string()}) {
      found[name].push_back(paces_[kind]);
    }
  }
  const auto middle = [](const std::vector<Pace>& paces, double Pace::*part) {
    std::vector<double> values(paces.size());
    std::ranges::transform(paces, values.begin(), part);
    return quantile(values, 0.5);
  };
  for (const auto& [name, paces] : found) {
    paces_[name] = {middle(paces, &Pace::once), middle(paces, &Pace::work)};
  }
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
  constexpr double trust_after = 10;
  return foretold_ > trust_after ? sum * spent_ / foretold_ : sum;
}

namespace {

/// What a cell leaves in the journal.
std::string run_cell(const Cell& cell, Progress* progress) {
  const auto begun = Clock::now();
  const std::string rows = cell.run(progress);
  return Json{{"seconds", seconds_since(begun)}, {"rows", Json::parse(rows)}}.dump();
}

}  // namespace

void ReproduceJob::run(const ReproduceWatch& watch, Communicator* ranks) {
  for (const Figure& figure : figures_) run_figure(figure, watch, ranks);
  if (ranks != nullptr) ranks->of_first(std::string());
}

double ReproduceJob::keep(const Cell& cell, const std::string& told) {
  journal_->add(cell.key, told);
  const double took = Json::parse(told).at("seconds").get<double>();
  spent_ += took;
  foretold_ += estimate(cell);
  return took;
}

void ReproduceJob::run_figure(const Figure& figure, const ReproduceWatch& watch,
                              Communicator* ranks) {
  const double all = estimate_left(figure);
  if (all == 0) return;
  auto whole = begin(watch, figure.name);
  std::vector<const Cell*> missing;
  for (const Cell& cell : figure.cells) {
    if (!done(cell)) missing.push_back(&cell);
  }
  const auto size = static_cast<std::size_t>(ranks == nullptr ? 1 : ranks->size());
  // Cells of one round take about as long, since all wait for its last.
  if (size > 1) {
    std::ranges::stable_sort(missing, std::greater(), [&](const Cell* c) { return estimate(*c); });
  }
  double before = 0;
  double seconds = 0;
  for (std::size_t first = 0; first < missing.size(); first += size) {
    const std::span round =
        std::span(missing).subspan(first, std::min(size, missing.size() - first));
    double of_round = 0;
    for (const Cell* const cell : round) of_round += estimate(*cell);
    CellProgress progress(whole.get(), before, of_round, all);
    throw_if_stopped(&progress);
    if (watch.on_left) watch.on_left(seconds_left());
    if (ranks == nullptr) {
      seconds += keep(*round[0], run_cell(*round[0], &progress));
    } else {
      Json keys = Json::array();
      for (const Cell* const cell : round) keys.push_back(cell->key);
      ranks->of_first(keys.dump());
      const std::vector<std::string> told = ranks->gather(run_cell(*round[0], &progress));
      for (std::size_t i = 0; i < round.size(); ++i) seconds += keep(*round[i], told[i]);
    }
    before += of_round;
  }
  whole.reset();
  if (watch.on_done) watch.on_done(figure, seconds, seconds_left());
}

void help_with_cells(const Study& study, const std::vector<std::string>& figures,
                     Communicator& ranks) {
  std::map<std::string, Cell> cells;
  for (const std::string& name : figures) {
    for (Cell& cell : make_figure(name, study).cells) cells.emplace(cell.key, std::move(cell));
  }
  for (;;) {
    const std::string round = ranks.of_first(std::string());
    if (round.empty()) return;
    const Json keys = Json::parse(round);
    const auto own = static_cast<std::size_t>(ranks.rank());
    const bool asked = own < keys.size();
    ranks.gather(asked ? run_cell(cells.at(keys[own].get<std::string>()), nullptr) : std::string());
  }
}

// ---- The report ----

ReproduceJob::Times ReproduceJob::times(const Figure& figure) const {
  Times times;
  for (const Cell& cell : figure.cells) {
    times.estimate += estimate(cell);
    times.seconds += record_of(*journal_, cell).seconds;
    times.products += cell.products;
  }
  return times;
}

std::vector<FigureRows> ReproduceJob::rows() const {
  std::vector<FigureRows> result;
  for (const Figure& figure : figures_) {
    FigureRows& own = result.emplace_back();
    own.figure = &figure;
    for (const Cell& cell : figure.cells) {
      own.rows.push_back(record_of(*journal_, cell).rows.dump());
    }
  }
  return result;
}

std::string ReproduceJob::provenance_text() const {
  Json figures = Json::object();
  double seconds = 0;
  for (const Figure& figure : figures_) {
    const Times own = times(figure);
    Json& json = figures[figure.name];
    json = {{"seconds", own.seconds},
            {"cells", figure.cells.size()},
            {"estimate_seconds", own.estimate}};
    // Of the machine's speed in products; passes over memory and all else count as time lost.
    if (own.products > 0) json["product_fraction"] = own.products / own.seconds / rate_;
    seconds += own.seconds;
  }
  const Json all{{"version", NGF_VERSION},
                 {"target", kernels::current_target()},
                 {"threads", detail::thread_count(study_.threads)},
                 {"machine", machine_name()},
                 {"seed", study_.seed},
                 {"settings", settings_name(study_.settings)},
                 {"size", size_name(study_.size)},
                 {"seconds", seconds},
                 {"product_rate", rate_},
                 {"figures", figures}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ReproduceJob::write_report(bool stand_in) {
  const std::string results = results_text(study_, stand_in, rows());
  std::string provenance = provenance_text();
  for (const NamedText& table : csv_tables(results)) write_file(folder_ / table.name, table.text);
  for (const FigureCharts& figure : figure_charts(nlohmann::json::parse(results))) {
    if (figure.charts.empty()) continue;
    write_file(folder_ / (figure.name + ".svg"), to_svg(figure.charts));
  }
  write_file(folder_ / "results.json", results);
  write_file(folder_ / "provenance.json", provenance);
  write_file(folder_ / "index.html", reproduction_page(results, provenance));
  journal_->remove();
  return provenance;
}

}  // namespace ngf::experiments
