#include "ngf/perturb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "common.hpp"
#include "graph_source.hpp"
#include "ngf/io/write.hpp"
#include "perturb_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct Perturb {
  Common common;
  GraphSource source;
  PerturbOptions options;
  std::filesystem::path out;
};

void run_perturb(Perturb& perturb) {
  check_perturb_flags(perturb.options);
  check_writable(perturb.out);
  io::ReadResult read = perturb.source.load(perturb.common);
  TerminalProgress progress("perturbing", perturb.common.quiet);
  perturb.options.seed = perturb.common.seed;
  perturb.options.threads = perturb.common.threads;
  perturb.options.memory = perturb.common.memory;
  perturb.options.progress = &progress;
  Perturbed changed = ngf::perturb(read.dataset.graph, perturb.options);
  // The nodes do not change, so features, labels and splits stay valid.
  read.dataset.graph = std::move(changed.graph);
  const io::WriteResult written = io::write_graph(perturb.out, read.dataset, {}, &progress);
  for (const std::string& text : written.warnings) warn(perturb.common, text);
  if (perturb.common.json) {
    print_json({{"created", changed.created},
                {"destroyed", changed.destroyed},
                {"edges", read.dataset.graph.edges()},
                {"written", perturb.out.string()}});
  } else {
    fmt::print("{}: {} edges created, {} destroyed, {} in all\n", perturb.out.string(),
               changed.created, changed.destroyed, read.dataset.graph.edges());
  }
}

}  // namespace

void check_perturb_flags(const PerturbOptions& options) {
  if (options.as_probability && std::max(options.create, options.destroy) > 1) {
    throw CLI::ValidationError("--probability", "--create and --destroy must be from 0 to 1");
  }
}

void add_perturb_flags(CLI::App& verb, PerturbOptions& options) {
  verb.add_option("--create", options.create, "Edges to create, in % of the edge count")
      ->check(CLI::NonNegativeNumber);
  verb.add_option("--destroy", options.destroy, "Edges to destroy, in % of the edge count")
      ->check(CLI::Range(0.0, 100.0));
  verb.add_flag("--probability", options.as_probability,
                "Read --create and --destroy as probabilities of each pair and each edge");
}

void add_perturb(CLI::App& program) {
  auto perturb = std::make_shared<Perturb>();
  CLI::App* const verb = program.add_subcommand("perturb", "Create and destroy edges at random");
  perturb->source.add_to(*verb);
  add_perturb_flags(*verb, perturb->options);
  verb->add_option("-o,--output", perturb->out, "File to write; its extension chooses the format")
      ->required();
  perturb->common.add_to(*verb);
  verb->callback([perturb] { run_perturb(*perturb); });
}

}  // namespace ngf::cli
