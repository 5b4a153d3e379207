#include "ngf/tasks/denoise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/report/summary.hpp"
#include "ngf/tasks/denoise_cases.hpp"
#include "tasks/baselines.hpp"
#include "tasks/stopping.hpp"
#include "tests/nn_support.hpp"

namespace ngf {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Communities, each with a level of its own, and noise.
DenoiseCase communities(NodeId nodes, std::size_t signals, double power = 0.1,
                        std::uint64_t seed = 1) {
  constexpr std::uint32_t blocks = 4;
  DenoiseCase data;
  data.graph = stochastic_block_model(nodes, blocks, 0.4, 0.01, seed);
  data.clean.resize(nodes, static_cast<Eigen::Index>(signals));
  Random random(seed, 5);
  for (Eigen::Index s = 0; s < data.clean.cols(); ++s) {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const double level = random.normal();
      for (NodeId u = b * nodes / blocks; u < (b + 1) * nodes / blocks; ++u) {
        data.clean(u, s) = level;
      }
    }
  }
  data.noisy = with_noise(data.clean, power, seed);
  return data;
}

DenoiseSettings quick(DenoiseArch arch = DenoiseArch::ngf, StopRule stop = StopRule::blind) {
  DenoiseSettings settings;
  settings.arch = arch;
  settings.stop = stop;
  settings.hidden = 20;
  settings.epochs = 60;
  settings.folds = 4;
  settings.threads = 1;
  return settings;
}

void expect_same(const DenoiseResult& a, const DenoiseResult& b) {
  EXPECT_EQ(a.signals, b.signals);
  ASSERT_EQ(a.each.size(), b.each.size());
  for (std::size_t s = 0; s < a.each.size(); ++s) {
    EXPECT_EQ(a.each[s].epochs, b.each[s].epochs);
    EXPECT_EQ(a.each[s].errors, b.each[s].errors);
    // Not a number is not equal to itself.
    EXPECT_THAT(a.each[s].criterion,
                testing::Pointwise(testing::NanSensitiveDoubleEq(), b.each[s].criterion));
  }
}

std::vector<DenoiseSettings> all_settings() {
  std::vector<DenoiseSettings> all;
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gf, DenoiseArch::gcn,
                                 DenoiseArch::sgc, DenoiseArch::tikhonov, DenoiseArch::median}) {
    all.push_back(quick(arch));
  }
  for (const StopRule rule : {StopRule::sure, StopRule::variance, StopRule::epochs}) {
    all.push_back(quick(DenoiseArch::ngf, rule));
    all.push_back(quick(DenoiseArch::gcn, rule));
  }
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gf}) {
    all.push_back(quick(arch));
    all.back().layers = 3;
  }
  for (DenoiseSettings& settings : all) settings.epochs = 25;
  return all;
}

TEST(Denoise, SignalsAreTheSameAloneAndInABatchOnAnyNumberOfThreads) {
  DenoiseCase data = communities(40, 3);
  data.noisy(7, 1) = missing;
  for (DenoiseSettings settings : all_settings()) {
    SCOPED_TRACE(std::string(arch_name(settings.arch)) + ", " +
                 std::string(stop_name(settings.stop)));
    const DenoiseResult batch = denoise(data.graph, data.noisy, &data.clean, settings);
    settings.threads = 3;
    expect_same(denoise(data.graph, data.noisy, &data.clean, settings), batch);
    settings.threads = 2;
    for (Eigen::Index s = 0; s < data.noisy.cols(); ++s) {
      const Matrix alone = data.noisy.col(s);
      const Matrix clean = data.clean.col(s);
      const DenoiseResult result = denoise(data.graph, alone, &clean, settings);
      EXPECT_EQ(result.signals.col(0), batch.signals.col(s));
      EXPECT_EQ(result.each[0].epochs, batch.each[static_cast<std::size_t>(s)].epochs);
    }
  }
}

TEST(Denoise, IsAFunctionOfTheSeed) {
  const DenoiseCase data = communities(40, 1);
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gcn}) {
    DenoiseSettings settings = quick(arch, StopRule::epochs);
    const Matrix first = denoise(data.graph, data.noisy, nullptr, settings).signals;
    EXPECT_EQ(denoise(data.graph, data.noisy, nullptr, settings).signals, first);
    settings.seed = 2;
    EXPECT_NE(denoise(data.graph, data.noisy, nullptr, settings).signals, first);
  }
}

