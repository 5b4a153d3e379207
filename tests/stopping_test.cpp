#include "tasks/stopping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ngf/random.hpp"

namespace ngf {
namespace {

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
  DenoiseSettings settings;
  settings.stop = StopRule::sure;
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
  DenoiseSettings settings;
  settings.stop = StopRule::variance;
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
  const DenoiseSettings settings;
  ASSERT_EQ(settings.stop, StopRule::blind);
  const auto verdict = tasks::judge(fitter, task, settings, {}, meter)[0];
  const double size = task.targets.cast<double>().squaredNorm() / 30;
  for (std::size_t t = 1; t <= 60; ++t) {
    EXPECT_NEAR(verdict.criterion[t - 1], std::pow(0.81, static_cast<double>(t)) * size, 1e-5);
  }
  EXPECT_EQ(verdict.epoch, 60U);
  EXPECT_GT(verdict.null_error, 0.8 * size);
}

TEST(Blind, ForecastsCountAsMuchAsTheyForetell) {
  tasks::Verdict verdict;
  verdict.held_out_error = 4;
  // By the errors of both, where the noise is known.
  EXPECT_DOUBLE_EQ(tasks::prediction_weight(verdict, 0.5, 1.0), 0.25);
  EXPECT_DOUBLE_EQ(tasks::prediction_weight(verdict, 0.5, 3.0), 1);
  // Otherwise by the variance foretold, less what chance foretells: more of few nodes.
  verdict.nodes = 120;
  verdict.gain_in_deviations = 2;
  EXPECT_DOUBLE_EQ(tasks::prediction_weight(verdict, 0.8, {}), 0.4);
  verdict.nodes = 40;
  verdict.gain_in_deviations = 4;
  EXPECT_DOUBLE_EQ(tasks::prediction_weight(verdict, 0.8, {}), 0.6);
  for (const double z : {2.0, 0.3, -5.0}) {
    verdict.gain_in_deviations = z;
    EXPECT_EQ(tasks::prediction_weight(verdict, 0.8, {}), 0);
  }
}

}  // namespace
}  // namespace ngf
