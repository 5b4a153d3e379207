#include "ngf/reproduce.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <map>
#include <utility>

#include "base/parallel.hpp"
#include "experiments/common.hpp"
#include "io/atomic_file.hpp"
#include "kernels/target.hpp"
#include "linalg/product.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/io/load.hpp"
#include "ngf/report/figures.hpp"
#include "ngf/report/page.hpp"
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

/// A finished cell as it stands in the journal.
std::string run_cell(const Cell& cell, Progress* progress) {
  const auto begun = Clock::now();
  const std::string rows = cell.run(progress);
  return Json{{"seconds", seconds_since(begun)}, {"rows", Json::parse(rows)}}.dump();
}

std::vector<Figure> make_figures(const std::vector<std::string>& names, const Study& study) {
  std::vector<Figure> figures;
  figures.reserve(names.size());
  for (const std::string& name : names) figures.push_back(make_figure(name, study));
  return figures;
}

std::vector<std::string> keys_of(const std::vector<Figure>& figures) {
  std::vector<std::string> keys;
  for (const Figure& figure : figures) {
    for (const Cell& cell : figure.cells) keys.push_back(cell.key);
  }
  return keys;
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

ReproduceJob::ReproduceJob(const Study& study, const std::vector<std::string>& figures,
                           std::filesystem::path folder, bool resume)
    : study_(study),
      folder_(std::move(folder)),
      rate_(detail::product_rate(study.threads, 0.3)),
      figures_(make_figures(figures, study)),
      job_(keys_of(figures_)) {
  make_folder(folder_);
  const std::filesystem::path journal = folder_ / "reproduce.journal";
  job_.keep_in(journal, settings_text(), true);
  if (resume || job_.finished() == 0) return;
  throw Error(fmt::format("{}: a job that was cut off left {} of {} cells here", journal.string(),
                          job_.finished(), job_.size()),
              {"go on with {}, or remove the file to begin again", {{"resume", true}}});
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

// ---- Times ----

/// Of a figure's cells, in this process or an earlier one.
struct ReproduceJob::Times {
  double seconds = 0;   ///< of those that are finished
  double expected = 0;  ///< estimates of the same
  double left = 0;      ///< of the others
};

double ReproduceJob::estimate(const Cell& cell) const {
  return cell.seconds * costs::product_rate / rate_;
}

ReproduceJob::Times ReproduceJob::times(const Figure& figure) const {
  Times times;
  for (const Cell& cell : figure.cells) {
    if (const std::string* const piece = job_.find(cell.key)) {
      times.seconds += Json::parse(*piece).at("seconds").get<double>();
      times.expected += estimate(cell);
    } else {
      times.left += estimate(cell);
    }
  }
  return times;
}

double ReproduceJob::seconds_left(const Figure& figure) const {
  const Times own = times(figure);
  if (own.expected > 0) return own.left * own.seconds / own.expected;
  // Cells of a moment say little about others.
  constexpr double weight_of_estimate = 10;
  Times all{.seconds = weight_of_estimate, .expected = weight_of_estimate};
  for (const Figure& other : figures_) {
    const Times of_other = times(other);
    all.seconds += of_other.seconds;
    all.expected += of_other.expected;
  }
  return own.left * all.seconds / all.expected;
}

double ReproduceJob::seconds_left() const {
  double sum = 0;
  for (const Figure& figure : figures_) sum += seconds_left(figure);
  return sum;
}

// ---- Cells ----

void ReproduceJob::run(const ReproduceWatch& watch, Communicator* ranks) {
  for (const Figure& figure : figures_) run_figure(figure, watch, ranks);
  if (ranks != nullptr) dismiss_helpers(*ranks);
}

void ReproduceJob::run_figure(const Figure& figure, const ReproduceWatch& watch,
                              Communicator* ranks) {
  std::map<std::string, const Cell*> cells;
  std::vector<std::string> missing;
  for (const Cell& cell : figure.cells) {
    cells[cell.key] = &cell;
    if (job_.find(cell.key) == nullptr) missing.push_back(cell.key);
  }
  if (missing.empty()) return;
  const Times before = times(figure);
  auto whole = begin(watch, figure.name);
  const auto size = static_cast<std::size_t>(ranks == nullptr ? 1 : ranks->size());
  // Cells of one round take about as long, since all wait for its last.
  if (size > 1) {
    std::ranges::stable_sort(missing, std::greater(),
                             [&](const std::string& key) { return cells.at(key)->seconds; });
  }
  double done = 0;
  for (std::size_t first = 0; first < missing.size(); first += size) {
    const std::span round =
        std::span(missing).subspan(first, std::min(size, missing.size() - first));
    double of_round = 0;
    for (const std::string& key : round) of_round += estimate(*cells.at(key));
    CellProgress progress(whole.get(), done, of_round, before.left);
    throw_if_stopped(&progress);
    if (watch.on_left) watch.on_left(seconds_left());
    job_.compute(round, ranks,
                 [&](const std::string& key) { return run_cell(*cells.at(key), &progress); });
    done += of_round;
  }
  whole.reset();
  if (watch.on_done) {
    watch.on_done(figure, times(figure).seconds - before.seconds, seconds_left());
  }
}

void help_with_cells(const Study& study, const std::vector<std::string>& figures,
                     Communicator& ranks) {
  std::map<std::string, Cell> cells;
  for (Figure& figure : make_figures(figures, study)) {
    for (Cell& cell : figure.cells) cells.emplace(cell.key, std::move(cell));
  }
  help_with_pieces(ranks, [&](const std::string& key) { return run_cell(cells.at(key), nullptr); });
}

// ---- The report ----

std::vector<FigureRows> ReproduceJob::rows() const {
  std::vector<FigureRows> result;
  for (const Figure& figure : figures_) {
    FigureRows& own = result.emplace_back();
    own.figure = &figure;
    for (const Cell& cell : figure.cells) {
      own.rows.push_back(Json::parse(*job_.find(cell.key)).at("rows").dump());
    }
  }
  return result;
}

std::string ReproduceJob::provenance_text() const {
  Json figures = Json::object();
  double seconds = 0;
  for (const Figure& figure : figures_) {
    const Times own = times(figure);
    double products = 0;
    for (const Cell& cell : figure.cells) products += cell.products;
    Json& json = figures[figure.name];
    json = {{"seconds", own.seconds},
            {"cells", figure.cells.size()},
            {"estimate_seconds", own.expected}};
    // Of the machine's speed in products; passes over memory and all else count as time lost.
    if (products > 0) json["product_fraction"] = products / own.seconds / rate_;
    seconds += own.seconds;
  }
  const Json all{{"version", NGF_VERSION},
                 {"target", kernels::current_target()},
                 {"threads", thread_count(study_.threads)},
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
  job_.finish();
  return provenance;
}

}  // namespace ngf::experiments
