#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "ngf/error.hpp"
#include "ngf/nn/loss.hpp"
#include "ngf/nn/network.hpp"
#include "ngf/nn/optimizer.hpp"
#include "nn/dropout.hpp"
#include "nn/first_layer.hpp"
#include "tests/bank_reference.hpp"
#include "tests/nn_support.hpp"

namespace ngf {
namespace {

using test::as_sparse;
using test::draw_parameters;
using test::error_of;
using test::of_run;
using test::random_features;
using test::random_labels;
using test::some_graph;

/// Everything that a network can be made of, on small graphs.
struct Case {
  std::string name;
  ModelSettings settings;
  bool directed = false;
  bool sparse = false;
  bool dropout = false;
};

ModelSettings model(ModelKind kind, std::int64_t layers = 2) {
  ModelSettings settings;
  settings.model = kind;
  settings.hidden = 5;
  settings.layers = layers;
  return settings;
}

std::vector<std::uint32_t> three_groups(NodeId nodes) {
  std::vector<std::uint32_t> groups(nodes);
  for (NodeId u = 0; u < nodes; ++u) groups[u] = u % 3;
  return groups;
}

constexpr NodeId nodes = 24;

void add_banks(std::vector<Case>& cases) {
  for (const ModelKind kind : {ModelKind::ngcnn, ModelKind::gcnn}) {
    ModelSettings bank = model(kind);
    bank.bank = true;
    const auto add = [&](const char* name, const ModelSettings& settings) -> Case& {
      return cases.emplace_back(Case{std::string(model_name(kind)) + " bank" + name, settings});
    };
    add("", bank);
    add(", sparse, with dropout", bank).sparse = cases.back().dropout = true;
    add(" on arcs", bank).directed = true;
    bank.normalization = Normalization::row;
    bank.post = true;
    add(" and post", bank);
    bank.jump = true;
    add(", jump", bank);
    bank.pre = true;
    bank.bias = false;
    add(", jump, without bias", bank).dropout = true;
    bank.bias = true;
    bank.residual = true;
    add(", residual, jump", bank);
    add(", residual, jump, on arcs, with all", bank).directed = true;
    cases.back().sparse = cases.back().dropout = true;
    bank.jump = false;
    bank.hops = 3;
    add(", residual", bank);
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto add = [&](std::string name, const ModelSettings& settings) -> Case& {
    return cases.emplace_back(Case{std::move(name), settings});
  };
  for (const ModelKind kind :
       {ModelKind::ngcnn, ModelKind::gcnn, ModelKind::gcn, ModelKind::sgc, ModelKind::mlp}) {
    for (const std::int64_t layers : {1, 2, 3}) {
      add(std::string(model_name(kind)) + std::to_string(layers), model(kind, layers));
    }
    ModelSettings bare = model(kind);
    bare.bias = false;
    add(std::string(model_name(kind)) + " without bias", bare).sparse = true;
    ModelSettings skip = model(kind);
    skip.skip = true;
    add(std::string(model_name(kind)) + " with skips", skip);
    add(std::string(model_name(kind)) + " with skips, sparse", skip).sparse = true;
    Case& dropped = add(std::string(model_name(kind)) + " with dropout", model(kind, 3));
    dropped.dropout = true;
    Case& all = add(std::string(model_name(kind)) + " with all", skip);
    all.dropout = true;
    all.sparse = true;
  }
  for (const ModelKind kind : {ModelKind::ngcnn, ModelKind::gcnn}) {
    const std::string name(model_name(kind));
    add(name + " on arcs", model(kind)).directed = true;
    ModelSettings learned = model(kind, 3);
    learned.learn_taps = true;
    add(name + ", taps learned", learned);
    add(name + ", taps learned on arcs", learned).directed = true;
    learned.tap_groups = three_groups(nodes);
    learned.layers = 2;
    add(name + ", taps of groups", learned);
    Case& all = add(name + ", taps of groups on arcs", learned);
    all.directed = true;
    all.dropout = true;
  }
  for (const auto normalization : {Normalization::none, Normalization::lmax, Normalization::row}) {
    ModelSettings settings = model(ModelKind::ngcnn);
    settings.normalization = normalization;
    settings.min_paths = 2;
    add("ngcnn, " + std::string(normalization_name(normalization)), settings);
  }
  for (const auto shift :
       {Shift::adjacency, Shift::laplacian, Shift::normalized_laplacian, Shift::gcn}) {
    ModelSettings settings = model(ModelKind::gcnn);
    settings.shift = shift;
    settings.taps = {0.5, -0.2, 0.1};
    add("gcnn, " + std::string(shift_name(shift)), settings);
  }
  add_banks(cases);
  return cases;
}

template <typename Real>
Network<Real> make_network(const Case& c, std::size_t runs, int threads = 1) {
  const Graph graph = some_graph(nodes, c.directed);
  const SignalsOf<Real> x = random_features<Real>(nodes, 7, 0.4, 5);
  LayerFilter filter(c.settings, graph, {.threads = threads});
  return Network<Real>(c.settings, std::move(filter), c.sparse ? as_sparse(x) : FeaturesOf<Real>(x),
                       3, {.runs = runs, .dropout = c.dropout, .threads = threads});
}

Dropout some_dropout(std::size_t runs) {
  Dropout dropout;
  dropout.step = 4;
  for (std::size_t r = 0; r < runs; ++r) {
    dropout.rates.push_back(0.3 + 0.1 * static_cast<double>(r));
    dropout.seeds.push_back(11 + r);
  }
  return dropout;
}

/// The sum of the runs' losses, so that one gradient serves them all.
template <typename Loss>
double total(Network<double>& network, const Dropout* dropout, const Loss& loss,
             SignalsOf<double>* gradient = nullptr) {
  const std::vector<double> losses = loss(network.forward(dropout), gradient);
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

template <typename Loss>
void expect_gradient(Network<double>& network, const Dropout* dropout, const Loss& loss) {
  SignalsOf<double> by_logits;
  total(network, dropout, loss, &by_logits);
  network.backward(by_logits);
  const std::vector<double> gradient(network.gradient().begin(), network.gradient().end());
  constexpr double step = 1e-6;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& parameter = network.parameters()[i];
    const double before = parameter;
    parameter = before + step;
    const double above = total(network, dropout, loss);
    parameter = before - step;
    const double below = total(network, dropout, loss);
    parameter = before;
    ASSERT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6) << "parameter " << i;
  }
}

TEST(Network, GradientsAreThoseOfFiniteDifferences) {
  constexpr std::size_t runs = 2;
  const std::vector<std::int32_t> labels = random_labels(nodes, 3, 6);
  const std::vector<NodeId> read{0, 3, 4, 9, 17, 23};
  const auto loss = [&](const SignalsOf<double>& logits, SignalsOf<double>* gradient) {
    return softmax_cross_entropy<double>(logits, runs, labels, read, gradient);
  };
  const Dropout dropout = some_dropout(runs);
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    Network<double> network = make_network<double>(c, runs);
    draw_parameters(network, {1, 2});
    expect_gradient(network, c.dropout ? &dropout : nullptr, loss);
  }
}

/// Layers by their definition, with H as a matrix.
Matrix plain_logits(const Case& c, const std::vector<double>& parameters) {
  const Graph graph = some_graph(nodes, c.directed);
  if (c.settings.bank) {
    return test::plain_bank_logits(c.settings, graph, random_features<double>(nodes, 7, 0.4, 5), 3,
                                   parameters);
  }
  LayerFilter filter(c.settings, graph, {.threads = 1});
  Matrix x = random_features<double>(nodes, 7, 0.4, 5);
  const double* at = parameters.data();
  const auto take = [&](Eigen::Index rows, Eigen::Index cols) {
    const Matrix result = Eigen::Map<const Matrix>(at, rows, cols);
    at += rows * cols;
    return result;
  };
  const std::int64_t layers = layer_count(c.settings);
  for (std::int64_t l = 0; l < layers; ++l) {
    const Eigen::Index outputs = l + 1 < layers ? c.settings.hidden : 3;
    const Matrix weight = take(x.cols(), outputs);
    const Matrix skip = c.settings.skip ? take(x.cols(), outputs) : Matrix();
    const Matrix bias = c.settings.bias ? take(1, outputs) : Matrix();
    if (c.settings.learn_taps) {
      const auto groups = static_cast<Eigen::Index>(tap_group_count(c.settings));
      const Matrix taps = take(groups, static_cast<Eigen::Index>(tap_count(c.settings)));
      const std::vector<double> values(taps.data(), taps.data() + taps.size());
      filter.set_taps(groups > 1 ? Taps(tap_count(c.settings), values, c.settings.tap_groups)
                                 : Taps(values));
    }
    const Matrix one = Matrix::Identity(nodes, nodes);
    const Matrix h = filter.identity() ? one : filter.apply(one);
    Matrix z = h * x * weight;
    if (c.settings.skip) z += x * skip;
    if (c.settings.bias) z.rowwise() += bias.row(0);
    x = l + 1 < layers ? Matrix(z.cwiseMax(0)) : z;
  }
  return x;
}

TEST(Network, ForwardIsWhatItsDefinitionSays) {
  constexpr std::size_t runs = 3;
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    Network<double> network = make_network<double>(c, runs);
    draw_parameters(network, {1, 2, 3});
    const Matrix logits = network.forward();
    const auto parameters = std::span<const double>(network.parameters());
    for (std::size_t r = 0; r < runs; ++r) {
      const Matrix expected = plain_logits(c, of_run(network.layout(), parameters, r));
      const Matrix found = logits.middleCols(static_cast<Eigen::Index>(r) * 3, 3);
      EXPECT_LE((found - expected).norm(), 1e-10 * (1 + expected.norm()));
    }
  }
}

