#include "ngf/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "base/names.hpp"
#include "common.hpp"
#include "graph_source.hpp"
#include "ngf/error.hpp"
#include "ranks.hpp"
#include "standard_streams.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct ReproduceVerb {
  Common common;
  std::vector<std::string> figures{"all"};
  bool quick = false;
  bool full = false;
  std::string settings = "text";
  std::size_t runs = 0;
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

void print_plan(const experiments::ReproduceJob& job) {
  print_stderr("{:8} {:>6} {:>10}\n", "", "cells", "about");
  double sum = 0;
  for (const experiments::Figure& figure : job.figures()) {
    const double left = job.seconds_left(figure);
    sum += left;
    print_stderr("{:8} {:>6} {:>10}  {}\n", figure.name, figure.cells.size(), human_seconds(left),
                 figure.title);
  }
  const std::size_t done = job.job().finished();
  const std::string kept = done == 0 ? "" : fmt::format("; {} of them are done already", done);
  print_stderr("{:8} {:>6} {:>10}  at {:.0f} GFLOP/s of products{}\n", "all", job.job().size(),
               human_seconds(sum), job.rate() / 1e9, kept);
}

/// Bars on the terminal, and a line for each figure that is done.
experiments::ReproduceWatch on_terminal(const Common& common) {
  const auto bar = std::make_shared<std::weak_ptr<TerminalProgress>>();
  experiments::ReproduceWatch watch;
  watch.begin = [bar, quiet = common.quiet](const std::string& name) {
    auto own = std::make_shared<TerminalProgress>(name, quiet);
    *bar = own;
    return own;
  };
  watch.on_left = [bar](double seconds) {
    if (const auto own = bar->lock()) {
      own->note(fmt::format("all figures: {} left", human_seconds(seconds)));
    }
  };
  watch.on_done = [quiet = common.quiet](const experiments::Figure& figure, double seconds,
                                         double left) {
    if (quiet) return;
    print_stderr("{:8} done in {}, about {} left\n", figure.name, human_seconds(seconds),
                 human_seconds(left));
  };
  return watch;
}

void run_cells(const ReproduceVerb& verb, experiments::ReproduceJob& job) {
  const experiments::ReproduceWatch watch = on_terminal(verb.common);
  if (!verb.common.quiet) print_plan(job);
  try {
    job.run(watch, communicator().get());
  } catch (const Interrupted&) {
    if (!verb.common.quiet) {
      print_stderr("ngf: {} of {} cells are kept in {}; --resume runs the others\n",
                   job.job().finished(), job.job().size(),
                   one_line(job.job().journal()->path().string()));
    }
    throw;
  }
}

void print_outcome(const ReproduceVerb& verb, const std::string& provenance, bool stand_in) {
  const std::filesystem::path page = verb.out / "index.html";
  if (verb.common.json) {
    Json json = Json::parse(provenance);
    json["stand_in"] = stand_in;
    json["results"] = (verb.out / "results.json").string();
    json["report"] = page.string();
    print_json(json);
    return;
  }
  fmt::print("Report: {}\n", one_line(page.string()));
}

/// Returns whether a synthetic data set replaces some of them.
bool add_datasets(const ReproduceVerb& verb, experiments::Study& study) {
  const std::vector<std::string> missing =
      experiments::add_datasets(study, GraphSource::folders(verb.data), on_terminal(verb.common));
  if (missing.empty()) return false;
  warn(verb.common, fmt::format("builtin:citation stands in for {}, not here; fetch with: "
                                "ngf data get planetoid:{}",
                                fmt::join(missing, ", "), missing.front()));
  return true;
}

void run_reproduce(const ReproduceVerb& verb) {
  const std::vector<std::string> figures = figures_of(verb);
  experiments::Study study;
  study.settings = detail::kind_named(verb.settings, settings_name, PaperSettings::code);
  study.size = verb.full ? experiments::Size::full : experiments::Size::quick;
  study.seed = verb.common.seed;
  study.runs = verb.runs;
  study.threads = verb.common.threads;
  study.memory = verb.common.memory;
  const bool needed = std::any_of(figures.begin(), figures.end(), experiments::needs_datasets);
  const bool stand_in = needed && add_datasets(verb, study);
  if (!speaks()) {
    experiments::help_with_cells(study, figures, *communicator());
    return;
  }
  experiments::ReproduceJob job(study, figures, verb.out, verb.resume);
  if (const std::string damage = job.job().damage(); !damage.empty()) warn(verb.common, damage);
  run_cells(verb, job);
  print_outcome(verb, job.write_report(stand_in), stand_in);
}

}  // namespace

void add_reproduce(CLI::App& program) {
  auto reproduce = std::make_shared<ReproduceVerb>();
  CLI::App* const verb = program.add_subcommand(
      "reproduce", "Reproduce the paper's table, figures and claims, and write a report");
  std::vector<std::string> names{"all"};
  for (const std::string& name : experiments::figure_names()) names.push_back(name);
  verb->add_option("FIGURE", reproduce->figures, "Figures to run; more than one may be named")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  CLI::Option* const quick =
      verb->add_flag("--quick", reproduce->quick, "Small sizes: about two minutes [default]");
  verb->add_flag("--full", reproduce->full, "The paper's sizes: several hours")->excludes(quick);
  verb->add_option("--settings", reproduce->settings,
                   "Settings of the paper's text or code, where they differ (fig2a, fig2b). fig2a "
                   "always has those of the code; text adds its own beside them")
      ->check(CLI::IsMember(detail::names_of(settings_name, PaperSettings::code)))
      ->capture_default_str();
  verb->add_option("--runs", reproduce->runs,
                   "Runs per point of fig3a [2; with --full 25] and fig3b, there two per perturbed "
                   "graph and two graphs or more [2; with --full 20]")
      ->check(CLI::Range(1, 1000));
  verb->add_flag("--resume", reproduce->resume,
                 "Resume an interrupted job: run only the missing cells");
  verb->add_option("--data", reproduce->data, "Folder with named data sets");
  verb->add_option("-o,--output", reproduce->out, "Folder for the report")->capture_default_str();
  reproduce->common.add_to(*verb);
  verb->callback([reproduce] { run_reproduce(*reproduce); });
}

}  // namespace ngf::cli
