#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "common.hpp"
#include "data_streams.hpp"
#include "graph_source.hpp"
#include "io/text_writer.hpp"
#include "io/words.hpp"
#include "ngf/error.hpp"
#include "ngf/io/tensors.hpp"
#include "ngf/tasks/classify.hpp"
#include "ngf/tasks/metrics.hpp"
#include "ngf/tasks/splits.hpp"
#include "pair_flags.hpp"
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
  PairFlags pairs;
};

/// The name of a class, or its number where classes have no names.
std::string name_of(const Model& model, std::int32_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < model.labels.size() ? model.labels[index] : std::to_string(label);
}

void write_labels(const std::filesystem::path& path, const Model& model,
                  const Prediction& prediction, const NodeNames& names) {
  io::AtomicFile file(output_path(path));
  io::TextWriter writer(file);
  writer.text("node,label,probability\n");
  for (std::size_t u = 0; u < prediction.labels.size(); ++u) {
    const std::int32_t label = prediction.labels[u];
    writer.text(io::as_field(label_of(names, u), ','));
    writer.character(',');
    writer.text(io::as_field(name_of(model, label), ','));
    writer.character(',');
    writer.number(
        prediction.probabilities(static_cast<Eigen::Index>(u), static_cast<Eigen::Index>(label)));
    writer.character('\n');
  }
  writer.finish();
  file.commit();
}

/// Prints the first labels on a terminal.
void print_labels(const Model& model, const Prediction& prediction, const NodeNames& names) {
  std::vector<std::vector<std::string>> rows;
  const std::size_t count = std::min(prediction.labels.size(), shown_rows);
  for (std::size_t u = 0; u < count; ++u) {
    const auto label = static_cast<Eigen::Index>(prediction.labels[u]);
    const float probability = prediction.probabilities(static_cast<Eigen::Index>(u), label);
    rows.push_back({label_of(names, u), name_of(model, prediction.labels[u]),
                    fmt::format("{:.4f}", probability)});
  }
  print_rows({"node", "label", "probability"}, rows, prediction.labels.size());
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
  scores.reserve(nodes.size());
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

/// The nodes that are not among the others.
std::vector<NodeId> without(std::vector<NodeId> nodes, std::vector<NodeId> others) {
  std::sort(others.begin(), others.end());
  std::erase_if(nodes, [&](NodeId u) { return std::ranges::binary_search(others, u); });
  return nodes;
}

void report(const PredictVerb& verb, const Dataset& dataset, const Split& split,
            const Prediction& prediction, double seconds) {
  Json scores = Json::object();
  const std::vector<NodeId> known = labelled_nodes(dataset);
  const std::vector<NodeId> scored = without(known, split.train);
  if (!scored.empty()) add_scores(scores, "", prediction, dataset, scored);
  if (!verb.split.empty()) {
    add_scores(scores, "val_", prediction, dataset, split.validation);
    add_scores(scores, "test_", prediction, dataset, split.test);
  }
  if (verb.common.json) {
    Json json{{"nodes", dataset.graph.nodes()},
              {"labelled", known.size()},
              {"scored", scored.size()},
              {"seconds", seconds}};
    json.update(scores);
    if (!verb.out.empty()) json["written"] = verb.out.string();
    print_json(json);
    return;
  }
  std::string text = fmt::format("{}: {} nodes, {} with a known label\n", verb.source.name(),
                                 dataset.graph.nodes(), known.size());
  if (!known.empty()) {
    text += verb.split.empty()
                ? "scores of all labelled nodes, with those that the model was trained on; --split "
                  "leaves the training nodes out\n"
                : fmt::format("scores of the {} labelled nodes outside the training nodes\n",
                              scored.size());
  }
  for (const auto& [name, value] : scores.items()) {
    text += fmt::format("{:>16} {:.4f}\n", name, value.get<double>());
  }
  if (!to_stdout(verb.out)) text += fmt::format("written {}\n", verb.out.string());
  print_summary(verb.common, verb.out, text);
}

void run_predict(const PredictVerb& verb) {
  const bool scores_alone = verb.common.json && verb.out.empty();
  if (!scores_alone) check_output(verb.common, verb.out);
  Model model;
  naming(verb.model.string(), [&] { model = model_from(read_tensors(verb.model)); });
  io::ReadResult read = verb.source.load(verb.common);
  const NodeIds ids = take_ids(read);
  const Dataset& dataset = read.dataset;
  if (scores_alone && labelled_nodes(dataset).empty()) {
    throw CLI::ValidationError("-o", "no label is known, so name the file to write: -o labels.csv");
  }
  TerminalProgress progress("predicting", verb.common.quiet);
  const auto begun = std::chrono::steady_clock::now();
  naming(verb.source.name(), [&] {
    const Split split = verb.split.empty() ? Split() : choose_split(dataset, verb.split);
    std::optional<Embeddings> embeddings;
    if (verb.pairs.given()) {
      embeddings = verb.pairs.read(verb.source.name(), dataset, ids, verb.common);
    }
    const Prediction prediction = predict(model, dataset,
                                          {.storage = storage_named(verb.storage),
                                           .threads = verb.common.threads,
                                           .memory = verb.common.memory,
                                           .embeddings = embeddings,
                                           .progress = &progress});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    progress.clear();
    if (to_terminal(verb.out) && !scores_alone) {
      print_labels(model, prediction, ids.names);
    } else if (!scores_alone) {
      write_labels(verb.out, model, prediction, ids.names);
    }
    report(verb, dataset, split, prediction, seconds);
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
  predict->pairs.add_file_to(*verb);
  verb->add_option(
      "-o,--output", predict->out,
      "File to write: one line node,label,probability per node [stdout; with --json scores only]");
  predict->common.add_to(*verb);
  verb->callback([predict] { run_predict(*predict); });
}

}  // namespace ngf::cli
