
#include "base/fail.hpp"
#include "base/names.hpp"
#include "ngf/tasks/classify.hpp"

namespace ngf {

std::string_view metric_name(Metric metric) {
  return detail::name_in({"accuracy", "auc", "macro_f1"}, metric);
}

std::string_view optimizer_name(OptimizerKind kind) {
  return kind == OptimizerKind::adam ? "adam" : "sgd";
}

std::string_view initialization_name(Initialization kind) {
  return kind == Initialization::glorot ? "glorot" : "paper";
}

ClassifySettings recipe(std::string_view name, std::string_view dataset) {
  ClassifySettings settings;
  if (name == "strong") {
    settings.model.shift = Shift::gcn;
    // Found on validation nodes: docs/recipe-search.csv.
    if (dataset == "planetoid:pubmed") {
      settings.model.hops = 3;
      settings.run.dropout = 0.6;
      settings.run.weight_decay = 5e-4;
    }
    return settings;
  }
  if (name != "paper") fail("no recipe '{}'; there are paper and strong", name);
  settings.model.unit_taps = true;
  settings.model.normalization = Normalization::lmax;
  settings.model.shift = Shift::adjacency_lmax;
  settings.model.hidden = 512;
  settings.model.bias = false;
  settings.run.dropout = 0;
  settings.run.weight_decay = 0;
  settings.run.init = Initialization::paper;
  settings.epochs = 100;
  return settings;
}

std::vector<RunSettings> runs_of(const ClassifySettings& settings, std::size_t count) {
  std::vector<RunSettings> runs(count, settings.run);
  for (std::size_t r = 0; r < count; ++r) runs[r].seed += r;
  return runs;
}

}  // namespace ngf
