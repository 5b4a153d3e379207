#include "experiments/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "shells/twins.hpp"
#include "ngf/components.hpp"

namespace ngf::experiments {

namespace {

/// How often a piece of so much work fits into a trial, but for bounds.
std::uint32_t fitting(double enough, double piece, std::uint32_t least, std::uint32_t most) {
  const double count = std::round(enough / piece);
  if (count >= most) return most;
  return std::max(least, static_cast<std::uint32_t>(count));
}

}  // namespace

// ---- Denoising ----

void foretell_fits(Cell& cell, const std::shared_ptr<const DenoiseCase>& data,
                   const DenoiseSettings& settings) {
  constexpr std::uint32_t least_epochs = 10;
  constexpr Eigen::Index most_signals = 16;
  const double epoch = epoch_flops(data->graph, settings);
  cell.products = epoch * settings.epochs * static_cast<double>(data->noisy.cols());
  cell.work = cell.products;
  const Eigen::Index signals = std::min(most_signals, data->noisy.cols());
  const double of_signals = epoch * static_cast<double>(signals);
  cell.trial.kind = fmt::format("{} layers {} on {} nodes", settings.layers,
                                arch_name(settings.arch), data->graph.nodes());
  cell.trial.least = of_signals * least_epochs;
  cell.trial.run = [data, settings, signals, of_signals](double enough) {
    DenoiseSettings brief = settings;
    brief.epochs = fitting(enough, of_signals, least_epochs, settings.epochs);
    const Matrix noisy = data->noisy.leftCols(signals);
    const Matrix clean = data->clean.leftCols(signals);
    denoise(data->graph, noisy, &clean, brief);
    return of_signals * brief.epochs;
  };
}

// ---- Node classification ----

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
/// Of what is done before training with each entry of the features.
constexpr double work_of_entry = 1000;

/// Multiplications and additions of a product of H with one column, by kind.
struct FilterCounts {
  double hops = 0, lists = 0, shifts = 0;
  double work_once = 0;

  std::string_view kind() const {
    if (shifts > 0) return "powers";
    return lists > 0 ? "lists" : "hops";
  }
  double column(const Slowness& slowness) const {
    return hops * slowness.hops + lists * slowness.lists + shifts * slowness.shifts;
  }
};

/// The graph whose shells a filter finds: one node of each class of twins.
Graph without_twins(const Graph& graph) {
  const std::optional<Twins> twins = shells::find_twins(graph, {});
  return twins ? induced_subgraph(graph, twins->firsts()) : graph;
}

FilterCounts count_filter(const Graph& whole, const ModelSettings& model) {
  const auto hops = static_cast<double>(model.hops);
  FilterCounts counts;
  if (model.model == ModelKind::gcnn) {
    counts.shifts = 2 * static_cast<double>(whole.targets().size()) * hops;
    return counts;
  }
  const Graph graph = without_twins(whole);
  const ShellPlan plan = plan_shells(graph, {.hops = model.hops});
  if (plan.storage == Storage::sparse) {
    const double pairs = plan.estimate.total();
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

struct TrainingWork {
  double once = 0;
  double epoch = 0;  ///< of one run
  std::string_view kind;
};

TrainingWork training_work(const Dataset& dataset, const ClassifySettings& settings) {
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
  const double of_features = work_of_entry * entries_of(dataset);
  const double once = filtered_once ? column / 2 * static_cast<double>(dataset.feature_count()) : 0;
  return {of_features + filter.work_once + once, epoch, filter.kind()};
}

}  // namespace

void foretell_training(Cell& cell, const Training& training) {
  constexpr std::uint32_t least_epochs = 2;
  // A longer run tells epochs from what is done once.
  constexpr std::uint32_t least_of_longer = 3 * least_epochs;
  const ClassifySettings& settings = training.settings;
  const TrainingWork work = training_work(*training.dataset, settings);
  // Runs go in rounds, as many at the same time as there are threads.
  const auto threads = static_cast<std::size_t>(detail::thread_count(settings.threads));
  const std::size_t together = std::min(training.runs, threads);
  const std::size_t rounds = (training.runs + together - 1) / together * training.graphs;
  const double of_round = work.epoch * static_cast<double>(together);
  cell.once = work.once * static_cast<double>(training.graphs);
  cell.work = of_round * settings.epochs * static_cast<double>(rounds);
  const ModelSettings& model = settings.model;
  cell.trial.kind = fmt::format("{} {} hops {} layers {} hidden on {}", model_name(model.model),
                                model.hops, model.layers, model.hidden, training.name);
  cell.trial.family = fmt::format("{} of {} nodes", work.kind, training.dataset->graph.nodes());
  cell.trial.once = work.once;
  cell.trial.least = of_round * least_epochs;
  cell.trial.run = [dataset = training.dataset, settings, together, of_round](double enough) {
    ClassifySettings brief = settings;
    brief.epochs =
        enough > 0 ? fitting(enough, of_round, least_of_longer, settings.epochs) : least_epochs;
    train(*dataset, brief, together, nullptr);
    return of_round * brief.epochs;
  };
}

}  // namespace ngf::experiments
