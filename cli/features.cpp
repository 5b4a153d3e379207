#include "ngf/features.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/memory.hpp"
#include "base/names.hpp"
#include "common.hpp"
#include "data_streams.hpp"
#include "graph_source.hpp"
#include "io/matrix_writer.hpp"
#include "io/text.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "node_signals.hpp"
#include "plan_report.hpp"
#include "ranks.hpp"
#include "shell_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

/// The name of `--signal` that stands for the features of the data set.
constexpr const char* own_features = "features";

struct FeaturesVerb {
  Common common;
  GraphSource source;
  ShellFlags shells;
  std::string aggregate = "mean";
  bool plan = false;
  std::filesystem::path signal;
  std::filesystem::path out;
};

/// Settings of the verb.
struct FeaturesInput {
  Graph graph;
  NodeIds ids;
  MatrixF x;            ///< of all nodes; with several ranks, in the order of the partition
  SignalLayout layout;  ///< of the file of x
  std::shared_ptr<const Partition> partition;
  FeatureOptions options;
};

bool takes_features(const FeaturesVerb& verb) {
  return verb.signal.empty() || verb.signal == own_features;
}

/// The features of a data set as a dense matrix.
MatrixF dense_features(Dataset& dataset, const FeaturesVerb& verb) {
  if (auto* const dense = std::get_if<MatrixF>(&dataset.features)) return std::move(*dense);
  const auto* const sparse = std::get_if<SparseMatrixF>(&dataset.features);
  if (sparse == nullptr) {
    throw CLI::ValidationError("--signal", fmt::format("{} has no features; name the signals: "
                                                       "--signal X",
                                                       verb.source.name()));
  }
  detail::check_budget(static_cast<std::uint64_t>(sparse->rows()) *
                           static_cast<std::uint64_t>(sparse->cols()) * sizeof(float),
                       verb.common.memory, "the features as a dense matrix");
  return *sparse;
}

/// Reads the signals of a file, in single precision.
void read_singles(const FeaturesVerb& verb, FeaturesInput& input) {
  NodeSignals read =
      read_signals(verb.signal, input.ids, verb.common, {.copies = 2, .finite = true});
  input.layout = std::move(read.layout);
  const Matrix& signals = read.values;
  const Partition* const partition = input.partition.get();
  MatrixF& x = input.x;
  x.resize(signals.rows(), signals.cols());
  for (NodeId u = 0; u < input.ids.nodes; ++u) {
    x.row(u) = signals.row(partition == nullptr ? u : partition->old_number(u)).cast<float>();
  }
  if (!x.allFinite()) {
    throw Error(fmt::format("{}: a value exceeds the range of single precision; scale the signals",
                            verb.signal.string()));
  }
}

FeaturesInput read_input(const FeaturesVerb& verb) {
  FeaturesInput input;
  input.options.aggregate = detail::kind_named(verb.aggregate, aggregate_name, Aggregate::max);
  input.options.shells = verb.shells.options(verb.common);
  io::ReadResult read = verb.source.load(verb.common);
  input.ids = share_ids(take_ids(read));
  if (!takes_features(verb)) read.dataset.features = std::monostate();
  if (communicator() != nullptr) {
    ShardedDataset sharded = distribute(read.dataset, input.options.shells.hops);
    read.dataset = std::move(sharded.dataset);
    input.partition = std::move(sharded.partition);
    input.options.shells.rows = input.partition->own();
  }
  if (takes_features(verb)) {
    input.x = dense_features(read.dataset, verb);
  } else {
    read_singles(verb, input);
  }
  input.graph = std::move(read.dataset.graph);
  return input;
}

/// The text around the features: columns are called NAME for the signals themselves, and
/// NAME_mean_hop1, ... for their means.
io::TableText text_of(const FeaturesInput& input) {
  io::TableText text = text_by_node(input.layout, input.ids, input.x.cols());
  const NodeNames signals = text.columns;
  const std::string_view aggregate = aggregate_name(input.options.aggregate);
  for (std::uint32_t hop = 1; hop <= input.options.shells.hops; ++hop) {
    for (std::size_t j = 0; j < signals.size(); ++j) {
      text.columns.push_back(fmt::format("{}_{}_hop{}", signals[j], aggregate, hop));
    }
  }
  return text;
}

void show(const MatrixF& rows, const FeaturesInput& input) {
  const io::TableText text = text_of(input);
  print_matrix(rows.cast<double>(), text.rows, text.columns, input.graph.nodes());
}