TEST(Denoise, TheCleanSignalChangesNothingButTheRecord) {
  const DenoiseCase data = communities(40, 2);
  for (const StopRule rule : {StopRule::blind, StopRule::sure, StopRule::variance}) {
    const DenoiseSettings settings = quick(DenoiseArch::ngf, rule);
    const DenoiseResult with = denoise(data.graph, data.noisy, &data.clean, settings);
    const DenoiseResult without = denoise(data.graph, data.noisy, nullptr, settings);
    EXPECT_EQ(with.signals, without.signals);
    EXPECT_EQ(with.each[1].errors.size(), settings.epochs);
    EXPECT_TRUE(without.each[1].errors.empty());
    EXPECT_FALSE(without.each[1].error);
  }
}

TEST(Denoise, ErrorsAreThoseOfTheSignalsReturned) {
  const DenoiseCase data = communities(40, 2);
  for (const StopRule rule : {StopRule::blind, StopRule::epochs, StopRule::oracle}) {
    const DenoiseResult result =
        denoise(data.graph, data.noisy, &data.clean, quick(DenoiseArch::gf, rule));
    for (std::size_t s = 0; s < 2; ++s) {
      const auto at = static_cast<Eigen::Index>(s);
      const DenoisedSignal& own = result.each[s];
      const double size = data.clean.col(at).squaredNorm();
      EXPECT_NEAR(*own.error, (result.signals.col(at) - data.clean.col(at)).squaredNorm() / size,
                  1e-12);
      EXPECT_NEAR(*own.error_noisy, (data.noisy.col(at) - data.clean.col(at)).squaredNorm() / size,
                  1e-12);
      EXPECT_EQ(*own.error_oracle, *std::min_element(own.errors.begin(), own.errors.end()));
      EXPECT_EQ(*own.error_oracle, own.errors[own.oracle_epoch - 1]);
      // blind weighs the estimate against the signal, which may be better than any epoch.
      if (rule != StopRule::blind) {
        EXPECT_GE(*own.error, *own.error_oracle);
      }
      if (rule == StopRule::oracle) {
        EXPECT_EQ(*own.error, *own.error_oracle);
      }
      if (rule == StopRule::epochs) {
        EXPECT_EQ(own.epochs, 60U);
      }
    }
  }
}

/// The median over the signals of error / noise.
double median_gain(const DenoiseResult& result) {
  std::vector<double> ratios;
  for (const DenoisedSignal& own : result.each) ratios.push_back(*own.error / *own.error_noisy);
  return quantile(ratios, 0.5);
}

TEST(Denoise, EveryArchitectureTakesNoiseAway) {
  const DenoiseCase data = communities(80, 5, 0.2);
  for (const DenoiseArch arch :
       {DenoiseArch::ngf, DenoiseArch::gf, DenoiseArch::tikhonov, DenoiseArch::median}) {
    DenoiseSettings settings = quick(arch);
    settings.epochs = 150;
    EXPECT_LT(median_gain(denoise(data.graph, data.noisy, &data.clean, settings)), 0.5)
        << arch_name(arch);
  }
  for (const DenoiseArch arch : {DenoiseArch::gcn, DenoiseArch::sgc}) {
    DenoiseSettings settings = quick(arch);
    settings.epochs = 400;
    EXPECT_LT(median_gain(denoise(data.graph, data.noisy, &data.clean, settings)), 0.7)
        << arch_name(arch);
  }
}

TEST(Denoise, RulesComeNearTheOracle) {
  const DenoiseCase data = denoise_case_1(PaperSettings::code, SignalKind::ngf, 3, 1);
  DenoiseSettings settings = denoise_settings_1(PaperSettings::code, DenoiseArch::ngf, 1);
  settings.epochs = 150;
  settings.folds = 5;
  std::vector<double> blind;
  std::vector<double> sure;
  for (Eigen::Index s = 0; s < 3; ++s) {
    const Matrix noisy = data.noisy.col(s);
    const Matrix clean = data.clean.col(s);
    settings.stop = StopRule::blind;
    settings.noise_level.reset();
    const DenoisedSignal by_nodes = denoise(data.graph, noisy, &clean, settings).each[0];
    blind.push_back(*by_nodes.error / *by_nodes.error_oracle);
    settings.stop = StopRule::sure;
    settings.noise_level = (noisy - clean).norm() / std::sqrt(256.0);
    const DenoisedSignal by_risk = denoise(data.graph, noisy, &clean, settings).each[0];
    sure.push_back(*by_risk.error / *by_risk.error_oracle);
  }
  EXPECT_LT(quantile(blind, 0.5), 1.25);
  EXPECT_LT(quantile(sure, 0.5), 1.25);
}

