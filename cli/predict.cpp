#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "common.hpp"
#include "graph_source.hpp"
#include "io/text_writer.hpp"
#include "ngf/error.hpp"
#include "ngf/io/tensors.hpp"
#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/metrics.hpp"
#include "ngf/tasks/splits.hpp"
#include "shell_flags.hpp"
#include "train_flags.hpp"
#include "verbs.hpp"

namespace ngf::cli {

namespace {

struct PredictVerb {
  Common common;
  GraphSource source;
  std::filesystem::path model;
  std::string storage = "auto";
  std::string split;
  std::filesystem::path out;
};

/// A CSV field, quoted if necessary.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

void write_labels(const std::filesystem::path& path, const Model& model,
                  const Prediction& prediction) {
  io::AtomicFile file(path);
  io::TextWriter writer(file);
  writer.text("node,label,probability\n");
  for (std::size_t u = 0; u < prediction.labels.size(); ++u) {
    const auto label = static_cast<std::size_t>(prediction.labels[u]);
    writer.number(u);
    writer.character(',');
    writer.text(label < model.labels.size() ? csv_field(model.labels[label])
                                            : std::to_string(label));
    writer.character(',');
    writer.number(
        prediction.probabilities(static_cast<Eigen::Index>(u), static_cast<Eigen::Index>(label)));
    writer.character('\n');
  }
  writer.finish();
  file.commit();
}

/// All scores of the predictions for these nodes.
void add_scores(Json& json, const std::string& prefix, const Prediction& prediction,
                const Dataset& dataset, const std::vector<NodeId>& nodes) {
  std::vector<std::int32_t> predicted;
  std::vector<std::int32_t> truth;
  for (const NodeId u : nodes) {
    predicted.push_back(prediction.labels[u]);
    truth.push_back(dataset.labels[u]);
  }
  json[prefix + "accuracy"] = accuracy(predicted, truth);
  json[prefix + "macro_f1"] = macro_f1(predicted, truth);
  const auto positives = std::count(truth.begin(), truth.end(), 1);
  if (prediction.probabilities.cols() != 2 || positives == 0 ||
      positives == static_cast<std::ptrdiff_t>(truth.size())) {
    return;
  }
  std::vector<float> scores;
  for (const NodeId u : nodes) scores.push_back(prediction.probabilities(u, 1));
  json[prefix + "auc"] = roc_auc<float>(scores, truth);
}

std::vector<NodeId> labelled_nodes(const Dataset& dataset) {
  std::vector<NodeId> nodes;
  for (NodeId u = 0; u < dataset.labels.size(); ++u) {
    if (dataset.labels[u] >= 0) nodes.push_back(u);
  }
  return nodes;
}

void report(const PredictVerb& verb, const Dataset& dataset, const Prediction& prediction,
            double seconds) {
  Json scores = Json::object();
  const std::vector<NodeId> known = labelled_nodes(dataset);
  if (!known.empty()) add_scores(scores, "", prediction, dataset, known);
  if (!verb.split.empty()) {
    const Split split = choose_split(dataset, verb.split);
    add_scores(scores, "val_", prediction, dataset, split.validation);
    add_scores(scores, "test_", prediction, dataset, split.test);
  }
  if (verb.common.json) {
    Json json{{"nodes", dataset.graph.nodes()}, {"labelled", known.size()}, {"seconds", seconds}};
    json.update(scores);
    if (!verb.out.empty()) json["written"] = verb.out.string();
    print_json(json);
    return;
  }
  fmt::print("{}: {} nodes, {} with a known label\n", verb.source.name(), dataset.graph.nodes(),
             known.size());
  for (const auto& [name, value] : scores.items()) {
    fmt::print("{:>16} {:.4f}\n", name, value.get<double>());
  }
  if (!verb.out.empty()) fmt::print("written {}\n", verb.out.string());
}

void run_predict(const PredictVerb& verb) {
  check_writable(verb.out);
  Model model;
  naming(verb.model.string(), [&] { model = model_from(read_tensors(verb.model)); });
  const io::ReadResult read = verb.source.load(verb.common);
  const Dataset& dataset = read.dataset;
  if (verb.out.empty() && labelled_nodes(dataset).empty()) {
    throw CLI::ValidationError("-o", "no label is known, so name the file to write: -o labels.csv");
  }
  TerminalProgress progress("predicting", verb.common.quiet);
  const auto begun = std::chrono::steady_clock::now();
  naming(verb.source.name(), [&] {
    const Prediction prediction = predict(model, dataset,
                                          {.storage = storage_named(verb.storage),
                                           .threads = verb.common.threads,
                                           .memory = verb.common.memory,
                                           .progress = &progress});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    progress.clear();
    if (!verb.out.empty()) write_labels(verb.out, model, prediction);
    report(verb, dataset, prediction, seconds);
  });
}

}  // namespace

void add_predict(CLI::App& program) {
  auto predict = std::make_shared<PredictVerb>();
  CLI::App* const verb =
      program.add_subcommand("predict", "Predict the label of each node with a trained model");
  verb->add_option("MODEL", predict->model, "Model file, written by `ngf train -o`")->required();
  predict->source.add_to(*verb, true, "DATASET");
  add_storage_flag(*verb, predict->storage)->capture_default_str();
  add_split_flag(*verb, predict->split);
  verb->add_option("-o,--output", predict->out,
                   "File to write: one line node,label,probability per node");
  predict->common.add_to(*verb);
  verb->callback([predict] { run_predict(*predict); });
}

}  // namespace ngf::cli
