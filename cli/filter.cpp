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

#include "common.hpp"
#include "detail/names.hpp"
#include "filter_flags.hpp"
#include "graph_source.hpp"
#include "ngf/error.hpp"
#include "ngf/io/write.hpp"
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
  std::filesystem::path signal;
  std::filesystem::path node_taps;
  std::filesystem::path fit;
  std::filesystem::path out;
};

/// Signals of the nodes of a graph, without anything that is no number.
Matrix read_signals(const std::filesystem::path& path, NodeId nodes) {
  Matrix signals = io::read_matrix(path);
  if (signals.rows() != static_cast<Eigen::Index>(nodes)) {
    throw Error(fmt::format("{}: {} rows; the graph has {} nodes, and each needs a row",
                            path.string(), signals.rows(), nodes));
  }
  for (Eigen::Index u = 0; u < signals.rows(); ++u) {
    for (Eigen::Index f = 0; f < signals.cols(); ++f) {
      if (std::isfinite(signals(u, f))) continue;
      throw Error(fmt::format("{}: row {}, column {} is {}; expected a finite number",
                              path.string(), u, f, signals(u, f)));
    }
  }
  return signals;
}

/// A row of taps for each node.
Taps read_node_taps(const std::filesystem::path& path, NodeId nodes) {
  const Matrix values = read_signals(path, nodes);
  std::vector<std::uint32_t> group(nodes);
  std::iota(group.begin(), group.end(), 0U);
  return {static_cast<std::size_t>(values.cols()),
          {values.data(), values.data() + values.size()},
          std::move(group)};
}

Taps taps_of(const FilterVerb& verb, NodeId nodes) {
  if (!verb.fit.empty()) {
    if (!verb.shells.given()) {
      throw CLI::ValidationError("--fit", "say how many hops the taps reach: --hops H");
    }
    const std::uint32_t hops = verb.shells.options(verb.common, nullptr).hops;
    if (hops == all_hops) throw CLI::ValidationError("--hops", "--fit needs a number of hops");
    return std::vector<double>(hops + std::size_t{1}, 1.0);
  }
  if (!verb.node_taps.empty()) return read_node_taps(verb.node_taps, nodes);
  if (verb.flags.taps.empty()) {
    throw CLI::ValidationError("--taps", "name the taps: --taps 1,0.5,0.25");
  }
  return verb.flags.taps;
}

/// What the verb does is the same for both kinds of filters.
template <typename Filter>
void run_with(const Filter& filter, std::string_view storage, const FilterVerb& verb,
              const Matrix& x) {
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  if (!verb.fit.empty()) {
    const FittedTaps found = fit_taps(filter, x, read_signals(verb.fit, filter.nodes()));
    if (verb.common.json) {
      Json json{{"taps", found.taps},
                {"standard_errors", Json::array()},
                {"residual", found.residual},
                {"seconds", seconds()},
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
    return;
  }
  const Matrix y = filter.apply(x);
  const double took = seconds();
  io::write_matrix(verb.out, y);
  if (verb.common.json) {
    Json json{{"seconds", took},
              {"storage", storage},
              {"flops", filter.flops(x.cols())},
              {"written", verb.out.string()}};
    if constexpr (std::is_same_v<Filter, NeighborhoodFilter>) {
      json["twins_merged"] = filter.nodes() - filter.shells().nodes();
      if (verb.flags.normalization() == Normalization::lmax) {
        for (std::size_t k = 0; k < filter.taps().count(); ++k) {
          json["lmax"].push_back(filter.largest_value(k).value);
        }
      }
    }
    print_json(json);
  } else {
    fmt::print("{}: {} x {}, filtered in {:.3g} s\n", verb.out.string(), y.rows(), y.cols(), took);
  }
}

void run_filter(const FilterVerb& verb) {
  if (verb.fit.empty() == verb.out.empty()) {
    throw CLI::ValidationError("-o",
                               "name the file to write, -o Y, or the signals to fit, --fit Y");
  }
  const io::ReadResult read = verb.source.load(verb.common);
  const Graph& graph = read.dataset.graph;
  const Matrix x = read_signals(verb.signal, graph.nodes());
  const Taps taps = taps_of(verb, graph.nodes());
  TerminalProgress progress("finding shells", verb.common.quiet);
  if (verb.flags.polynomial()) {
    run_with(PolynomialFilter(graph, taps, verb.flags.shift(), verb.common.threads), "shift", verb,
             x);
    return;
  }
  FilterOptions options;
  options.normalization = verb.flags.normalization();
  options.shells = verb.shells.options(verb.common, &progress);
  options.merging = detail::kind_named(verb.merging, merging_name, Merging::always);
  options.width = x.cols();
  options.in_double = true;
  const NeighborhoodFilter filter(graph, taps, options);
  run_with(filter, storage_name(filter.shells().storage()), verb, x);
}

}  // namespace

void add_filter(CLI::App& program) {
  auto filter = std::make_shared<FilterVerb>();
  CLI::App* const verb = program.add_subcommand(
      "filter", "Filter signals on the nodes, or find the filter between two");
  filter->source.add_to(*verb);
  verb->add_option("--signal", filter->signal, "Signals: .csv or .npy, one row a node")->required();
  auto* const taps = filter->flags.add_to(*verb);
  auto* const node_taps = verb->add_option("--node-taps", filter->node_taps,
                                           "Taps of each node: .csv or .npy, one row a node");
  auto* const fit = verb->add_option("--fit", filter->fit,
                                     "Find the taps, up to --hops, that take the signals to these");
  taps->excludes(node_taps)->excludes(fit);
  node_taps->excludes(fit);
  filter->shells.add_to(*verb, false);
  verb->add_option("--merge-twins", filter->merging,
                   "Whether nodes with the same neighbours share their part of the shells")
      ->check(CLI::IsMember(detail::names_of(merging_name, Merging::always)));
  verb->add_option("-o,--output", filter->out, "File to write: .csv or .npy")->excludes(fit);
  filter->common.add_to(*verb);
  verb->callback([filter] { run_filter(*filter); });
}

}  // namespace ngf::cli