TEST(Denoise, UnitsDoNotMatter) {
  const DenoiseCase data = communities(60, 1);
  const Matrix scaled = (data.noisy.array() * 1000 + 273).matrix();
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gcn}) {
    const DenoiseSettings settings = quick(arch);
    const DenoiseResult plain = denoise(data.graph, data.noisy, nullptr, settings);
    const DenoiseResult other = denoise(data.graph, scaled, nullptr, settings);
    const Matrix back = ((other.signals.array() - 273) / 1000).matrix();
    EXPECT_LT((back - plain.signals).norm(), 1e-3 * plain.signals.norm()) << arch_name(arch);
  }
}

// ---- No harm ----

TEST(Denoise, SignalsWithoutStructureAreLeftAlone) {
  DenoiseCase data = communities(80, 8);
  Random random(9);
  for (Eigen::Index i = 0; i < data.clean.size(); ++i) data.clean.data()[i] = random.normal();
  data.noisy = with_noise(data.clean, 0.1, 3);
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gf, DenoiseArch::gcn}) {
    const DenoiseResult result = denoise(data.graph, data.noisy, &data.clean, quick(arch));
    for (Eigen::Index s = 0; s < data.noisy.cols(); ++s) {
      const DenoisedSignal& own = result.each[static_cast<std::size_t>(s)];
      EXPECT_TRUE(own.left_alone) << arch_name(arch) << ' ' << own.explained;
      EXPECT_EQ(result.signals.col(s), data.noisy.col(s));
      EXPECT_EQ(own.epochs, 0U);
    }
  }
}

TEST(Denoise, AKnownNoiseLevelWeighsTheEstimateAgainstTheSignal) {
  const DenoiseCase data = communities(80, 1);
  DenoiseSettings settings = quick();
  const double deviation = (data.noisy - data.clean).norm() / std::sqrt(80.0);
  settings.noise_level = 1e-4 * deviation;
  EXPECT_TRUE(
      denoise(data.graph, data.noisy, nullptr, settings).signals.isApprox(data.noisy, 1e-3));
  settings.noise_level = 1e4 * deviation;
  const DenoiseResult all = denoise(data.graph, data.noisy, nullptr, settings);
  settings.noise_level.reset();
  settings.stop = StopRule::epochs;
  settings.epochs = all.each[0].epochs;
  EXPECT_TRUE(
      all.signals.isApprox(denoise(data.graph, data.noisy, nullptr, settings).signals, 1e-12));
}

// ---- What signals may be ----

TEST(Denoise, MissingValuesAreFilledIn) {
  DenoiseCase data = communities(80, 1, 0.02);
  const std::vector<Eigen::Index> gone{3, 17, 40, 41, 66, 79};
  for (const Eigen::Index u : gone) data.noisy(u, 0) = missing;
  for (const DenoiseArch arch :
       {DenoiseArch::ngf, DenoiseArch::gf, DenoiseArch::tikhonov, DenoiseArch::median}) {
    DenoiseSettings settings = quick(arch);
    settings.epochs = 150;
    const DenoiseResult result = denoise(data.graph, data.noisy, &data.clean, settings);
    EXPECT_TRUE(result.signals.allFinite());
    EXPECT_FALSE(result.each[0].error_noisy);
    double error = 0;
    double size = 0;
    for (const Eigen::Index u : gone) {
      error += std::pow(result.signals(u, 0) - data.clean(u, 0), 2);
      size += std::pow(data.clean(u, 0), 2);
    }
    EXPECT_LT(error, 0.2 * size) << arch_name(arch);
  }
}

TEST(Denoise, ConstantSignalsStayConstant) {
  const Graph graph = communities(20, 1).graph;
  Matrix noisy = Matrix::Constant(20, 2, 5.5);
  noisy.col(1).setZero();
  noisy(4, 0) = missing;
  for (const DenoiseArch arch :
       {DenoiseArch::ngf, DenoiseArch::gcn, DenoiseArch::tikhonov, DenoiseArch::median}) {
    const DenoiseResult result = denoise(graph, noisy, nullptr, quick(arch));
    EXPECT_TRUE(result.signals.col(0).isConstant(5.5, 1e-9)) << arch_name(arch);
    EXPECT_TRUE(result.signals.col(1).isZero(1e-12)) << arch_name(arch);
  }
}

