#include "experiments/common.hpp"

#include "base/parallel.hpp"
#include "base/streams.hpp"
#include "ngf/components.hpp"
#include "ngf/generate.hpp"
#include "ngf/tasks/splits.hpp"

namespace ngf::experiments {

std::string_view size_name(Size size) { return size == Size::quick ? "quick" : "full"; }

const NamedDataset& dataset_named(const Study& study, std::string_view name) {
  const auto found = std::ranges::find(study.datasets, name, &NamedDataset::name);
  return found == study.datasets.end() ? study.datasets.back() : *found;
}

std::uint64_t seed_of(const Study& study, std::uint64_t figure, std::uint64_t item) {
  constexpr std::uint64_t figures = 1000;
  return random_for(study.seed, Use::experiments, item * figures + figure).bits64();
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
  Random random = random_for(seed, Use::experiment_taps, 0);
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
  parallel_for(static_cast<std::size_t>(realisations_of(study)), study.threads, [&](std::size_t r) {
    throw_if_stopped(progress);
    body(r);
  });
}

// ---- Denoising ----

std::string_view input_name(SignalKind kind) { return kind == SignalKind::gf ? "gf" : "ngf"; }

DenoiseSettings fit_for(const Study& study, DenoiseSettings of_case, std::uint32_t epochs) {
  of_case.epochs = epochs;
  of_case.threads = study.threads;
  of_case.memory = study.memory;
  return of_case;
}

void count_products(Cell& cell, const Graph& graph, const DenoiseSettings& fit,
                    std::size_t signals) {
  cell.products = epoch_flops(graph, fit) * fit.epochs * static_cast<double>(signals);
  cell.seconds = cell.products * costs::of_product;
}

// ---- Node classification ----

std::size_t runs_a_point(const Study& study, std::size_t full) {
  constexpr std::size_t quick_runs = 2;
  return study.runs > 0 ? study.runs : sized(study, quick_runs, full);
}

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

double training_seconds(const Dataset& dataset, const ClassifySettings& settings,
                        std::size_t runs) {
  return costs::of_unit * static_cast<double>(runs) * settings.epochs *
         static_cast<double>(settings.model.hidden * settings.model.layers) *
         static_cast<double>(dataset.graph.nodes());
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
