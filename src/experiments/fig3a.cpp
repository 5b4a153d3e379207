// Figure 3a, test case 3: accuracy of node classification against the number of taps K, by networks
// of two layers whose taps are all 1.

#include <fmt/format.h>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace of_fig3a {

namespace {

constexpr std::int64_t quick_hidden = 64;
constexpr std::int64_t full_hidden = 512;
constexpr NodeId large = 10'000;
constexpr std::size_t full_runs = 25;

std::vector<std::uint32_t> taps_of(const Study& study, const Dataset& dataset) {
  if (study.size == Size::full) return {2, 3, 4, 5, 6, 7, 8, 9, 10};
  // Far shells of a large graph take long to find.
  if (dataset.graph.nodes() > large) return {2, 4};
  return {2, 4, 6, 10};
}

ClassifySettings training_of(const Study& study, ModelKind model, std::uint32_t taps) {
  ClassifySettings settings = paper_training(study, model, taps);
  settings.model.hidden = sized(study, quick_hidden, full_hidden);
  return settings;
}

std::string run(const Study& study, const NamedDataset& named, ModelKind model, std::uint32_t taps,
                Progress* progress) {
  const ClassifySettings settings = training_of(study, model, taps);
  const std::vector<RunResult> runs =
      train(named.dataset, settings, runs_a_point(study, full_runs), progress);
  Row row{{"dataset", named.name}, {"K", taps}, {"filter", filter_name(model)}};
  add_accuracy(row, runs);
  row["hidden"] = settings.model.hidden;
  return Row::array({row}).dump();
}

}  // namespace

}  // namespace of_fig3a

Figure fig3a(const Study& study) {
  using namespace of_fig3a;
  Figure figure{"fig3a", "node classification: accuracy against K", {}};
  for (const NamedDataset& named : study.datasets) {
    for (const std::uint32_t taps : taps_of(study, named.dataset)) {
      for (const ModelKind model : networks) {
        Cell& cell = figure.cells.emplace_back();
        cell.key = fmt::format("fig3a {} K={} {}", named.name, taps, filter_name(model));
        cell.seconds = training_seconds(named.dataset, training_of(study, model, taps),
                                        runs_a_point(study, full_runs));
        cell.run = [&study, &named, model, taps](Progress* progress) {
          return run(study, named, model, taps, progress);
        };
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