TEST(Denoise, FewKnownValuesAreEnough) {
  const Graph graph = communities(20, 1).graph;
  Matrix noisy = Matrix::Constant(20, 1, missing);
  noisy(3, 0) = 1;
  EXPECT_TRUE(denoise(graph, noisy, nullptr, quick()).signals.isConstant(1, 1e-12));
  noisy(4, 0) = 2;
  for (const DenoiseArch arch :
       {DenoiseArch::ngf, DenoiseArch::gcn, DenoiseArch::tikhonov, DenoiseArch::median}) {
    EXPECT_TRUE(denoise(graph, noisy, nullptr, quick(arch)).signals.allFinite()) << arch_name(arch);
  }
}

TEST(Denoise, ErrorsSayWhatIsWrong) {
  const DenoiseCase data = communities(20, 2);
  const auto why = [&](const Matrix& noisy, const Matrix* clean, const DenoiseSettings& settings) {
    return error_of<Error>([&] { denoise(data.graph, noisy, clean, settings); });
  };
  EXPECT_EQ(why(data.noisy.topRows(19), nullptr, quick()),
            "noisy signals have 19 values, and the graph has 20 nodes");
  Matrix broken = data.noisy;
  broken(4, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(why(broken, nullptr, quick()),
            "noisy signal 1 is infinite at node 4; a missing value is NaN");
  EXPECT_EQ(why(data.noisy, &broken, quick()),
            "clean signal 1 is infinite at node 4; a missing value is NaN");
  broken.col(1).setConstant(missing);
  EXPECT_EQ(why(broken, nullptr, quick()), "noisy signal 1 has no value at all");
  const Matrix one = data.clean.leftCols(1);
  EXPECT_EQ(why(data.noisy, &one, quick()), "1 clean signals for 2 noisy ones");
  EXPECT_EQ(why(data.noisy, nullptr, quick(DenoiseArch::ngf, StopRule::oracle)),
            "the oracle needs the clean signal");
  DenoiseSettings settings = quick();
  settings.lr = 0;
  EXPECT_THAT(why(data.noisy, nullptr, settings), HasSubstr("lr is 0"));
  settings = quick();
  settings.epochs = 0;
  EXPECT_THAT(why(data.noisy, nullptr, settings), HasSubstr("at least one epoch"));
  const Graph arcs = as_directed(data.graph);
  EXPECT_THAT(
      error_of<Error>([&] { denoise(arcs, data.noisy, nullptr, quick(DenoiseArch::tikhonov)); }),
      HasSubstr("undirected"));
}

TEST(Denoise, CanBeStopped) {
  struct Impatient : Progress {
    bool stop_requested() const override { return true; }
  } impatient;
  const DenoiseCase data = communities(20, 1);
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gcn, DenoiseArch::tikhonov}) {
    EXPECT_THROW(denoise(data.graph, data.noisy, nullptr, quick(arch), &impatient), Interrupted);
  }
}

// ---- Smoothers ----

Matrix laplacian(const Graph& graph) {
  Matrix result = Matrix::Zero(graph.nodes(), graph.nodes());
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    for (const NodeId v : graph.neighbors(u)) {
      if (u == v) continue;
      result(u, u) += 1;
      result(u, v) -= 1;
    }
  }
  return result;
}

/// Tikhonov by its definition: x^ and the score of one lambda.
std::pair<Eigen::VectorXd, double> plain_tikhonov(const Graph& graph, const Eigen::VectorXd& y,
                                                  double lambda) {
  Matrix known = Matrix::Zero(y.size(), y.size());
  Eigen::VectorXd right = Eigen::VectorXd::Zero(y.size());
  for (Eigen::Index u = 0; u < y.size(); ++u) {
    if (std::isnan(y[u])) continue;
    known(u, u) = 1;
    right[u] = y[u];
  }
  const Matrix inverse = (known + lambda * laplacian(graph)).inverse();
  const Eigen::VectorXd x = inverse * right;
  const double n = known.trace();
  const double residual = (right - known * x).squaredNorm();
  const Matrix smoother = known * inverse * known;
  return {x, n * residual / std::pow(n - smoother.trace(), 2)};
}

