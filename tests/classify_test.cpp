#include "ngf/tasks/classify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/tensors.hpp"
#include "tasks/batch.hpp"
#include "tests/nn_support.hpp"

namespace ngf {
namespace {

using test::error_of;

/// Communities whose features say, with noise, which they are.
Dataset communities(NodeId nodes = 120, std::int32_t blocks = 3, bool sparse = false) {
  Dataset dataset;
  dataset.graph = stochastic_block_model(nodes, static_cast<std::uint64_t>(blocks), 0.25, 0.015, 1);
  Random random(3);
  MatrixF x = MatrixF::Zero(nodes, 24);
  for (NodeId u = 0; u < nodes; ++u) {
    const auto label = static_cast<std::int32_t>(u * static_cast<std::uint32_t>(blocks) / nodes);
    dataset.labels.push_back(label);
    for (Eigen::Index f = 0; f < x.cols(); ++f) {
      const double likely = f % blocks == label ? 0.5 : 0.2;
      x(u, f) = random.chance(likely) ? 1.0F : 0.0F;
    }
  }
  if (sparse) {
    dataset.features = SparseMatrixF(x.sparseView());
  } else {
    dataset.features = x;
  }
  Split split;
  for (NodeId u = 0; u < nodes; ++u) {
    (u % 4 == 0 ? split.train : u % 4 == 1 ? split.validation : split.test).push_back(u);
  }
  dataset.splits = {split};
  return dataset;
}

ClassifySettings quick() {
  ClassifySettings settings;
  settings.model.hidden = 16;
  settings.epochs = 40;
  settings.threads = 1;
  return settings;
}

std::vector<RunResult> train(const Dataset& dataset, const ClassifySettings& settings,
                             std::size_t runs, const ClassifyWatch& watch = {}) {
  return classify(dataset, dataset.splits[0], settings, runs_of(settings, runs), watch);
}

void expect_same(const RunResult& a, const RunResult& b) {
  EXPECT_EQ(a.settings.seed, b.settings.seed);
  EXPECT_EQ(a.history, b.history);
  EXPECT_EQ(a.test_score, b.test_score);
  EXPECT_EQ(a.best_epoch, b.best_epoch);
  EXPECT_EQ(a.model.layers, b.model.layers);
}

TEST(Classify, EveryModelLearns) {
  for (const bool sparse : {false, true}) {
    const Dataset dataset = communities(180, 3, sparse);
    for (const ModelKind kind :
         {ModelKind::ngcnn, ModelKind::gcnn, ModelKind::gcn, ModelKind::sgc}) {
      SCOPED_TRACE(model_name(kind));
      ClassifySettings settings = quick();
      settings.model.model = kind;
      settings.run.lr = 0.03;
      settings.run.weight_decay = 0;
      settings.epochs = 100;
      for (const RunResult& run : train(dataset, settings, 2)) {
        EXPECT_GT(run.test_score, 0.9);
        EXPECT_LT(run.history.back().loss, run.history.front().loss);
      }
    }
  }
}

TEST(Classify, WithoutAGraphOnlyTheFeaturesTell) {
  ClassifySettings settings = quick();
  settings.model.model = ModelKind::mlp;
  settings.run.lr = 0.03;
  const std::vector<RunResult> runs = train(communities(), settings, 1);
  EXPECT_GT(runs[0].test_score, 0.5);
  EXPECT_LT(runs[0].test_score, 0.95);
}

TEST(Classify, FeaturesThatAreMostlyZeroAreTakenAsSparse) {
  const Dataset sparse = citation_network(300, 1);
  Dataset dense = sparse;
  dense.features = MatrixF(std::get<SparseMatrixF>(sparse.features));
  ClassifySettings settings = quick();
  settings.run.dropout = 0.5;  // masks are drawn for the entries that there are
  expect_same(train(dense, settings, 1)[0], train(sparse, settings, 1)[0]);
}

TEST(Classify, TapsAreLearned) {
  ClassifySettings settings = quick();
  settings.model.learn_taps = true;
  const Dataset dataset = communities();
  const RunResult run = train(dataset, settings, 1)[0];
  ASSERT_EQ(run.model.layers.size(), 2U);
  EXPECT_EQ(run.model.layers[0].taps.size(), 3U);
  EXPECT_NE(run.model.layers[0].taps, std::vector<float>(3, 1.0F / 3));
  settings.model.tap_groups.assign(dataset.graph.nodes(), 0);
  settings.model.tap_groups[5] = 1;
  EXPECT_EQ(train(dataset, settings, 1)[0].model.layers[1].taps.size(), 6U);
}

TEST(Classify, TheSameAloneInABatchAndOnAnyNumberOfThreads) {
  const Dataset dataset = communities(120, 3, true);
  for (const std::string_view name : {"strong", "paper"}) {
    for (const ModelKind kind :
         {ModelKind::ngcnn, ModelKind::gcnn, ModelKind::gcn, ModelKind::sgc, ModelKind::mlp}) {
      SCOPED_TRACE(model_name(kind));
      ClassifySettings settings = recipe(name);
      settings.model.model = kind;
      settings.epochs = 6;
      settings.threads = 1;
      const auto batch = train(dataset, settings, 4);
      settings.threads = 2;
      settings.batch = 3;
      const auto other = train(dataset, settings, 4);
      settings.run.seed = 3;
      const auto alone = train(dataset, settings, 1);
      for (std::size_t r = 0; r < 4; ++r) expect_same(batch[r], other[r]);
      expect_same(batch[2], alone[0]);
    }
  }
}

TEST(Classify, RunsWithTheirOwnSettingsShareABatch) {
  const Dataset dataset = communities();
  ClassifySettings settings = quick();
  std::vector<RunSettings> runs(4, settings.run);
  runs[0].dropout = 0;
  runs[1].lr = 0.1;
  runs[2].weight_decay = 0;
  runs[3].init = Initialization::paper;
  const auto together = classify(dataset, dataset.splits[0], settings, runs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    expect_same(together[r], classify(dataset, dataset.splits[0], settings, {runs[r]})[0]);
  }
  EXPECT_NE(together[1].history, together[2].history);
}

TEST(Classify, StopsEarlyWithoutTouchingOthers) {
  const Dataset dataset = communities();
  ClassifySettings settings = quick();
  settings.epochs = 60;
  const auto patient = train(dataset, settings, 3);
  settings.patience = 5;
  std::vector<std::size_t> ended;
  ClassifyWatch watch;
  watch.on_run = [&](const RunResult& run) { ended.push_back(run.history.size()); };
  const auto hasty = train(dataset, settings, 3, watch);
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
  for (std::size_t r = 0; r < 3; ++r) {
    const auto length = hasty[r].history.size();
    EXPECT_TRUE(length == 60 || length == hasty[r].best_epoch + settings.patience);
    // As far as it went, it went the same way.
    EXPECT_TRUE(
        std::equal(hasty[r].history.begin(), hasty[r].history.end(), patient[r].history.begin()));
    const auto best = std::max_element(
        hasty[r].history.begin(), hasty[r].history.end(),
        [](const auto& a, const auto& b) { return a.validation_score < b.validation_score; });
    EXPECT_EQ(hasty[r].best_epoch, best - hasty[r].history.begin() + 1);
    EXPECT_EQ(hasty[r].validation_score, best->validation_score);
  }
}

TEST(Classify, ScoresAreThoseOfTheModelHandedOut) {
  const Dataset dataset = communities();
  const Split& split = dataset.splits[0];
  for (const std::string_view name : {"strong", "paper"}) {
    ClassifySettings settings = recipe(name);
    settings.epochs = 20;
    for (const Metric metric : {Metric::accuracy, Metric::macro_f1}) {
      settings.metric = metric;
      const RunResult run = train(dataset, settings, 1)[0];
      const Prediction prediction = predict(run.model, dataset);
      const tasks::Outputs outputs{prediction.probabilities.data(), 3, 3};
      EXPECT_EQ(score(metric, outputs, dataset.labels, split.test), run.test_score);
      EXPECT_EQ(score(metric, outputs, dataset.labels, split.validation), run.validation_score);
      EXPECT_NEAR(prediction.probabilities.row(7).sum(), 1, 1e-5);
    }
  }
}

TEST(Classify, AucForTwoClasses) {
  ClassifySettings settings = quick();
  settings.metric = Metric::auc;
  EXPECT_GT(train(communities(120, 2), settings, 1)[0].test_score, 0.9);
  EXPECT_EQ(error_of<Error>([&] { train(communities(), settings, 1); }),
            "AUC is for two classes, and there are 3; take accuracy");
}

TEST(Classify, TellsItsPlan) {
  const Dataset dataset = communities();
  std::vector<std::string> orders;
  ClassifyWatch watch;
  watch.on_plan = [&](const ClassifyPlan& plan) { orders.push_back(plan.first_layer); };
  ClassifySettings settings = recipe("paper");
  settings.epochs = 1;
  settings.model.hops = 8;
  train(dataset, settings, 1, watch);
  settings.run.dropout = 0.5;
  train(dataset, settings, 1, watch);
  settings.model.model = ModelKind::mlp;
  train(dataset, settings, 1, watch);
  EXPECT_EQ(orders, (std::vector<std::string>{"(HX)Theta", "H(X Theta)", "X Theta"}));
}

/// Stops after some reports.
class Impatient : public Progress {
 public:
  explicit Impatient(int reports) : left_(reports) {}
  void report(std::uint64_t done, std::uint64_t total) override {
    EXPECT_LE(done, total);
    --left_;
  }
  bool stop_requested() const override { return left_ <= 0; }

