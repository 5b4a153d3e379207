#include "ngf/summary.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "ngf/error.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::quantile;
using ngf::Summary;
using ngf::test::error_of;
using testing::HasSubstr;

TEST(Summary, OfSeveral) {
  const Summary summary = ngf::summarize({4, 1, 2, 9});
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.std, std::sqrt((0 + 9 + 4 + 25) / 3.0));
}

TEST(Summary, OfOne) {
  const Summary summary = ngf::summarize({0.25});
  EXPECT_EQ(summary.mean, 0.25);
  EXPECT_EQ(summary.median, 0.25);
  EXPECT_EQ(summary.std, 0);
}

TEST(Summary, Quantiles) {
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_EQ(quantile({3, 1, 2}, 0.25), 1.5);
  EXPECT_EQ(quantile({3, 1, 2, 10, 7}, 0.75), 7);
}

TEST(Summary, OfNothing) {
  EXPECT_THAT(error_of<Error>([] { ngf::summarize({}); }), HasSubstr("no result"));
  EXPECT_THAT(error_of<Error>([] { quantile({1}, 1.5); }), HasSubstr("1.5"));
  EXPECT_THAT(error_of<Error>([] { quantile({1}, NAN); }), HasSubstr("nan"));
}

}  // namespace
