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
  // The share of the machine's product speed that fits reach: of the decoder, which multiplies by
  // one dense matrix, and of networks, which pass over memory between their products.
  constexpr double decoder_share = 0.6;
  constexpr double network_share = 0.35;
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

/// What products with H take, and what it takes to find H.
struct FilterWork {
  double column = 0;  // of a product with one column
  double once = 0;
};

// Entries of sparse products take so many times as long as those of dense ones.
constexpr double of_features = 6;
constexpr double of_lists = 2.5;
constexpr double of_shifts = 8;

FilterWork filter_work(const Graph& graph, const ModelSettings& model) {
  const auto hops = static_cast<double>(model.hops);
  if (model.model == ModelKind::gcnn) {
    return {.column = 2 * static_cast<double>(graph.targets().size()) * hops * of_shifts};
  }
  const ShellPlan plan = plan_shells(graph, {.hops = model.hops});
  double pairs = 0;
  for (const std::uint64_t count : plan.pairs) pairs += static_cast<double>(count);
  const bool dense = plan.storage != Storage::sparse;
  if (dense) pairs = static_cast<double>(graph.nodes()) * static_cast<double>(graph.nodes());
  // The largest eigenvalue of each shell takes some thirty products with one column.
  constexpr double of_eigenvalues = 250;
  return {.column = 2 * pairs * (dense ? 1 : of_lists),
          .once = pairs * of_eigenvalues * (dense ? hops : 1)};
}

double entries_of(const Dataset& dataset) {
  if (const auto* const sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    return static_cast<double>(sparse->nonZeros());
  }
  return static_cast<double>(dataset.graph.nodes()) * static_cast<double>(dataset.feature_count());
}

}  // namespace

double training_work(const Dataset& dataset, const ClassifySettings& settings, std::size_t runs) {
  const ModelSettings& model = settings.model;
  const FilterWork filter = filter_work(dataset.graph, model);
  const auto nodes = static_cast<double>(dataset.graph.nodes());
  const auto features = static_cast<double>(dataset.feature_count());
  const auto width = static_cast<double>(model.hidden);
  const auto classes = static_cast<double>(dataset.class_count());
  // A forward and a backward pass, as src/nn/first_layer.cpp counts them.
  const double filter_first = 4 * nodes * features * width;
  const double weights_first =
      4 * entries_of(dataset) * of_features * width + 2 * filter.column * width;
  const double middle = 6 * nodes * width * width + 2 * filter.column * width;
  const double last = 6 * nodes * width * classes + 2 * filter.column * classes;
  const double epoch =
      std::min(filter_first, weights_first) + static_cast<double>(model.layers - 2) * middle + last;
  constexpr double share = 0.6;
  return filter.once + epoch * settings.epochs * static_cast<double>(runs) / share;
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