/// Logits and gradient of some runs, in float.
struct Passes {
  std::vector<MatrixF> logits;
  std::vector<std::vector<float>> gradients;
};

Passes passes_of(const ModelSettings& settings, const Graph& graph,
                 const FeaturesOf<float>& features, Storage storage, bool drops,
                 const std::vector<std::uint64_t>& seeds, int threads) {
  const std::int64_t classes = 7;
  const std::size_t runs = seeds.size();
  LayerFilter filter(settings, graph, {.storage = storage, .threads = threads});
  Network<float> network(settings, std::move(filter), features, classes,
                         {.runs = runs, .dropout = drops, .threads = threads});
  draw_parameters(network, seeds);
  Dropout dropout;
  dropout.rates.assign(runs, 0.5);
  dropout.seeds = seeds;
  const SignalsOf<float>& logits = network.forward(drops ? &dropout : nullptr);
  const std::vector<std::int32_t> labels = random_labels(graph.nodes(), classes, 3);
  std::vector<NodeId> read(graph.nodes() / 3);
  std::iota(read.begin(), read.end(), NodeId{5});
  SignalsOf<float> by_logits;
  softmax_cross_entropy<float>(logits, runs, labels, read, &by_logits);
  network.backward(by_logits);
  Passes result;
  for (std::size_t r = 0; r < runs; ++r) {
    result.logits.emplace_back(logits.middleCols(static_cast<Eigen::Index>(r) * classes, classes));
    result.gradients.push_back(of_run(network.layout(), network.gradient(), r));
  }
  return result;
}

