#include "ngf/filter.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/memory.hpp"
#include "base/names.hpp"
#include "common.hpp"
#include "data_streams.hpp"
#include "filter_flags.hpp"
#include "graph_source.hpp"
#include "io/text.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/sharded_filter.hpp"
#include "node_signals.hpp"
#include "pair_flags.hpp"
#include "plan_report.hpp"
#include "ranks.hpp"
#include "shell_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct FilterVerb {
  Common common;
  GraphSource source;
  ShellFlags shells;
  FilterFlags flags;
  std::string merging = "auto";
  std::string form = "auto";
  bool plan = false;
  std::filesystem::path signal;
  std::filesystem::path node_taps;
  std::filesystem::path fit;
  PairFlags pairs;
  std::filesystem::path out;
};

/// What is filtered, and how.
struct FilterInput {
  Graph graph;
  NodeIds ids;
  Taps taps;
  Matrix x;  ///< with several ranks, the rows of this one; empty where only a plan is wanted
  SignalLayout layout;  ///< of the file of x
  std::shared_ptr<const Partition> partition;
  std::optional<Embeddings> embeddings;  ///< with --pair-weights
};

/// One row of taps per node.
Taps read_node_taps(const std::filesystem::path& path, const NodeIds& ids, const Common& common) {
  const Matrix values = read_signals(path, ids, common, {.copies = 2, .finite = true}).values;
  std::vector<std::uint32_t> group(ids.nodes);
  std::iota(group.begin(), group.end(), 0U);
  return {static_cast<std::size_t>(values.cols()),
          {values.data(), values.data() + values.size()},
          std::move(group)};
}

Taps taps_of(const FilterVerb& verb, const NodeIds& ids) {
  if (!verb.fit.empty()) {
    if (!verb.shells.given()) {
      throw CLI::ValidationError("--fit", "say how many hops the taps reach: --hops H");
    }
    const std::uint32_t hops = verb.shells.options(verb.common).hops;
    if (hops == all_hops) throw CLI::ValidationError("--hops", "--fit needs a number of hops");
    return std::vector<double>(hops + std::size_t{1}, 1.0);
  }
  if (!verb.node_taps.empty()) return read_node_taps(verb.node_taps, ids, verb.common);
  if (verb.flags.taps.empty()) {
    throw CLI::ValidationError("--taps", "name the taps: --taps 1,0.5,0.25");
  }
  return verb.flags.taps;
}

/// Writes the result with several ranks: each writes its own rows, if the format stores rows.
void write_together(const Matrix& own, const FilterInput& input,
                    const std::filesystem::path& path) {
  const Partition& partition = *input.partition;
  if (input.layout.is_plain() && io::lower_case(path.extension().string()) == ".npy") {
    return write_npy_rows<double>(path, own, partition);
  }
  const Matrix all = all_rows<double>(own, partition);
  if (speaks()) write_signals(path, all, input.layout, input.ids);
}

void print_fit(const FittedTaps& found, double seconds, std::string_view storage, bool as_json) {
  if (as_json) {
    Json json{{"taps", found.taps},
              {"standard_errors", Json::array()},
              {"residual", found.residual},
              {"seconds", seconds},
              {"storage", storage}};
    for (const double error : found.standard_errors) {
      json["standard_errors"].push_back(std::isfinite(error) ? Json(error) : Json(nullptr));
    }
    print_json(json);
    return;
  }
  fmt::print("{:>6} {:>14} {:>14}\n", "hop", "tap", "+-");
  for (std::size_t k = 0; k < found.taps.size(); ++k) {
    fmt::print("{:>6} {:>14.6g} {:>14.2g}\n", k, found.taps[k], found.standard_errors[k]);
  }
  fmt::print("left unexplained: {:.3g} % of the signals' energy\n", 100 * found.residual);
}

/// The part of the shells or of the shift that each rank stores.
Json ranks_of(const NeighborhoodFilter& filter, const Partition& partition) {
  const auto pairs = filter.shells().pairs();
  return by_rank(partition, std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}),
                 filter.shells().bytes());
}
Json ranks_of(const ShiftOperator& shift, const Partition& partition) {
  return by_rank(partition, shift.entries(), 0);
}

/// Further JSON keys of a filter, from the filter on this rank's rows.
void add_facts(Json& json, const NeighborhoodFilter& filter, const FilterVerb& verb,
               std::int64_t width) {
  json["form"] = form_name(filter.form<double>(width));
  json["twins_merged"] = filter.nodes() - filter.shells().nodes();
  if (verb.flags.normalization() != Normalization::lmax) return;
  for (std::size_t k = 0; k < filter.taps().count(); ++k) {
    json["lmax"].push_back(filter.largest_value(k).value);
  }
}
void add_facts(Json& json, const PairFilter& filter, const FilterVerb& verb, std::int64_t width) {
  json["form"] = form_name(filter.form<double>(width));
  json["pair_power"] = verb.pairs.power();
  json["bytes_of_weights"] = filter.weight_bytes();
}
void add_facts(Json& json, const ShiftOperator& /*shift*/, const FilterVerb& /*verb*/,
               std::int64_t /*width*/) {
  json["form"] = "powers";
}

