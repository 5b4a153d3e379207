#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "common.hpp"
#include "graph_source.hpp"
#include "io/atomic_file.hpp"
#include "kernels/target.hpp"
#include "measure.hpp"
#include "ngf/error.hpp"
#include "ngf/experiments.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"
#include "ngf/report/figures.hpp"
#include "ngf/report/page.hpp"
#include "reproduce_job.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct ReproduceVerb {
  Common common;
  std::vector<std::string> figures{"all"};
  bool quick = false;
  bool full = false;
  std::string settings = "text";
  bool resume = false;
  std::filesystem::path data;
  std::filesystem::path out = "report";

  bool wants(const std::string& name) const {
    return std::any_of(figures.begin(), figures.end(),
                       [&](const std::string& own) { return own == name || own == "all"; });
  }
};

/// What was asked for, in the paper's order.
std::vector<std::string> figures_of(const ReproduceVerb& verb) {
  std::vector<std::string> result;
  for (const std::string& name : experiments::figure_names()) {
    if (verb.wants(name)) result.push_back(name);
  }
  return result;
}

// ---- Data sets ----

/// Those that are found. Where some are not, the built-in one stands in for them: returns true.
bool load_datasets(const ReproduceVerb& verb, experiments::Study& study) {
  const std::vector<std::filesystem::path> folders = GraphSource::folders(verb.data);
  std::vector<std::string> missing;
  for (const std::string name : {"cora", "citeseer", "pubmed"}) {
    const auto folder = io::locate_dataset("planetoid:" + name, folders);
    if (!folder) {
      missing.push_back(name);
      continue;
    }
    TerminalProgress progress("reading " + name, verb.common.quiet);
    io::ReadOptions options;
    options.threads = verb.common.threads;
    options.memory = verb.common.memory;
    options.progress = &progress;
    study.datasets.push_back({name, io::read_planetoid(*folder, name, options).dataset});
  }
  if (missing.empty()) return false;
  warn(verb.common, fmt::format("builtin:citation stands in for {}, not here; fetch with: "
                                "ngf data get planetoid:{}",
                                fmt::join(missing, ", "), missing.front()));
  constexpr std::uint64_t nodes = 2708;
  study.datasets.push_back({"citation", citation_network(nodes, verb.common.seed)});
  return true;
}

// ---- What is written ----

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

Json provenance_of(const ReproduceVerb& verb, const ReproduceJob& job) {
  Json figures = Json::object();
  double seconds = 0;
  for (const experiments::Figure& figure : job.figures()) {
    const FigureTimes times = job.times(figure);
    Json& own = figures[figure.name];
    own = {{"seconds", times.seconds},
           {"cells", figure.cells.size()},
           {"estimate_seconds", times.estimate}};
    // Of the machine's speed in products; passes over memory and all else count as time lost.
    if (times.products > 0) {
      own["product_fraction"] = times.products / times.seconds / job.rate();
    }
    seconds += times.seconds;
  }
  const int threads = verb.common.threads > 0 ? verb.common.threads : omp_get_num_procs();
  return {{"version", NGF_VERSION},
          {"target", kernels::current_target()},
          {"threads", threads},
          {"machine", machine_name()},
          {"seed", verb.common.seed},
          {"settings", verb.settings},
          {"size", verb.full ? "full" : "quick"},
          {"seconds", seconds},
          {"product_rate", job.rate()},
          {"figures", figures}};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

void write_report(const std::filesystem::path& folder, const std::string& results,
                  const std::string& provenance) {
  for (const experiments::NamedText& table : experiments::csv_tables(results)) {
    write_file(folder / table.name, table.text);
  }
  for (const FigureCharts& figure : figure_charts(nlohmann::json::parse(results))) {
    if (figure.charts.empty()) continue;
    write_file(folder / (figure.name + ".svg"), to_svg(figure.charts));
  }
  write_file(folder / "results.json", results);
  write_file(folder / "provenance.json", provenance);
  write_file(folder / "index.html", reproduction_page(results, provenance));
}

void print_outcome(const ReproduceVerb& verb, const Json& provenance, bool stand_in) {
  const std::filesystem::path page = verb.out / "index.html";
  if (verb.common.json) {
    Json json = provenance;
    json["stand_in"] = stand_in;
    json["results"] = (verb.out / "results.json").string();
    json["report"] = page.string();
    print_json(json);
    return;
  }
  fmt::print("Report: {}\n", one_line(page.string()));
}

// ---- The job ----

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure || !std::filesystem::is_directory(folder)) {
    throw Error(fmt::format("{}: no folder to write the report to", folder.string()));
  }
}

void run_cells(const ReproduceVerb& verb, ReproduceJob& job, const std::filesystem::path& journal) {
  if (!verb.common.quiet) job.print_plan();
  try {
    job.run(verb.common);
  } catch (const Interrupted&) {
    if (!verb.common.quiet) {
      fmt::print(stderr, "ngf: {} of {} cells are kept in {}; --resume runs the others\n",
                 job.kept(), job.cells(), one_line(journal.string()));
    }
    throw;
  }
}

void run_reproduce(const ReproduceVerb& verb) {
  make_folder(verb.out);
  const std::vector<std::string> figures = figures_of(verb);
  experiments::Study study;
  study.settings = verb.settings == "text" ? PaperSettings::text : PaperSettings::code;
  study.size = verb.full ? experiments::Size::full : experiments::Size::quick;
  study.seed = verb.common.seed;
  study.threads = verb.common.threads;
  study.memory = verb.common.memory;
  const bool needed = std::any_of(figures.begin(), figures.end(), experiments::needs_datasets);
  const bool stand_in = needed && load_datasets(verb, study);
  constexpr double seconds_of_measuring = 0.3;
  ReproduceJob job(study, figures,
                   bench::multiplication_rate(verb.common.threads, seconds_of_measuring));
  const std::filesystem::path journal = verb.out / "reproduce.journal";
  job.keep_in(journal, verb.resume);
  run_cells(verb, job, journal);
  const Json provenance = provenance_of(verb, job);
  write_report(verb.out, experiments::results_text(study, stand_in, job.rows()),
               provenance.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  job.finish();
  print_outcome(verb, provenance, stand_in);
}

}  // namespace

void add_reproduce(CLI::App& program) {
  auto reproduce = std::make_shared<ReproduceVerb>();
  CLI::App* const verb = program.add_subcommand(
      "reproduce", "The paper's table and figures, run again, as a report to read");
  std::vector<std::string> names{"all"};
  for (const std::string& name : experiments::figure_names()) names.push_back(name);
  verb->add_option("FIGURE", reproduce->figures, "Which; several may be named")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  CLI::Option* const quick = verb->add_flag(
      "--quick", reproduce->quick, "Fewer signals, runs and taps: about two minutes [default]");
  verb->add_flag("--full", reproduce->full, "The paper's sizes: hours")->excludes(quick);
  verb->add_option("--settings", reproduce->settings,
                   "Where the paper's text and code differ (figures 2a and 2b)")
      ->check(CLI::IsMember({"text", "code"}))
      ->capture_default_str();
  verb->add_flag("--resume", reproduce->resume,
                 "Go on with a job that was cut off: only the missing cells are run");
  verb->add_option("--data", reproduce->data, "Folder of named data sets");
  verb->add_option("-o,--output", reproduce->out, "Folder for the report")->capture_default_str();
  reproduce->common.add_to(*verb);
  verb->callback([reproduce] { run_reproduce(*reproduce); });
}

}  // namespace ngf::cli