TEST(Network, TheSameBitsAloneAndInABatchOnAnyNumberOfThreads) {
  const Graph graph = some_graph(300, false);
  const SignalsOf<float> x = random_features<float>(300, 90, 0.2, 5);
  const std::vector<std::uint64_t> seeds{4, 8, 15, 16, 23};
  for (const ModelKind kind : {ModelKind::ngcnn, ModelKind::gcnn, ModelKind::sgc, ModelKind::mlp}) {
    for (const int variant : {0, 1, 2, 3, 4, 5, 6, 7}) {
      ModelSettings settings = model(kind, variant == 4 ? 3 : 2);
      const bool taps = kind == ModelKind::ngcnn || kind == ModelKind::gcnn;
      settings.learn_taps = variant == 3 && taps;
      settings.hidden = variant % 2 == 0 ? 70 : 13;
      settings.hops = variant == 5 ? 6 : 2;
      settings.skip = variant == 4;
      settings.bank = variant >= 6 && taps;
      settings.post = settings.jump = settings.bank;
      settings.pre = settings.residual = settings.bank && variant == 7;
      const bool drops = variant == 2 || variant == 7;
      const Storage storage = variant % 2 == 0 ? Storage::dense : Storage::sparse;
      for (const FeaturesOf<float>& features : {FeaturesOf<float>(x), as_sparse(x)}) {
        SCOPED_TRACE(std::string(model_name(kind)) + " variant " + std::to_string(variant));
        const auto run = [&](const std::vector<std::uint64_t>& own, int threads) {
          return passes_of(settings, graph, features, storage, drops, own, threads);
        };
        const Passes batch = run(seeds, 1);
        const Passes threads = run(seeds, 2);
        EXPECT_EQ(batch.logits, threads.logits);
        EXPECT_EQ(batch.gradients, threads.gradients);
        const Passes alone = run({seeds[3]}, 3);
        EXPECT_EQ(batch.logits[3], alone.logits[0]);
        EXPECT_EQ(batch.gradients[3], alone.gradients[0]);
      }
    }
  }
}