/// Applies a filter of any kind.
template <typename Filter, typename Local>
void run_with(const Filter& filter, const Local& local, std::string_view storage,
              const FilterVerb& verb, const FilterInput& input) {
  const Matrix& x = input.x;
  const Partition* const partition = input.partition.get();
  TerminalProgress progress("filtering", verb.common.quiet);
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  if (!verb.fit.empty()) {
    Matrix y = read_signals(verb.fit, input.ids, verb.common, {.finite = true}).values;
    if (partition != nullptr) y = own_rows(y, *partition);
    const FittedTaps found = fit_taps(filter, x, y);
    if (!std::isfinite(found.residual)) {
      throw Error(
          fmt::format("{}: the sums of squares exceed the range of double precision; "
                      "scale the signals",
                      verb.signal.string()));
    }
    print_fit(found, seconds(), storage, verb.common.json);
    return;
  }
  const Matrix y = filter.apply(x, &progress);
  const double took = seconds();
  if (!y.allFinite()) {
    throw Error(
        fmt::format("{}: not written: the results exceed the range of double precision; "
                    "take smaller taps or signals",
                    output_path(verb.out).string()));
  }
  progress.clear();
  if (partition == nullptr) {
    write_signals(verb.out, y, input.layout, input.ids);
  } else {
    write_together(y, input, verb.out);
  }
  if (!verb.common.json) {
    print_summary(verb.common, verb.out,
                  fmt::format("{}: {} x {}, filtered in {:.3g} s\n",
                              to_stdout(verb.out) ? "standard output" : verb.out.string(),
                              filter.nodes(), y.cols(), took));
    return;
  }
  Json json{{"seconds", took},
            {"storage", storage},
            {"flops", filter.flops(x.cols())},
            {"written", verb.out.string()}};
  if constexpr (requires { ranks_of(local, *partition); }) {
    if (partition != nullptr) json["ranks"] = ranks_of(local, *partition);
  }
  add_facts(json, local, verb, x.cols());
  print_json(json);
}

/// Taps of nodes, in the order of the partition.
Taps sharded_taps(const Taps& taps, const Partition& partition) {
  if (!taps.node_variant()) return taps;
  return {taps.count(), taps.values(), sharded_groups(taps.group_of(), partition)};
}

/// Estimated number of hops of the filter, before its taps are read.
std::uint32_t hops_of(const FilterVerb& verb) {
  if (verb.shells.given()) return verb.shells.options(verb.common).hops;
  constexpr std::uint32_t several = 4;
  return verb.flags.taps.empty() ? several : static_cast<std::uint32_t>(verb.flags.taps.size() - 1);
}

/// The number of matrices of the signals' size that the work allocates: the result and a copy in
/// panels; for a fit, three per tap.
int copies_at_work(const FilterVerb& verb) {
  if (verb.fit.empty()) return 2;
  return 1 + 3 * static_cast<int>(std::min(hops_of(verb), 1000U) + 1);
}

/// Throws usage errors.
void check_pair_flags(const FilterVerb& verb) {
  if (!verb.pairs.given()) return;
  if (verb.flags.polynomial()) {
    throw CLI::ValidationError("--pair-weights", "is for --kind neighborhood");
  }
  if (verb.flags.normalization() == Normalization::lmax) {
    throw CLI::ValidationError("--pair-weights", "is for --normalize none, symmetric or row");
  }
}

FilterInput read_input(const FilterVerb& verb) {
  FilterInput input;
  if (verb.pairs.given() && communicator() != nullptr) {
    throw Error("--pair-weights needs all nodes in one process; run it without mpirun");
  }
  io::ReadResult read = verb.source.load(verb.common);
  input.ids = share_ids(take_ids(read));
  if (verb.pairs.given()) {
    input.embeddings = verb.pairs.read(verb.source.name(), read.dataset, input.ids, verb.common);
  }
  if (communicator() != nullptr) {
    ShardedDataset sharded = distribute_graph(read.dataset.graph, hops_of(verb));
    read.dataset = std::move(sharded.dataset);
    input.partition = std::move(sharded.partition);
  }
  input.graph = std::move(read.dataset.graph);
  if (!verb.signal.empty()) {
    NodeSignals signals = read_signals(verb.signal, input.ids, verb.common,
                                       {.copies = 1 + copies_at_work(verb), .finite = true});
    input.x = std::move(signals.values);
    input.layout = std::move(signals.layout);
  }
  input.taps = taps_of(verb, input.ids);
  if (input.partition != nullptr) {
    if (!verb.signal.empty()) input.x = own_rows(input.x, *input.partition);
    input.taps = sharded_taps(input.taps, *input.partition);
  }
  return input;
}

FilterOptions options_of(const FilterVerb& verb, const FilterInput& input) {
  FilterOptions options;
  options.normalization = verb.flags.normalization();
  options.shells = verb.shells.options(verb.common);
  if (input.partition != nullptr) options.shells.rows = input.partition->own();
  options.merging = detail::kind_named(verb.merging, merging_name, Merging::always);
  options.form = detail::kind_named(verb.form, form_name, ProductForm::hop_tiles);
  options.width = input.x.cols();
  options.in_double = true;
  return options;
}

