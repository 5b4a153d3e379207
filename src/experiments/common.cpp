#include "experiments/common.hpp"

#include <algorithm>

#include "detail/parallel.hpp"
#include "detail/streams.hpp"
#include "ngf/components.hpp"
#include "ngf/generate.hpp"
#include "ngf/tasks/splits.hpp"

namespace ngf::experiments {

std::uint64_t seed_of(const Study& study, std::uint64_t figure, std::uint64_t item) {
  constexpr std::uint64_t figures = 1000;
  return detail::random_for(study.seed, detail::Use::experiments, item * figures + figure).bits64();
}

// ---- Small graphs ----

bool is_connected(const Graph& graph) { return connected_components(graph).size.size() == 1; }

Graph small_graph(std::string_view kind, std::uint64_t seed) {
  Random seeds(seed);
  for (;;) {
    const std::uint64_t own = seeds.bits64();
    Graph graph = kind == "er" ? erdos_renyi(small_graph_nodes, 0.1, own, {.threads = 1})
                               : watts_strogatz(small_graph_nodes, 4, 0.1, own, {.threads = 1});
    if (is_connected(graph)) return graph;
  }
}

std::vector<double> uniform_taps(std::size_t count, std::uint64_t seed) {
  Random random = detail::random_for(seed, detail::Use::experiment_taps, 0);
  std::vector<double> taps(count);
  for (double& tap : taps) tap = random.uniform();
  return taps;
}

PerturbOptions perturbation(std::string_view kind, double percent, std::uint64_t seed) {
  return {.create = kind == "destroy" ? 0 : percent,
          .destroy = kind == "create" ? 0 : percent,
          .seed = seed,
          .threads = 1};
}

int realisations_of(const Study& study) { return sized(study, 25, 100); }

Robustness measure_realisation(std::string_view graph, std::string_view kind, std::size_t taps,
                               std::uint64_t seed) {
  constexpr double percent = 10;
  RobustnessOptions options;
  options.perturb = perturbation(kind, percent, seed);
  options.realisations = 1;
  options.filter.shells.threads = 1;
  return measure_robustness(small_graph(graph, seed), uniform_taps(taps, seed), options);
}

void for_each_realisation(const Study& study, Progress* progress,
                          const std::function<void(std::size_t)>& body) {
  detail::parallel_for(static_cast<std::size_t>(realisations_of(study)), study.threads,
                       [&](std::size_t r) {
                         throw_if_stopped(progress);
                         body(r);
                       });
}

// ---- Denoising ----

std::string_view input_name(SignalKind kind) { return kind == SignalKind::gf ? "gf" : "ngf"; }

void count_fit(Cell& cell, const Graph& graph, const DenoiseSettings& settings,
               std::size_t signals) {
  // The share of the machine's product speed that fits reach, had they a dense matrix: of the
  // decoder, which has a sparse one, and of networks, which pass over memory between products.
  constexpr double decoder_share = 1;
  constexpr double network_share = 0.44;
  const bool decoder = settings.layers == 2 &&
                       (settings.arch == DenoiseArch::gf || settings.arch == DenoiseArch::ngf);
  cell.products = epoch_flops(graph, settings) * settings.epochs * static_cast<double>(signals);
  cell.work = cell.products / (decoder ? decoder_share : network_share);
}

// ---- Node classification ----

std::string_view filter_name(ModelKind model) { return model == ModelKind::gcnn ? "gf" : "ngf"; }

ClassifySettings paper_training(const Study& study, ModelKind model, std::uint32_t taps) {
  ClassifySettings settings = recipe("paper");
  settings.model.model = model;
  settings.model.hops = taps - 1;
  settings.run.seed = study.seed;
  settings.threads = study.threads;
  settings.memory = study.memory;
  return settings;
}

namespace {

/// How many times as long as a dense product at full speed a multiplication and addition takes.
struct Slowness {
  double dense, hops, lists, shifts, features;
};
/// By these src/nn/first_layer.cpp chooses an order of products.
constexpr Slowness in_choice{.dense = 1, .hops = 1, .lists = 2.5, .shifts = 8, .features = 6};
/// These were measured on Cora, Citeseer and Pubmed, with 64 and 512 hidden units.
constexpr Slowness in_time{.dense = 1.75, .hops = 1.7, .lists = 7, .shifts = 50, .features = 20};
/// Of passes over a layer's outputs between products, for each of them.
constexpr double work_of_output = 54;
/// Fewer columns than these take no less time.
constexpr double narrowest = 16;
/// Of finding shells and their largest eigenvalues, for each pair and hop where all pairs are held,
/// and for each pair where they are lists.
constexpr double work_of_hop = 500;
constexpr double work_of_listed_pair = 8000;

/// Multiplications and additions of a product of H with one column, by kind.
struct FilterCounts {
  double hops = 0, lists = 0, shifts = 0;
  double work_once = 0;