TEST(Network, TheSameBitsInABatchForFewFeaturesOfManyNodes) {
  const NodeId many = 4500;
  const Graph graph = some_graph(many, false);
  const SignalsOf<float> x = random_features<float>(many, 10, 1, 5);
  ModelSettings settings = model(ModelKind::mlp);
  settings.hidden = 64;
  const auto run = [&](const std::vector<std::uint64_t>& seeds, int threads) {
    return passes_of(settings, graph, FeaturesOf<float>(x), Storage::sparse, false, seeds, threads);
  };
  const Passes batch = run({1, 2, 3, 4, 5, 6, 7, 8, 9}, 2);
  const Passes alone = run({7}, 1);
  EXPECT_EQ(batch.logits[6], alone.logits[0]);
  EXPECT_EQ(batch.gradients[6], alone.gradients[0]);
}

TEST(Network, OrderOfProductsIsCounted) {
  const NodeId count = 400;
  const Graph graph = some_graph(count, false);
  const FeaturesOf<float> sparse = as_sparse(random_features<float>(count, 300, 0.01, 1));
  const FeaturesOf<float> dense = random_features<float>(count, 8, 1, 1);
  const auto order = [&](std::uint32_t hops, const FeaturesOf<float>& features, bool dropout) {
    ModelSettings settings = model(ModelKind::ngcnn);
    settings.hops = hops;
    const LayerFilter filter(settings, graph, {.threads = 1});
    return nn::choose_first_layer(settings, filter, features, 64,
                                  {.dropout = dropout, .threads = 1});
  };
  EXPECT_EQ(order(1, sparse, false), FirstLayer::weights_first);
  EXPECT_EQ(order(12, sparse, false), FirstLayer::filter_first);
  EXPECT_EQ(order(12, sparse, true), FirstLayer::weights_first);
  EXPECT_EQ(order(1, dense, false), FirstLayer::filter_first);
  const ModelSettings mlp = model(ModelKind::mlp);
  EXPECT_EQ(nn::choose_first_layer(mlp, LayerFilter(), dense, 64, {}), FirstLayer::plain);
}

TEST(Network, PassesWithoutDropoutAreTheSameWhereOthersHaveIt) {
  const NodeId count = 400;
  const Graph graph = some_graph(count, false);
  const FeaturesOf<double> features = random_features<double>(count, 8, 1, 1);
  ModelSettings settings = model(ModelKind::ngcnn);
  settings.hops = 12;
  settings.hidden = 64;
  settings.skip = true;
  const LayerFilter filter(settings, graph, {.threads = 1});
  const auto options = [](bool dropout) {
    return NetworkOptions{.dropout = dropout, .threads = 1};
  };
  // H X serves them, and is not what is multiplied with dropout.
  ASSERT_TRUE(nn::scores_filter_first(settings, filter, features, 64, options(true)));
  ASSERT_FALSE(nn::scores_filter_first(settings, filter, features, 64, options(false)));
  Network<double> with(settings, filter, features, 3, options(true));
  Network<double> without(settings, filter, features, 3, options(false));
  ASSERT_EQ(with.first_layer(), FirstLayer::weights_first);
  draw_parameters(with, {3});
  std::copy(with.parameters().begin(), with.parameters().end(), without.parameters().begin());
  const Dropout dropout = some_dropout(1);
  const SignalsOf<double> dropped = with.forward(&dropout);
  const SignalsOf<double> expected = without.forward();
  EXPECT_GT((dropped - expected).norm(), 0.01 * expected.norm());
  EXPECT_LT((with.forward() - expected).norm(), 1e-12 * expected.norm());
  // And so is what follows from them backward.
  const SignalsOf<double> by_logits = SignalsOf<double>::Ones(count, 3);
  with.backward(by_logits);
  without.backward(by_logits);
  for (std::size_t i = 0; i < with.gradient().size(); ++i) {
    ASSERT_NEAR(with.gradient()[i], without.gradient()[i], 1e-9) << i;
  }
}

TEST(Network, RefusesWhatDoesNotFit) {
  const Graph graph = some_graph(10, false);
  const ModelSettings settings = model(ModelKind::ngcnn);
  const LayerFilter filter(settings, graph, {.threads = 1});
  const FeaturesOf<float> features = random_features<float>(9, 4, 1, 1);
  EXPECT_EQ(error_of<Error>([&] { Network<float>(settings, filter, features, 2, {}); }),
            "features of 9 nodes on a graph of 10");
  ModelSettings bad = settings;
  bad.taps = {1, 2};
  EXPECT_EQ(error_of<Error>([&] { check_settings(bad); }), "2 taps given, where 2 hops have 3");
  bad = model(ModelKind::gcn);
  bad.learn_taps = true;
  EXPECT_EQ(error_of<Error>([&] { check_settings(bad); }),
            "model gcn has no taps; take ngcnn or gcnn");
  bad = settings;
  bad.tap_groups = {0, 1};
  EXPECT_EQ(error_of<Error>([&] { LayerFilter(bad, graph, {}); }),
            "groups of taps for 2 nodes on a graph of 10");
  bad = settings;
  bad.layers = 0;
  EXPECT_NE(error_of<Error>([&] { check_settings(bad); }), "");
}