void show_plan(const FilterVerb& verb, const FilterInput& input) {
  const auto& [graph, ids, taps, x, layout, partition, embeddings] = input;
  const FilterOptions options = options_of(verb, input);
  // The largest eigenvalue does not change any size.
  const Shift shift =
      verb.flags.shift() == Shift::adjacency_lmax ? Shift::adjacency : verb.flags.shift();
  const Json plan =
      verb.flags.polynomial()
          ? plan_json(PolynomialFilter(graph, taps, shift, verb.common.threads), x.cols())
          : plan_json(embeddings ? plan_pair_filter(graph, taps, options)
                                 : plan_filter(graph, taps, options),
                      graph.nodes());
  print_plan(plan, verb.common);
}

/// Builds the filter and applies it.
void filter_signals(const FilterVerb& verb, const FilterInput& input) {
  const auto& [graph, ids, taps, x, layout, partition, embeddings] = input;
  std::optional<detail::MemoryReserve> for_work(
      std::in_place, static_cast<std::uint64_t>(copies_at_work(verb)) *
                         static_cast<std::uint64_t>(x.size()) * sizeof(double));
  const auto run = [&](const auto& filter, const auto& local, std::string_view storage) {
    for_work.reset();
    run_with(filter, local, storage, verb, input);
  };
  std::optional<TerminalProgress> progress(std::in_place, "finding shells", verb.common.quiet);
  if (verb.flags.polynomial() && partition == nullptr) {
    const PolynomialFilter filter(graph, taps, verb.flags.shift(), verb.common.threads, &*progress);
    run(filter, filter.shift(), "shift");
  } else if (verb.flags.polynomial()) {
    const ShardedPolynomialFilter filter(graph, taps, verb.flags.shift(), verb.common.threads,
                                         partition, &*progress);
    run(filter, filter.shift(), "shift");
  } else if (embeddings) {
    const PairFilter filter(graph, taps, *embeddings, verb.pairs.power(), options_of(verb, input),
                            &*progress);
    progress.reset();
    run(filter, filter, storage_name(filter.shells().storage()));
  } else if (partition == nullptr) {
    const FilterPlan plan = plan_filter(graph, taps, options_of(verb, input), &*progress);
    const NeighborhoodFilter filter(build_shells(graph, plan.shells, &*progress), taps, plan,
                                    &*progress);
    progress.reset();
    run(filter, filter, storage_name(plan.shells.storage));
  } else {
    const ShardedNeighborhoodFilter filter(graph, taps, options_of(verb, input), partition,
                                           &*progress);
    progress.reset();
    run(filter, filter.local(), storage_name(filter.local().shells().storage()));
  }
}

void run_filter(const FilterVerb& verb) {
  if (!verb.plan && verb.signal.empty()) {
    throw CLI::ValidationError("--signal", "name the signals to filter: --signal X");
  }
  check_pair_flags(verb);
  if (!to_stdout(verb.out)) io::check_matrix_name(verb.out);
  if (!verb.plan && verb.fit.empty()) check_output(verb.common, verb.out);
  const FilterInput input = read_input(verb);
  if (verb.plan) return show_plan(verb, input);
  filter_signals(verb, input);
}

}  // namespace

void add_filter(CLI::App& program) {
  auto filter = std::make_shared<FilterVerb>();
  CLI::App* const verb =
      program.add_subcommand("filter", "Filter signals on the nodes, or fit a filter to signals");
  filter->source.add_to(*verb);
  verb->add_option(
      "--signal", filter->signal,
      "Signals: .csv or .npy, one row per node, or times as rows and nodes as columns; - for "
      "standard input");
  auto* const taps = filter->flags.add_to(*verb);
  auto* const node_taps = verb->add_option("--node-taps", filter->node_taps,
                                           "Taps of each node: .csv or .npy, one row per node");
  auto* const fit = verb->add_option(
      "--fit", filter->fit, "Fit taps 0..--hops so that the filtered signals match this file");
  taps->excludes(node_taps)->excludes(fit);
  node_taps->excludes(fit);
  filter->pairs.add_to(*verb);
  filter->shells.add_to(*verb);
  verb->add_option("--merge-twins", filter->merging, "Merge nodes with the same neighbours (twins)")
      ->check(CLI::IsMember(detail::names_of(merging_name, Merging::always)));
  verb->add_option("--form", filter->form,
                   "Product form: how products with the shells are computed")
      ->check(CLI::IsMember(detail::names_of(form_name, ProductForm::hop_tiles)));
  verb->add_flag("--plan", filter->plan, "Print the plan of the computation and exit");
  verb->add_option("-o,--output", filter->out, "File to write: .csv or .npy [stdout, as CSV]")
      ->excludes(fit);
  filter->common.add_to(*verb);
  verb->callback([filter] { run_filter(*filter); });
}

}  // namespace ngf::cli