/// Prints the features of the first nodes, and computes no others.
FeaturePlan print_first_rows(const FeaturesInput& input, Progress& progress) {
  FeatureOptions options = input.options;
  options.shells.rows = RowRange{0, static_cast<NodeId>(shown_rows)}.within(input.graph.nodes());
  FeaturePlan plan = plan_features(input.graph, input.x.cols(), options);
  show(shell_features(input.graph, input.x, options, &progress), input);
  return plan;
}

FeaturePlan write_features(const FeaturesVerb& verb, const FeaturesInput& input,
                           Progress& progress) {
  FeaturePlan plan = plan_features(input.graph, input.x.cols(), input.options);
  io::MatrixWriter file(output_path(verb.out), input.graph.nodes(), plan.columns(), text_of(input));
  const auto write = [&](NodeId /*first*/, const MatrixF& rows) { file.write(rows); };
  stream_features(input.graph, input.x, plan, write, &progress);
  file.commit();
  return plan;
}

/// Each rank holds its own rows until all are written together.
FeaturePlan write_together(const FeaturesVerb& verb, const FeaturesInput& input,
                           Progress& progress) {
  FeaturePlan plan = plan_features(input.graph, input.x.cols(), input.options);
  const MatrixF own = shell_features(input.graph, input.x, input.options, &progress);
  const Partition& partition = *input.partition;
  if (io::lower_case(verb.out.extension().string()) == ".npy") {
    write_npy_rows<float>(verb.out, own, partition);
    return plan;
  }
  const MatrixF all = all_rows<float>(own, partition);
  if (!speaks()) return plan;
  if (to_terminal(verb.out)) {
    show(all, input);
    return plan;
  }
  io::MatrixWriter file(output_path(verb.out), all.rows(), all.cols(), text_of(input));
  file.write(all);
  file.commit();
  return plan;
}

FeaturePlan compute(const FeaturesVerb& verb, const FeaturesInput& input) {
  TerminalProgress progress("computing features", verb.common.quiet);
  if (input.partition != nullptr) return write_together(verb, input, progress);
  if (to_terminal(verb.out)) return print_first_rows(input, progress);
  return write_features(verb, input, progress);
}

void run_features(const FeaturesVerb& verb) {
  if (!verb.shells.given() || verb.shells.options(verb.common).hops == all_hops) {
    throw CLI::ValidationError("--hops", "say how many hops the features reach: --hops 2");
  }
  if (!to_stdout(verb.out)) io::check_matrix_name(verb.out);
  if (!verb.plan) check_output(verb.common, verb.out);
  const FeaturesInput input = read_input(verb);
  if (verb.plan) {
    FeaturePlan plan = plan_features(input.graph, input.x.cols(), input.options);
    return print_plan(plan_json(plan, input.graph.nodes()), verb.common);
  }
  const auto begun = std::chrono::steady_clock::now();
  const FeaturePlan plan = compute(verb, input);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!verb.common.json) {
    print_summary(verb.common, verb.out,
                  fmt::format("{}: {} x {}, computed in {:.3g} s\n",
                              to_stdout(verb.out) ? "standard output" : verb.out.string(),
                              input.graph.nodes(), plan.columns(), seconds));
    return;
  }
  Json json{{"nodes", input.graph.nodes()}, {"columns", plan.columns()},
            {"aggregate", verb.aggregate},  {"engine", engine_name(plan.shells.engine)},
            {"passes", plan.passes()},      {"bytes", plan.bytes},
            {"seconds", seconds},           {"written", verb.out.string()}};
  if (input.partition != nullptr) json["ranks"] = by_rank(*input.partition, 0, plan.bytes);
  print_json(json);
}

}  // namespace

void add_features(CLI::App& program) {
  auto features = std::make_shared<FeaturesVerb>();
  CLI::App* const verb = program.add_subcommand(
      "features", "Compute node features for other models: signals aggregated over each shell");
  features->source.add_to(*verb);
  verb->add_option(
      "--signal", features->signal,
      "Signals: .csv or .npy, one row per node, or times as rows and nodes as columns; - "
      "for standard input; features: those of the data set [features]");
  features->shells.add_streamed_to(*verb);
  verb->get_option("--hops")->description("Aggregate over the shells 1..H");
  verb->add_option("--aggregate", features->aggregate,
                   "What becomes of the signals of a shell; an empty shell has 0")
      ->check(CLI::IsMember(detail::names_of(aggregate_name, Aggregate::max)))
      ->capture_default_str();
  verb->add_flag("--plan", features->plan, "Print the plan of the computation and exit");
  verb->add_option("-o,--output", features->out, "File to write: .npy or .csv [stdout, as CSV]");
  features->common.add_to(*verb);
  verb->callback([features] { run_features(*features); });
}

}  // namespace ngf::cli
