#include "ngf/tasks/robustness.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "common.hpp"
#include "filter_flags.hpp"
#include "graph_source.hpp"
#include "ngf/error.hpp"
#include "perturb_flags.hpp"
#include "ranks.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct RobustnessVerb {
  Common common;
  GraphSource source;
  FilterFlags filter;
  RobustnessOptions options;
};

void run_robustness(RobustnessVerb& verb) {
  check_perturb_flags(verb.options.perturb);
  const io::ReadResult read = verb.source.load(verb.common);
  TerminalProgress progress("perturbing", verb.common.quiet);
  RobustnessOptions& options = verb.options;
  options.perturb.seed = verb.common.seed;
  options.perturb.threads = verb.common.threads;
  options.perturb.memory = verb.common.memory;
  options.shift = verb.filter.shift();
  options.filter.normalization = verb.filter.normalization();
  options.filter.shells.threads = verb.common.threads;
  options.filter.shells.memory = verb.common.memory;
  options.progress = &progress;
  options.ranks = communicator().get();
  const Graph graph =
      communicator() == nullptr ? read.dataset.graph : share_graph(read.dataset.graph);
  const Robustness found = measure_robustness(graph, verb.filter.taps, options);
  if (!std::isfinite(found.polynomial.mean) || !std::isfinite(found.neighborhood.mean)) {
    throw Error("--taps: the filters' norms exceed the range of double precision; scale the taps");
  }
  const bool several = options.realisations > 1;  // one graph has no spread
  if (verb.common.json) {
    const auto error = [several](const Summary& of) {
      return Json{{"mean", of.mean}, {"std", several ? Json(of.std) : Json()}};
    };
    Json json{{"gf", error(found.polynomial)},
              {"ngf", error(found.neighborhood)},
              {"shells", Json::array()},
              {"realisations", options.realisations},
              {"estimated", found.estimated}};
    for (std::size_t k = 0; k < found.shell_change.size(); ++k) {
      json["shells"].push_back({{"hop", k}, {"change", found.shell_change[k]}});
    }
    print_json(json);
    return;
  }
  const auto error = [several](const Summary& of) {
    return fmt::format("{:>10.4g}{}", of.mean, several ? fmt::format(" +- {:.2g}", of.std) : "");
  };
  fmt::print("error of filters, |H' - H|^2 / |H|^2, over {} perturbed graph{}{}\n",
             options.realisations, several ? "s" : "",
             found.estimated ? " (estimated from random signals)" : "");
  fmt::print("  polynomial    {}\n", error(found.polynomial));
  fmt::print("  neighbourhood {}\n", error(found.neighborhood));
  fmt::print("\n{:>6} {:>22}\n", "hop", "pairs that change");
  for (std::size_t k = 0; k < found.shell_change.size(); ++k) {
    fmt::print("{:>6} {:>21.1f}%\n", k, 100 * found.shell_change[k]);
  }
}

}  // namespace

void add_robustness(CLI::App& program) {
  auto verb = std::make_shared<RobustnessVerb>();
  CLI::App* const robustness =
      program.add_subcommand("robustness", "Measure the error of filters under edge perturbation");
  verb->source.add_to(*robustness);
  verb->filter.add_taps_to(*robustness)->required();
  verb->filter.add_matrices_to(*robustness);
  add_perturb_flags(*robustness, verb->options.perturb);
  robustness->add_option("--realisations", verb->options.realisations, "Number of perturbed graphs")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb->common.add_to(*robustness);
  robustness->callback([verb] { run_robustness(*verb); });
}

}  // namespace ngf::cli
