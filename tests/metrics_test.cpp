#include "ngf/tasks/metrics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "ngf/error.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::Random;
using ngf::test::error_of;
using testing::HasSubstr;

using Labels = std::vector<std::int32_t>;

double auc(const std::vector<double>& scores, const Labels& truth) {
  return ngf::roc_auc<double>(scores, truth);
}

/// Every pair of a positive and another is asked who is ahead.
double auc_by_pairs(const std::vector<double>& scores, const Labels& truth) {
  double ahead = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    for (std::size_t j = 0; j < truth.size(); ++j) {
      if (truth[i] != 1 || truth[j] == 1) continue;
      pairs += 1;
      if (scores[i] > scores[j]) ahead += 1;
      if (scores[i] == scores[j]) ahead += 0.5;
    }
  }
  return ahead / pairs;
}

/// Precision and recall of each class, counted one class after another.
double f1_by_classes(const Labels& predicted, const Labels& truth) {
  std::set<std::int32_t> classes(predicted.begin(), predicted.end());
  classes.insert(truth.begin(), truth.end());
  double sum = 0;
  for (const std::int32_t label : classes) {
    double right = 0;
    double claimed = 0;
    double there = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (predicted[i] == label) claimed += 1;
      if (truth[i] == label) there += 1;
      if (predicted[i] == label && truth[i] == label) right += 1;
    }
    if (right == 0) continue;
    const double precision = right / claimed;
    const double recall = right / there;
    sum += 2 * precision * recall / (precision + recall);
  }
  return sum / static_cast<double>(classes.size());
}

TEST(Metrics, Accuracy) {
  EXPECT_EQ(ngf::accuracy(Labels{1, 2, 3, 0}, Labels{1, 2, 0, 3}), 0.5);
  EXPECT_EQ(ngf::accuracy(Labels{4}, Labels{4}), 1);
  EXPECT_EQ(ngf::accuracy(Labels{4}, Labels{3}), 0);
}

TEST(Metrics, MacroF1) {
  // Class 0: precision 1/2, recall 1; class 1 is never right; class 2 is always right.
  EXPECT_DOUBLE_EQ(ngf::macro_f1(Labels{0, 0, 2}, Labels{0, 1, 2}), (2.0 / 3 + 0 + 1) / 3);
  // A class that does not occur counts for nothing.
  EXPECT_EQ(ngf::macro_f1(Labels{5, 9}, Labels{5, 9}), 1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Labels predicted(1 + random.below(50));
    Labels truth(predicted.size());
    for (auto& label : predicted) label = static_cast<std::int32_t>(random.below(6));
    for (auto& label : truth) label = static_cast<std::int32_t>(random.below(6));
    EXPECT_NEAR(ngf::macro_f1(predicted, truth), f1_by_classes(predicted, truth), 1e-14);
  }
}

TEST(Metrics, AreaUnderTheCurve) {
  EXPECT_EQ(auc({1, 2, 3, 4}, {0, 0, 1, 1}), 1);
  EXPECT_EQ(auc({1, 2, 3, 4}, {1, 1, 0, 0}), 0);
  EXPECT_EQ(auc({7, 7, 7}, {0, 1, 0}), 0.5);
  EXPECT_EQ(auc({1, 2, 2, 3}, {0, 0, 1, 1}), 0.875);
}

TEST(Metrics, AreaByRanksIsThatByPairs) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const std::size_t count = 2 + random.below(60);
    const std::uint64_t values = 1 + random.below(20);  // few values, many ties
    std::vector<double> scores(count);
    Labels truth(count);
    for (auto& score : scores) score = static_cast<double>(random.below(values)) - 3;
    for (auto& label : truth) label = static_cast<std::int32_t>(random.below(3)) - 1;
    truth[0] = 0;
    truth[1] = 1;
    EXPECT_NEAR(auc(scores, truth), auc_by_pairs(scores, truth), 1e-14) << seed;
    const std::vector<float> single(scores.begin(), scores.end());
    EXPECT_EQ(ngf::roc_auc<float>(single, truth), auc(scores, truth));
  }
}

TEST(Metrics, ScoresThatAreNoNumbersAreTheLowest) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(auc({nan, -5, nan}, {0, 1, 0}), 1);
  EXPECT_EQ(auc({nan, -nan, nan}, {0, 1, 0}), 0.5);
}

TEST(Metrics, RefuseWhatHasNoAnswer) {
  EXPECT_THAT(error_of<Error>([] { ngf::accuracy(Labels{}, Labels{}); }), HasSubstr("no node"));
  EXPECT_THAT(error_of<Error>([] { ngf::macro_f1(Labels{1}, Labels{}); }),
              HasSubstr("1 predictions for 0 nodes"));
  EXPECT_THAT(error_of<Error>([] { auc({1, 2}, {1, 1}); }), HasSubstr("both classes"));
  EXPECT_THAT(error_of<Error>([] { auc({1, 2}, {0, 0}); }), HasSubstr("both classes"));
  EXPECT_THAT(error_of<Error>([] { auc({1}, {0, 1}); }), HasSubstr("1 predictions for 2 nodes"));
}

}  // namespace