  double column(const Slowness& slowness) const {
    return hops * slowness.hops + lists * slowness.lists + shifts * slowness.shifts;
  }
};

FilterCounts count_filter(const Graph& graph, const ModelSettings& model) {
  const auto hops = static_cast<double>(model.hops);
  FilterCounts counts;
  if (model.model == ModelKind::gcnn) {
    counts.shifts = 2 * static_cast<double>(graph.targets().size()) * hops;
    return counts;
  }
  const ShellPlan plan = plan_shells(graph, {.hops = model.hops});
  if (plan.storage == Storage::sparse) {
    double pairs = 0;
    for (const std::uint64_t count : plan.pairs) pairs += static_cast<double>(count);
    counts.lists = 2 * pairs;
    counts.work_once = work_of_listed_pair * pairs;
  } else {
    const double pairs = static_cast<double>(graph.nodes()) * static_cast<double>(graph.nodes());
    counts.hops = 2 * pairs;
    counts.work_once = work_of_hop * pairs * hops;
  }
  return counts;
}

double entries_of(const Dataset& dataset) {
  if (const auto* const sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    return static_cast<double>(sparse->nonZeros());
  }
  return static_cast<double>(dataset.graph.nodes()) * static_cast<double>(dataset.feature_count());
}

/// Forward and backward through the first layer, for each of its outputs.
double filter_first(const Dataset& dataset, const Slowness& slowness) {
  return 4 * static_cast<double>(dataset.graph.nodes()) *
         static_cast<double>(dataset.feature_count()) * slowness.dense;
}

double weights_first(const Dataset& dataset, const FilterCounts& filter, const Slowness& slowness) {
  const bool sparse = std::holds_alternative<SparseMatrixF>(dataset.features);
  return 4 * entries_of(dataset) * (sparse ? slowness.features : slowness.dense) +
         2 * filter.column(slowness);
}

}  // namespace

double training_work(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs) {
  const FilterCounts filter = count_filter(dataset.graph, settings.model);
  const auto nodes = static_cast<double>(dataset.graph.nodes());
  const auto width = static_cast<double>(settings.model.hidden);
  const auto classes = static_cast<double>(dataset.class_count());
  const auto hidden_layers = static_cast<double>(settings.model.layers - 1);
  const bool filtered_once =
      filter_first(dataset, in_choice) < weights_first(dataset, filter, in_choice);
  const double first = width * (filtered_once ? filter_first(dataset, in_time)
                                              : weights_first(dataset, filter, in_time));
  const double column = 2 * filter.column(in_time);
  const double middle = 6 * nodes * width * width * in_time.dense + column * width;
  const double last =
      6 * nodes * width * classes * in_time.dense + column * std::max(classes, narrowest);
  const double passes = nodes * width * hidden_layers * work_of_output;
  const double epoch = first + (hidden_layers - 1) * middle + last + passes;
  const double once = filtered_once ? column / 2 * static_cast<double>(dataset.feature_count()) : 0;
  return filter.work_once + once + epoch * settings.epochs * static_cast<double>(runs);
}

std::vector<RunResult> train(const Dataset& dataset, const ClassifySettings& settings,
                             std::size_t count, Progress* progress) {
  ClassifyWatch watch;
  watch.progress = progress;
  return classify(dataset, choose_split(dataset, "public"), settings, runs_of(settings, count),
                  watch);
}

void add_accuracy(Row& row, const std::vector<RunResult>& runs) {
  std::vector<double> accuracies;
  for (const RunResult& run : runs) accuracies.push_back(100 * run.test_score);
  const Summary summary = summarize(accuracies);
  row["mean"] = summary.mean;
  row["median"] = summary.median;
  row["std"] = summary.std;
  row["runs"] = runs.size();
}

}  // namespace ngf::experiments