TEST(Dropout, WordsAreThoseOfTheGenerator) {
  Random random = detail::random_for(77, detail::Use::network_dropout, 123);
  std::vector<std::uint16_t> words(21);
  nn::random_words(77, detail::Use::network_dropout, 123, words.size(), words.data());
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::uint32_t bits = random.bits32();
    EXPECT_EQ(words[i], bits & 0xffff);
    if (i + 1 < words.size()) {
      EXPECT_EQ(words[i + 1], bits >> 16);
    }
  }
}

TEST(Dropout, KeepsTheMeanAndChangesWithStepAndSeed) {
  Dropout dropout{.rates = {0.25, 0.25}, .seeds = {1, 2}, .step = 1};
  const auto words = [&](std::size_t r) {
    std::vector<std::uint16_t> result(40000);
    nn::Masks(dropout, 2).words(r, 1, 0, 10, result.size(), result.data());
    return result;
  };
  const nn::Masks masks(dropout, 2);
  const auto first = words(0);
  const auto kept = std::count_if(first.begin(), first.end(),
                                  [&](std::uint16_t word) { return word >= masks.threshold(0); });
  EXPECT_NEAR(static_cast<double>(kept) * masks.scale(0) / 40000, 1, 0.02);
  EXPECT_NE(first, words(1));
  dropout.step = 2;
  EXPECT_NE(first, words(0));
}

TEST(Loss, CrossEntropyByItsDefinition) {
  const SignalsOf<double> logits = random_features<double>(4, 6, 1, 3);
  const std::vector<std::int32_t> labels{2, -1, 0, 1};
  const std::vector<NodeId> read{0, 2};
  SignalsOf<double> gradient;
  const auto losses = softmax_cross_entropy<double>(logits, 2, labels, read, &gradient);
  for (std::size_t r = 0; r < 2; ++r) {
    double expected = 0;
    for (const NodeId u : read) {
      const Eigen::VectorXd z = logits.row(u).segment(static_cast<Eigen::Index>(r) * 3, 3);
      expected += std::log(z.array().exp().sum()) - z[labels[u]];
    }
    EXPECT_NEAR(losses[r], expected / 2, 1e-12);
  }
  EXPECT_EQ(gradient.row(1).norm(), 0);
  EXPECT_NEAR(gradient.row(0).sum(), 0, 1e-12);
  const SignalsOf<float> huge = SignalsOf<float>::Constant(1, 2, 1e30F);
  const auto finite = softmax_cross_entropy<float>(huge, 1, std::vector<std::int32_t>{0},
                                                   std::vector<NodeId>{0}, nullptr);
  EXPECT_NEAR(finite[0], std::log(2.0), 1e-6);
}

TEST(Optimizer, StepsByTheFormulas) {
  ModelSettings settings = model(ModelKind::mlp);
  const ParameterLayout layout(settings, 4, 3, 2);
  const std::vector<StepSettings> runs{{0.1, 0.5}, {0.01, 0}};
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
    for (const bool all : {false, true}) {
      Random random(5);
      std::vector<double> found(layout.size());
      for (double& value : found) value = random.normal();
      std::vector<double> expected = found;
      std::vector<double> mean(layout.size(), 0);
      std::vector<double> square(layout.size(), 0);
      Optimizer<double> optimizer(kind, layout, runs, all, 1);
      for (int t = 1; t <= 3; ++t) {
        std::vector<double> gradient(layout.size());
        for (double& value : gradient) value = random.normal();
        optimizer.step(found, gradient);
        for (const ParameterBlock& block : layout.blocks()) {
          for (std::size_t i = 0; i < block.rows * block.cols * 2; ++i) {
            const StepSettings& own = runs[i / block.cols % 2];
            const bool decays =
                block.kind == ParameterBlock::Kind::weight && (all || block.layer == 0);
            double& theta = expected[block.offset + i];
            const double g = gradient[block.offset + i] + (decays ? own.weight_decay * theta : 0);
            double& m = mean[block.offset + i];
            double& v = square[block.offset + i];
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            theta -= kind == OptimizerKind::sgd
                         ? own.lr * g
                         : own.lr * (m / (1 - std::pow(0.9, t))) /
                               (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
          }
        }
        for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace ngf