TEST(Tikhonov, IsTheBestOfItsDefinition) {
  DenoiseCase data = communities(60, 2);
  data.noisy(5, 1) = missing;
  data.noisy(31, 1) = missing;
  tasks::Tikhonov smoother(data.graph, 1);
  for (Eigen::Index s = 0; s < 2; ++s) {
    const Eigen::VectorXd y = data.noisy.col(s);
    const tasks::Smoothed found = smoother.smooth(y);
    const auto [x, score] = plain_tikhonov(data.graph, y, found.lambda);
    EXPECT_LT((found.signal - x).norm(), 1e-9 * x.norm());
    for (const double factor : {0.2, 0.5, 2.0, 5.0}) {
      EXPECT_LE(score, plain_tikhonov(data.graph, y, found.lambda * factor).second * (1 + 1e-4));
    }
  }
}

TEST(Tikhonov, OfALargeGraphIsThatOfASmallOne) {
  DenoiseCase data = communities(560, 1, 0.3);
  data.noisy(100, 0) = missing;
  const Eigen::VectorXd y = data.noisy.col(0);
  const tasks::Smoothed found = tasks::Tikhonov(data.graph, 1).smooth(y);
  const auto [x, score] = plain_tikhonov(data.graph, y, found.lambda);
  EXPECT_LT((found.signal - x).norm(), 1e-4 * x.norm());
  // The trace is an estimate, so the choice may be a neighbour of the best.
  for (const double factor : {0.1, 10.0}) {
    EXPECT_LE(score, plain_tikhonov(data.graph, y, found.lambda * factor).second * 1.05);
  }
}

TEST(Tikhonov, EstimatesTheNoise) {
  // A wave over a grid.
  constexpr Eigen::Index side = 15;
  Matrix clean(side * side, 1);
  for (Eigen::Index u = 0; u < clean.rows(); ++u) {
    clean(u, 0) = std::sin(0.4 * static_cast<double>(u / side)) +
                  std::cos(0.3 * static_cast<double>(u % side));
  }
  const Matrix noisy = with_noise(clean, 0.1, 1);
  const tasks::Smoothed found = tasks::Tikhonov(grid(side, side), 1).smooth(noisy.col(0));
  const double truth = (noisy - clean).squaredNorm() / static_cast<double>(clean.rows());
  EXPECT_NEAR(found.noise_variance / truth, 1, 0.3);
}

TEST(Tikhonov, NodesOutOfReachTakeTheMean) {
  // 0 - 1   2 - 3   with nothing known of 2 and 3
  const Graph graph = build_graph(4, std::vector<Edge>{{0, 1}, {2, 3}});
  Eigen::VectorXd y(4);
  y << 1, 3, missing, missing;
  const tasks::Smoothed found = tasks::Tikhonov(graph, 1).smooth(y);
  EXPECT_NEAR(found.signal[2], 2, 1e-12);
  EXPECT_NEAR(found.signal[3], 2, 1e-12);
}

TEST(NeighborMedian, OfANodeAndItsNeighbours) {
  // 0 - 1 - 2 - 3   4
  const Graph graph = build_graph(5, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}});
  Eigen::VectorXd y(5);
  y << 1, 5, 2, missing, missing;
  Eigen::VectorXd expected(5);
  expected << 3, 2, 3.5, 2, 8.0 / 3;
  EXPECT_TRUE(tasks::neighbor_median(graph, y).isApprox(expected, 1e-12));
}

// ---- Rules ----

TEST(Folds, AreOfEqualSizeAndAFunctionOfTheSeed) {
  const auto folds = tasks::draw_folds(23, 5, 1);
  std::vector<int> sizes(5, 0);
  for (const std::uint32_t fold : folds) ++sizes[fold];
  EXPECT_THAT(sizes, testing::UnorderedElementsAre(5, 5, 5, 4, 4));
  EXPECT_EQ(folds, tasks::draw_folds(23, 5, 1));
  EXPECT_NE(folds, tasks::draw_folds(23, 5, 2));
}

