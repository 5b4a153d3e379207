#include "ngf/tasks/denoise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ngf/error.hpp"
#include "ngf/summary.hpp"
#include "ngf/tasks/denoise_cases.hpp"
#include "tests/denoise_support.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using test::communities;
using test::error_of;
using test::missing;
using testing::HasSubstr;

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

TEST(Denoise, DoesNoHarmToSignalsWithoutStructure) {
  DenoiseCase data = communities(80, 8);
  Random random(9);
  for (Eigen::Index i = 0; i < data.clean.size(); ++i) data.clean.data()[i] = random.normal();
  data.noisy = with_noise(data.clean, 0.1, 3);
  for (const DenoiseArch arch : {DenoiseArch::ngf, DenoiseArch::gf, DenoiseArch::gcn}) {
    SCOPED_TRACE(std::string(arch_name(arch)));
    const DenoiseResult result = denoise(data.graph, data.noisy, &data.clean, quick(arch));
    int left_alone = 0;
    for (Eigen::Index s = 0; s < data.noisy.cols(); ++s) {
      const DenoisedSignal& own = result.each[static_cast<std::size_t>(s)];
      EXPECT_LT(*own.error, 1.1 * *own.error_noisy) << own.explained;
      if (!own.left_alone) continue;
      ++left_alone;
      EXPECT_EQ(result.signals.col(s), data.noisy.col(s));
      EXPECT_EQ(own.epochs, 0U);
    }
    EXPECT_GE(left_alone, 2);
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