 private:
  int left_;
};

TEST(Classify, IsInterruptedWithFinishedRunsHandedOut) {
  const Dataset dataset = communities();
  ClassifySettings settings = quick();
  settings.batch = 1;
  settings.model.model = ModelKind::gcn;  // whose filter reports nothing
  settings.epochs = 10;
  Impatient progress(25);
  std::vector<RunResult> finished;
  ClassifyWatch watch;
  watch.progress = &progress;
  watch.on_run = [&](const RunResult& run) { finished.push_back(run); };
  EXPECT_THROW(train(dataset, settings, 10, watch), Interrupted);
  ASSERT_EQ(finished.size(), 2U);
  const auto whole = train(dataset, settings, 2);
  expect_same(finished[0], whole[0]);
  expect_same(finished[1], whole[1]);
}

TEST(Recipe, StrongKnowsDataSetsThatItWasChosenOn) {
  const ClassifySettings general = recipe("strong");
  EXPECT_EQ(general.model.hops, 2U);
  EXPECT_EQ(recipe("strong", "planetoid:cora").model.hops, general.model.hops);
  const ClassifySettings pubmed = recipe("strong", "planetoid:pubmed");
  EXPECT_EQ(pubmed.model.hops, 3U);
  EXPECT_EQ(pubmed.run.dropout, 0.6);
  EXPECT_EQ(pubmed.run.weight_decay, 5e-4);
  // The paper's is one for all.
  EXPECT_EQ(recipe("paper", "planetoid:pubmed").model.hops, recipe("paper").model.hops);
}

TEST(Classify, RefusesWhatItCannotLearn) {
  const Dataset good = communities();
  const auto refusal = [&](const auto& change) {
    Dataset dataset = good;
    ClassifySettings settings = quick();
    change(dataset, settings);
    return error_of<Error>([&] { train(dataset, settings, 1); });
  };
  EXPECT_EQ(refusal([](Dataset& d, auto&) { d.labels.clear(); }),
            "the data set has no labels to learn");
  EXPECT_EQ(refusal([](Dataset& d, auto&) { d.features = std::monostate(); }),
            "the data set has no features; a network needs a row of numbers for each node");
  EXPECT_EQ(refusal([](Dataset& d, auto&) { d.splits[0].test.clear(); }),
            "the split has no test nodes");
  EXPECT_EQ(refusal([](Dataset& d, auto&) { d.labels[4] = -1; }),
            "node 4 of the training nodes has no label");
  EXPECT_EQ(refusal([](Dataset& d, auto&) { d.splits[0].train.push_back(500); }),
            "the split names node 500, and the graph has 120");
  EXPECT_EQ(refusal([](auto&, ClassifySettings& s) { s.run.dropout = 1; }),
            "dropout is 1; it must be at least 0 and below 1");
  EXPECT_EQ(refusal([](auto&, ClassifySettings& s) { s.run.lr = 0; }),
            "lr is 0; it must be above 0");
  EXPECT_EQ(refusal([](auto&, ClassifySettings& s) { s.epochs = 0; }),
            "training needs at least one epoch");
  EXPECT_EQ(refusal([](auto&, ClassifySettings& s) { s.model.hidden = 0; }),
            "hidden layers need a width of at least 1");
  EXPECT_EQ(error_of<Error>([] { recipe("weak"); }),
            "no recipe 'weak'; there are paper and strong");
  EXPECT_NE(refusal([](auto&, ClassifySettings& s) { s.memory = 1000; }), "");
}

// ---- Models that were kept ----

Model trained(bool everything) {
  ClassifySettings settings = quick();
  settings.epochs = 3;
  settings.model.skip = everything;
  settings.model.learn_taps = everything;
  const Dataset dataset = communities();
  if (everything) settings.model.tap_groups.assign(dataset.graph.nodes(), 0);
  if (everything) settings.model.tap_groups[3] = 1;
  return train(dataset, settings, 1)[0].model;
}

TEST(Classify, OutputsIncludeLabelsThatDoNotOccur) {
  Dataset dataset = communities();
  dataset.labels.assign(dataset.labels.size(), 3);
  dataset.labels[0] = 0;
  dataset.labels[1] = -1;
  EXPECT_EQ(output_count(dataset), 4);
  EXPECT_EQ(dataset.class_count(), 2);
}

TEST(Classify, RefusesLabelsThatTheMemoryHasNoOutputsFor) {
  Dataset dataset = communities();
  dataset.labels[7] = 2147483647;
  ClassifySettings settings = quick();
  settings.memory = std::uint64_t{1} << 30;
  EXPECT_THAT(error_of<MemoryExceeded>([&] { train(dataset, settings, 1); }),
              testing::HasSubstr("an output for each label from 0 to 2147483647"));
}

TEST(Model, PredictsTheSameAfterAFile) {
  const Dataset dataset = communities();
  for (const bool everything : {false, true}) {
    const Model before = trained(everything);
    const auto path = test::temp_file("model.safetensors");
    write_tensors(path, to_tensors(before));
    const Model after = model_from(read_tensors(path));
    EXPECT_EQ(after.layers, before.layers);
    EXPECT_EQ(after.labels, (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_EQ(after.settings.tap_groups, before.settings.tap_groups);
    EXPECT_EQ(predict(after, dataset).probabilities, predict(before, dataset).probabilities);
  }
}

TEST(Model, PredictsOnAnotherGraphOfTheSameFeatures) {
  const Model model = trained(false);
  const Dataset other = communities(60);
  EXPECT_EQ(predict(model, other).labels.size(), 60U);
  Dataset narrow = other;
  narrow.features = MatrixF(MatrixF::Ones(60, 5));
  EXPECT_EQ(error_of<Error>([&] { predict(model, narrow); }),
            "the model was trained on 24 features, and the data set has 5");
  Dataset more = other;
  more.labels[0] = 3;
  EXPECT_EQ(error_of<Error>([&] { predict(model, more); }),
            "the data set has a label 3, and the model knows 3 classes");
  EXPECT_EQ(error_of<Error>([&] { predict(trained(true), other); }),
            "groups of taps for 120 nodes on a graph of 60");
}

TEST(Model, RefusesTensorsThatDoNotFit) {
  const TensorFile good = to_tensors(trained(true));
  const auto refusal = [&](const auto& change) {
    TensorFile file = good;
    change(file);
    return error_of<Error>([&] { model_from(file); });
  };
  const auto find = [](TensorFile& file, std::string_view name) {
    return std::find_if(file.tensors.begin(), file.tensors.end(),
                        [&](const Tensor& tensor) { return tensor.name == name; });
  };
  EXPECT_EQ(refusal([](TensorFile&) {}), "");
  EXPECT_EQ(refusal([&](TensorFile& f) { f.tensors.erase(find(f, "layers.1.bias")); }),
            "the model has no tensor 'layers.1.bias'");
  EXPECT_EQ(refusal([&](TensorFile& f) {
              f.tensors.push_back({"more", {1}, {1}});
            }),
            "the model has a tensor 'more' too many");
  EXPECT_EQ(refusal([&](TensorFile& f) {
              *find(f, "layers.1.bias") = {"layers.1.bias", {1}, {1}};
            }),
            "the tensors of layer 1 of the model do not fit its settings or its neighbours");
  EXPECT_EQ(refusal([&](TensorFile& f) {
              find(f, "layers.0.taps")->shape = {2, 3};
            }),
            "tensor 'layers.0.taps' has 2 dimensions, not 1");
  EXPECT_EQ(refusal([](TensorFile& f) { f.metadata.clear(); }),
            "the file's metadata have no 'format': it is no model of ngf");
  EXPECT_NE(refusal([](TensorFile& f) { f.metadata["settings"] = "{"; }), "");
  EXPECT_NE(refusal([](TensorFile& f) { f.metadata["settings"] = "{\"model\": 3}"; }), "");
  EXPECT_NE(refusal([](TensorFile& f) { f.metadata["labels"] = "[\"a\"]"; }), "");
}

TEST(Model, RefusesNumbersThatNoTrainingEndsWith) {
  const TensorFile good = to_tensors(trained(true));
  for (const float weight : {NAN, INFINITY, -INFINITY, 1e38F, -2e18F}) {
    TensorFile file = good;
    file.tensors[1].values[0] = weight;
    EXPECT_THAT(error_of<Error>([&] { model_from(file); }),
                testing::StartsWith("tensor '" + file.tensors[1].name + "' has a weight "))
        << weight;
    Model model = trained(true);
    model.layers[0].weight(0, 0) = weight;
    EXPECT_THAT(error_of<Error>([&] { to_tensors(model); }), testing::HasSubstr("has a weight "));
  }
  for (const auto& [key, value] : {std::pair<std::string, std::string>("hops", "1099511627776"),
                                   {"hops", "-1"},
                                   {"hops", "2.5"},
                                   {"hops", "1e40"},
                                   {"hops", "\"2\""},
                                   {"min_paths", "4294967297"},
                                   {"hidden", "18446744073709551615"},
                                   {"layers", "9223372036854775808"}}) {
    TensorFile file = good;
    auto settings = nlohmann::json::parse(file.metadata["settings"]);
    settings[key] = nlohmann::json::parse(value);
    file.metadata["settings"] = settings.dump();
    const std::string refused = error_of<Error>([&] { model_from(file); });
    EXPECT_NE(refused, "") << key << " " << value;
    EXPECT_THAT(refused, testing::Not(testing::HasSubstr("json"))) << refused;
  }
}

}  // namespace
}  // namespace ngf