/// A fit whose outputs are known: x^(t) = (1 - 0.9^t) y, whatever the weights.
class Shrinking : public tasks::Fitter {
 public:
  double signal_size() const override { return 1; }
  void fit(const tasks::FitTask& task, const tasks::FitWatch& watch, tasks::Meter&) override {
    for (Eigen::Index s = 0; s < task.targets.cols(); ++s) {
      for (std::uint32_t t = 1; t <= task.epochs; ++t) {
        const Eigen::VectorXf x = static_cast<float>(1 - std::pow(0.9, t)) * task.targets.col(s);
        if (!watch(static_cast<std::size_t>(s), t,
                   {x.data(), static_cast<std::size_t>(x.size())})) {
          break;
        }
      }
    }
  }
};

tasks::FitTask some_task(Eigen::Index nodes, std::uint32_t epochs) {
  tasks::FitTask task;
  task.targets.resize(nodes, 1);
  Random random(4);
  for (Eigen::Index u = 0; u < nodes; ++u) task.targets(u, 0) = static_cast<float>(random.normal());
  task.weights.setOnes(nodes, 1);
  task.epochs = epochs;
  return task;
}

TEST(Sure, IsSteinsFormula) {
  const tasks::FitTask task = some_task(50, 40);
  Shrinking fitter;
  tasks::Meter meter(nullptr, 0);
  DenoiseSettings settings = quick(DenoiseArch::ngf, StopRule::sure);
  constexpr double noise = 0.5;
  const auto verdict = tasks::judge(fitter, task, settings, {noise}, meter)[0];
  const double size = task.targets.cast<double>().squaredNorm() / 50;
  ASSERT_EQ(verdict.criterion.size(), 40U);
  for (std::size_t t = 1; t <= 40; ++t) {
    const double left = std::pow(0.9, static_cast<double>(t));
    const double expected = left * left * size - noise * noise + 2 * noise * noise * (1 - left);
    EXPECT_NEAR(verdict.criterion[t - 1], expected, 1e-4);
  }
}

TEST(Variance, IsThatOfTheOutputsOfAWindow) {
  const tasks::FitTask task = some_task(30, 50);
  Shrinking fitter;
  tasks::Meter meter(nullptr, 0);
  DenoiseSettings settings = quick(DenoiseArch::ngf, StopRule::variance);
  settings.window = 5;
  const auto verdict = tasks::judge(fitter, task, settings, {}, meter)[0];
  const double size = task.targets.cast<double>().squaredNorm();
  double mean = 0;
  double square = 0;
  for (int t = 3; t < 8; ++t) {
    const double factor = 1 - std::pow(0.9, t);
    mean += factor / 5;
    square += factor * factor / 5;
  }
  EXPECT_NEAR(verdict.criterion[2], (square - mean * mean) * size, 1e-4 * size);
  EXPECT_TRUE(std::isnan(verdict.criterion[48]));
  EXPECT_EQ(verdict.epoch, 46U);
}

TEST(Blind, IsTheErrorOfNodesHeldOut) {
  const tasks::FitTask task = some_task(30, 60);
  Shrinking fitter;
  tasks::Meter meter(nullptr, 0);
  const auto verdict =
      tasks::judge(fitter, task, quick(DenoiseArch::ngf, StopRule::blind), {}, meter)[0];
  const double size = task.targets.cast<double>().squaredNorm() / 30;
  for (std::size_t t = 1; t <= 60; ++t) {
    EXPECT_NEAR(verdict.criterion[t - 1], std::pow(0.81, static_cast<double>(t)) * size, 1e-5);
  }
  EXPECT_EQ(verdict.epoch, 60U);
  EXPECT_GT(verdict.null_error, 0.8 * size);
}

// ---- The paper's cases ----

TEST(DenoiseCases, AreWhatTheySay) {
  for (const PaperSettings settings : {PaperSettings::text, PaperSettings::code}) {
    const DenoiseCase first = denoise_case_1(settings, SignalKind::ngf, 40, 3);
    EXPECT_EQ(first.graph.nodes(), 256U);
    double noise = 0;
    for (Eigen::Index s = 0; s < 40; ++s) {
      noise += (first.noisy - first.clean).col(s).squaredNorm() / first.clean.col(s).squaredNorm();
    }
    EXPECT_NEAR(noise / 40, 0.1, 0.01);
    const bool unit = settings == PaperSettings::text;
    EXPECT_EQ(std::abs(first.clean.col(3).norm() - 1) < 1e-9, unit);
    const DenoiseCase second = denoise_case_2(settings, SignalKind::gf, 0.25, 4, 3);
    EXPECT_NEAR(second.clean.col(2).norm(), 1, 1e-9);
  }
}

}  // namespace
}  // namespace ngf
