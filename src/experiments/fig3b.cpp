// Figure 3b, test case 4: accuracy of node classification against the share of edges that are
// perturbed.
//
// "recomputed" distances are those that the test case asks for: shells and powers of the perturbed
// graph. "cached" distances are those of the published code: it keeps hop distances in a file named
// after the data set, and reads them back for every later perturbation, so that its neighbourhood
// filter is always that of the unperturbed graph. A network sees the graph through its filter
// alone; with cached distances no perturbation reaches it, and its curve varies with the seeds
// alone.

#include <fmt/format.h>

#include <algorithm>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace of_fig3b {

namespace {

constexpr std::array<std::string_view, 2> kinds{"destroy", "both"};
constexpr std::size_t runs_a_graph = 2;
constexpr std::size_t full_runs = 20;
constexpr std::uint64_t most_graphs = 1000;
constexpr std::int64_t quick_hidden = 64;
constexpr std::int64_t full_hidden = 512;
constexpr std::uint64_t own_seeds = 3;

std::vector<std::uint32_t> taps_of(const Study& study) {
  if (study.size == Size::full) return {3, 7, 9};
  return {3, 7};
}

std::vector<std::uint32_t> percents_of(const Study& study) {
  if (study.size == Size::full) return {0, 4, 8, 12, 16, 20};
  return {0, 8, 20};
}

const NamedDataset& dataset_of(const Study& study) { return dataset_named(study, "citeseer"); }

struct Point {
  std::uint32_t taps;
  std::string_view kind;
  std::uint32_t percent;
  ModelKind model;
  bool cached;
};

std::string_view distances_name(bool cached) { return cached ? "cached" : "recomputed"; }

std::size_t runs_of_point(const Study& study) { return runs_a_point(study, full_runs); }

/// Two runs share a perturbed graph, but no spread is known of a single graph. Where no network
/// sees a perturbation there is only one.
std::size_t graphs_of(const Study& study, const Point& point) {
  if (point.cached || point.percent == 0) return 1;
  const std::size_t runs = runs_of_point(study);
  return std::max(std::min(runs, std::size_t{2}), (runs + runs_a_graph - 1) / runs_a_graph);
}

ClassifySettings training_of(const Study& study, const Point& point) {
  ClassifySettings settings = paper_training(study, point.model, point.taps);
  settings.model.hidden = sized(study, quick_hidden, full_hidden);
  return settings;
}

/// p percent destroyed, or half of that created and half destroyed.
Graph perturbed(const Graph& graph, const Point& point, std::uint64_t seed) {
  const double share = point.kind == "both" ? 0.5 : 1;
  return perturb(graph, perturbation(point.kind, share * point.percent, seed)).graph;
}

/// A perturbed graph, and the runs on it.
std::vector<RunResult> train_perturbed(const Study& study, const Point& point, std::uint64_t seed,
                                       std::size_t count, Progress* progress) {
  Dataset dataset = dataset_of(study).dataset;
  if (!point.cached) dataset.graph = perturbed(dataset.graph, point, seed);
  ClassifySettings settings = training_of(study, point);
  settings.run.seed = seed;
  return train(dataset, settings, count, progress);
}

/// The mean is that of the graphs' means, so that `graph_std` is its spread.
Row row_of(const Study& study, const Point& point, const std::vector<RunResult>& runs,
           const Summary& by_graph) {
  Row row{{"dataset", dataset_of(study).name},  {"K", point.taps},
          {"perturbation", point.kind},         {"percent", point.percent},
          {"filter", filter_name(point.model)}, {"distances", distances_name(point.cached)}};
  add_accuracy(row, runs);
  row["mean"] = by_graph.mean;
  row["graphs"] = graphs_of(study, point);
  row["graph_std"] = by_graph.std;
  row["hidden"] = sized(study, quick_hidden, full_hidden);
  return row;
}

std::string run(const Study& study, const Point& point, Progress* progress) {
  // Filters at one point share graphs and seeds; points do not.
  const std::uint64_t place = point.percent * 2 + (point.kind == "both" ? 1 : 0);
  const std::size_t graphs = graphs_of(study, point);
  std::vector<RunResult> runs;
  std::vector<double> means;
  for (std::size_t g = 0; g < graphs; ++g) {
    const std::uint64_t seed = seed_of(study, own_seeds, place * most_graphs + g);
    const std::size_t count = (runs_of_point(study) - g + graphs - 1) / graphs;
    std::vector<double> accuracies;
    for (RunResult& one : train_perturbed(study, point, seed, count, progress)) {
      accuracies.push_back(100 * one.test_score);
      runs.push_back(std::move(one));
    }
    means.push_back(summarize(accuracies).mean);
  }
  const Summary by_graph = summarize(means);
  Row rows = Row::array({row_of(study, point, runs, by_graph)});
  if (point.percent > 0) return rows.dump();
  // Without a perturbation, both kinds and both sorts of distances have the same result.
  rows.clear();
  for (const std::string_view kind : kinds) {
    for (const bool cached : {false, true}) {
      if (cached && point.model == ModelKind::gcnn) continue;
      rows.push_back(row_of(study, {point.taps, kind, 0, point.model, cached}, runs, by_graph));
    }
  }
  return rows.dump();
}

void add_cell(Figure& figure, const Study& study, const Point& point) {
  Cell& cell = figure.cells.emplace_back();
  cell.key = fmt::format("fig3b K={} {} {} % {} {}", point.taps, point.kind, point.percent,
                         filter_name(point.model), distances_name(point.cached));
  cell.seconds =
      training_seconds(dataset_of(study).dataset, training_of(study, point), runs_of_point(study));
  cell.run = [&study, point](Progress* progress) { return run(study, point, progress); };
}

}  // namespace

}  // namespace of_fig3b

Figure fig3b(const Study& study) {
  using namespace of_fig3b;
  Figure figure{"fig3b", "node classification: accuracy against perturbation", {}};
  for (const std::uint32_t taps : taps_of(study)) {
    for (const ModelKind model : networks) {
      for (const std::uint32_t percent : percents_of(study)) {
        if (percent == 0) {
          add_cell(figure, study, {taps, kinds[0], 0, model, false});
          continue;
        }
        for (const std::string_view kind : kinds) {
          add_cell(figure, study, {taps, kind, percent, model, false});
          if (model == ModelKind::ngcnn) {
            add_cell(figure, study, {taps, kind, percent, model, true});
          }
        }
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
