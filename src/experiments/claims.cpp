// What the paper says of both kinds of filters, measured:
//
//   norms          |A^k| grows with k, |A_k| does not, in the Frobenius norm
//   float_error    so that polynomial filters lose more of their digits as K grows
//   condition      and so that their taps are harder to find by least squares
//   shell_change   the share of a shell's pairs that a perturbation changes, by k
//   constant_taps  equation 0error: with equal taps and K - 1 at least both diameters, H' = H
//   depth          accuracy, and the gradient that reaches the first layer, against layers

#include <fmt/format.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "base/streams.hpp"
#include "experiments/common.hpp"
#include "ngf/eccentricity.hpp"
#include "ngf/generate.hpp"

namespace ngf::experiments {

namespace of_claims {

namespace {

constexpr std::uint64_t own_seeds = 4;
constexpr std::uint32_t most_hops = 10;

Graph first_graph(const Study& study, std::string_view kind) {
  return small_graph(kind, seed_of(study, own_seeds, 0));
}

// ---- Norms ----

std::string norms(const Study& study, std::string_view kind) {
  const Graph graph = first_graph(study, kind);
  const Matrix identity = Matrix::Identity(graph.nodes(), graph.nodes());
  std::vector<std::uint64_t> pairs = shell_sizes(graph, {.hops = most_hops, .threads = 1});
  pairs.resize(most_hops + 1, 0);
  Row rows = Row::array();
  for (std::size_t k = 0; k <= most_hops; ++k) {
    std::vector<double> taps(k + 1, 0);
    taps[k] = 1;
    const double power = PolynomialFilter(graph, taps, Shift::adjacency, 1).apply(identity).norm();
    rows.push_back({{"graph", kind},
                    {"k", k},
                    {"power", power},
                    {"shell", std::sqrt(static_cast<double>(pairs[k]))}});
  }
  return rows.dump();
}

// ---- Float against double ----

constexpr std::uint32_t most_taps = 20;
constexpr std::size_t numeric_graphs = 10;
constexpr Eigen::Index numeric_signals = 32;

struct NumericCase {
  Graph graph;
  MatrixF x;
  std::uint64_t taps_seed;
};

NumericCase numeric_case(const Study& study, std::string_view kind, std::size_t g) {
  const std::uint64_t seed = seed_of(study, own_seeds, 5 + g);
  NumericCase made{small_graph(kind, seed), MatrixF(small_graph_nodes, numeric_signals), seed};
  Random random(seed);
  for (float& value : made.x.reshaped()) value = static_cast<float>(random.normal());
  return made;
}

FilterOptions on_one_thread() {
  FilterOptions options;
  options.shells.threads = 1;
  return options;
}

/// The means over the graphs, with their spread.
void add_filters(Row& row, const std::vector<double>& gf, const std::vector<double>& ngf) {
  const Summary of_gf = summarize(gf);
  const Summary of_ngf = summarize(ngf);
  row.update({{"gf", of_gf.mean},
              {"ngf", of_ngf.mean},
              {"gf_std", of_gf.std},
              {"ngf_std", of_ngf.std},
              {"realisations", gf.size()}});
}

/// Of H X in float, with X the same numbers.
template <typename Filter>
double float_error_of(const Filter& filter, const MatrixF& x) {
  const Matrix exact = filter.apply(Matrix(x.cast<double>()));
  return (filter.apply(x).template cast<double>() - exact).norm() / exact.norm();
}

std::string float_error(const Study& study, std::string_view kind) {
  Row rows = Row::array();
  for (const bool mixed : {false, true}) {
    for (std::uint32_t taps = 2; taps <= most_taps; ++taps) {
      std::vector<double> gf;
      std::vector<double> ngf;
      for (std::size_t g = 0; g < numeric_graphs; ++g) {
        const NumericCase own = numeric_case(study, kind, g);
        std::vector<double> h = uniform_taps(taps, own.taps_seed);
        if (mixed) {
          for (double& tap : h) tap = 2 * tap - 1;
        }
        gf.push_back(float_error_of(PolynomialFilter(own.graph, h, Shift::adjacency, 1), own.x));
        ngf.push_back(float_error_of(NeighborhoodFilter(own.graph, h, on_one_thread()), own.x));
      }
      Row& row = rows.emplace_back(
          Row{{"graph", kind}, {"taps", mixed ? "mixed" : "positive"}, {"K", taps}});
      add_filters(row, gf, ngf);
    }
  }
  return rows.dump();
}

// ---- The condition of finding taps ----

/// The condition number of the least-squares problem that `fit_taps` solves for `taps` taps. Its
/// columns are scaled to length 1; empty shells have no column.
double condition_of(const std::vector<Matrix>& basis, std::size_t taps) {
  Eigen::MatrixXd tall(basis[0].size(), 0);
  for (std::size_t k = 0; k < taps; ++k) {
    const double length = basis[k].norm();
    if (length == 0) continue;
    tall.conservativeResize(Eigen::NoChange, tall.cols() + 1);
    tall.rightCols(1) = Eigen::Map<const Eigen::VectorXd>(basis[k].data(), tall.rows()) / length;
  }
  const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(tall).singularValues();
  return values[0] / values[values.size() - 1];
}

std::string condition(const Study& study, std::string_view kind) {
  std::vector<std::vector<double>> gf(most_taps + 1);
  std::vector<std::vector<double>> ngf(most_taps + 1);
  for (std::size_t g = 0; g < numeric_graphs; ++g) {
    const NumericCase own = numeric_case(study, kind, g);
    const std::vector<double> ones(most_taps, 1);
    const PolynomialFilter powers(own.graph, ones, Shift::adjacency, 1);
    const NeighborhoodFilter shells(own.graph, ones, on_one_thread());
    const Matrix x = own.x.cast<double>();
    std::vector<Matrix> of_powers{x};
    std::vector<Matrix> of_shells{x};
    for (std::size_t k = 1; k < most_taps; ++k) {
      of_powers.push_back(powers.shift().apply(of_powers.back()));
      of_shells.push_back(shells.apply_shell(k, x));
    }
    for (std::size_t taps = 2; taps <= most_taps; ++taps) {
      gf[taps].push_back(condition_of(of_powers, taps));
      ngf[taps].push_back(condition_of(of_shells, taps));
    }
  }
  Row rows = Row::array();
  for (std::size_t taps = 2; taps <= most_taps; ++taps) {
    Row& row = rows.emplace_back(Row{{"graph", kind}, {"K", taps}});
    add_filters(row, gf[taps], ngf[taps]);
  }
  return rows.dump();
}

// ---- Single shells ----

std::string shell_change(const Study& study, std::string_view kind, std::string_view perturbed,
                         Progress* progress) {
  const auto realisations = static_cast<std::size_t>(realisations_of(study));
  std::vector<std::vector<double>> changes(realisations);
  for_each_realisation(study, progress, [&](std::size_t r) {
    const std::uint64_t seed = seed_of(study, own_seeds, r);
    changes[r] = measure_realisation(kind, perturbed, most_hops + 1, seed).shell_change;
    // Shells that the graph does not have do not count.
    const ShellOptions options{.hops = most_hops, .threads = 1};
    changes[r].resize(shell_sizes(small_graph(kind, seed), options).size());
  });
  Row rows = Row::array();
  for (std::size_t k = 1; k <= most_hops; ++k) {
    std::vector<double> of_hop;
    for (const std::vector<double>& own : changes) {
      if (k < own.size()) of_hop.push_back(own[k]);
    }
    if (of_hop.empty()) continue;
    rows.push_back({{"graph", kind},
                    {"perturbation", perturbed},
                    {"k", k},
                    {"change", summarize(of_hop).mean},
                    {"realisations", of_hop.size()}});
  }
  return rows.dump();
}

// ---- Equal taps ----

/// Edges created and destroyed, so that the graph stays connected.
PerturbOptions connected_perturbation(const Graph& graph, std::uint64_t seed) {
  constexpr double percent = 10;
  Random seeds(seed);
  for (;;) {
    const PerturbOptions options = perturbation("both", percent, seeds.bits64());
    if (is_connected(perturb(graph, options).graph)) return options;
  }
}

std::string constant_taps(const Study& study, std::string_view kind) {
  const Graph graph = first_graph(study, kind);
  RobustnessOptions options;
  options.perturb = connected_perturbation(graph, seed_of(study, own_seeds, 3));
  options.realisations = 1;
  options.filter.shells.threads = 1;
  const std::uint32_t diameter = measure_extent(graph).diameter;
  const std::uint32_t after = measure_extent(perturb(graph, options.perturb).graph).diameter;
  Row rows = Row::array();
  for (std::uint32_t taps = 2; taps <= std::max(diameter, after) + 2; ++taps) {
    const std::vector<double> ones(taps, 1);
    rows.push_back({{"graph", kind},
                    {"K", taps},
                    {"diameter", diameter},
                    {"diameter_after", after},
                    {"error", measure_robustness(graph, ones, options).neighborhood.mean}});
  }
  return rows.dump();
}

// ---- Depth ----

constexpr std::uint32_t depth_taps = 3;
constexpr std::int64_t depth_hidden = 64;
constexpr std::size_t quick_depth_runs = 2;
constexpr std::size_t full_depth_runs = 10;

std::vector<std::int64_t> depths_of(const Study& study) {
  if (study.size == Size::full) return {2, 3, 4, 6, 8, 12, 16};
  return {2, 4, 8, 16};
}

constexpr std::string_view communities_name = "sbm";

/// Communities to be told apart: those of test case 1, a community a class, features that are the
/// class's own vector under noise that hides it from a single node.
Dataset communities(const Study& study) {
  constexpr NodeId nodes = 256;
  constexpr NodeId classes = 8;
  constexpr NodeId each = nodes / classes;
  constexpr NodeId to_train = 5;
  constexpr NodeId to_validate = 7;
  constexpr Eigen::Index features = 16;
  constexpr double noise = 2;
  Dataset dataset;
  dataset.graph = stochastic_block_model(nodes, classes, 0.3, 0.0075, seed_of(study, own_seeds, 4));
  Random random = detail::random_for(study.seed, detail::Use::experiment_features, 0);
  MatrixF means(classes, features);
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    means.data()[i] = static_cast<float>(random.normal());
  }
  MatrixF x(nodes, features);
  Split split;
  for (NodeId u = 0; u < nodes; ++u) {
    const NodeId label = u / each;
    dataset.labels.push_back(static_cast<std::int32_t>(label));
    for (Eigen::Index f = 0; f < features; ++f) {
      x(u, f) = means(label, f) + static_cast<float>(noise * random.normal());
    }
    const NodeId place = u % each;
    (place < to_train                 ? split.train
     : place < to_train + to_validate ? split.validation
                                      : split.test)
        .push_back(u);
  }
  dataset.features = std::move(x);
  dataset.splits = {std::move(split)};
  return dataset;
}

struct Depth {
  std::shared_ptr<const NamedDataset> named;
  std::int64_t layers;
  ModelKind model;
};

ClassifySettings training_of(const Study& study, const Depth& depth) {
  ClassifySettings settings = paper_training(study, depth.model, depth_taps);
  settings.model.layers = depth.layers;
  settings.model.hidden = depth_hidden;
  settings.model.normalize_features = depth.named->name != communities_name;
  // The paper's weights shrink signals by 14 a layer at this width, whatever the filter; these
  // leave their size to the filter.
  settings.run.init = Initialization::glorot;
  return settings;
}

std::string run_depth(const Study& study, const Depth& depth, Progress* progress) {
  const std::vector<RunResult> runs =
      train(depth.named->dataset, training_of(study, depth),
            sized(study, quick_depth_runs, full_depth_runs), progress);
  double gradient = 0;
  for (const RunResult& one : runs) gradient += one.first_gradient;
  Row row{{"dataset", depth.named->name},
          {"layers", depth.layers},
          {"filter", filter_name(depth.model)}};
  add_accuracy(row, runs);
  row["gradient_norm"] = gradient / static_cast<double>(runs.size());
  return Row::array({row}).dump();
}

void add_depth(Figure& figure, const Study& study) {
  // The study outlives the figure.
  const std::shared_ptr<const NamedDataset> cited(&dataset_named(study, "cora"),
                                                  [](const auto*) {});
  const auto made = std::make_shared<const NamedDataset>(
      NamedDataset{std::string(communities_name), communities(study)});
  for (const auto& named : {cited, made}) {
    for (const std::int64_t layers : depths_of(study)) {
      for (const ModelKind model : networks) {
        const Depth depth{named, layers, model};
        Cell& cell = figure.cells.emplace_back();
        cell.key =
            fmt::format("claims depth {} {} layers {}", named->name, layers, filter_name(model));
        cell.part = "depth";
        cell.seconds = training_seconds(named->dataset, training_of(study, depth),
                                        sized(study, quick_depth_runs, full_depth_runs));
        cell.run = [&study, depth](Progress* progress) {
          return run_depth(study, depth, progress);
        };
      }
    }
  }
}

/// A cell for each small graph.
template <typename Run>
void add_graphs(Figure& figure, const Study& study, const std::string& part, const Run& run) {
  for (const std::string_view kind : small_graphs) {
    figure.cells.push_back({.key = fmt::format("claims {} {}", part, kind),
                            .part = part,
                            .seconds = costs::of_graph,
                            .run = [&study, kind, run](Progress*) { return run(study, kind); }});
  }
}

}  // namespace

}  // namespace of_claims

Figure claims(const Study& study) {
  using namespace of_claims;
  Figure figure{"claims", "norms, float errors, condition, single shells, equal taps, depth", {}};
  add_graphs(figure, study, "norms", norms);
  add_graphs(figure, study, "float_error", float_error);
  add_graphs(figure, study, "condition", condition);
  for (const std::string_view kind : small_graphs) {
    for (const std::string_view perturbed : perturbations) {
      figure.cells.push_back({.key = fmt::format("claims shell_change {} {}", kind, perturbed),
                              .part = "shell_change",
                              .seconds = realisations_of(study) * costs::of_realisation,
                              .run = [&study, kind, perturbed](Progress* progress) {
                                return shell_change(study, kind, perturbed, progress);
                              }});
    }
  }
  add_graphs(figure, study, "constant_taps", constant_taps);
  add_depth(figure, study);
  return figure;
}

}  // namespace ngf::experiments
