#include "ngf/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/philox.hpp"
#include "base/streams.hpp"

namespace ngf {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// The known answers that come with the authors' own library, Random123.
TEST(Philox, GivesThePublishedAnswers) {
  constexpr std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(detail::philox4x32({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(detail::philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(detail::philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                               {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsPhiloxOfSeedStreamAndPosition) {
  const std::uint64_t seed = 0x299f31d0a4093822;
  const std::uint64_t stream = 0x0370734413198a2e;
  Random random(seed, stream);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t word :
         detail::philox4x32({block, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})) {
      EXPECT_EQ(random.bits32(), word);
    }
  }
}

TEST(Random, SeedAndStreamDecideTheSequence) {
  std::set<std::uint64_t> first_words;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (std::uint64_t stream = 0; stream < 30; ++stream) {
      first_words.insert(Random(seed, stream).bits64());
      first_words.insert(Random(seed << 32, stream << 32 | 1U << 31).bits64());
      EXPECT_EQ(Random(seed, stream).bits64(), Random(seed, stream).bits64());
    }
  }
  EXPECT_EQ(first_words.size(), 1800U);
}

TEST(Random, StreamsAreUncorrelated) {
  constexpr int draws = 20000;
  for (std::uint64_t lag = 1; lag < 5; ++lag) {
    Random a(7, 100);
    Random b(7, 100 + lag);
    double sum = 0;
    for (int i = 0; i < draws; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    // Each product has variance 1/144.
    EXPECT_LT(std::abs(sum), 4 * std::sqrt(draws / 144.0)) << "lag " << lag;
  }
}

TEST(Random, UsesOfOneSeedShareNoNumbers) {
  EXPECT_NE(detail::random_for(1, detail::Use::erdos_renyi, 0).bits64(),
            detail::random_for(1, detail::Use::perturb_created, 0).bits64());
}

double chi_square(const std::vector<double>& seen, double expected) {
  double sum = 0;
  for (const double count : seen) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Random, UniformFillsTheUnitInterval) {
  Random random(1);
  constexpr int draws = 200000;
  std::vector<double> bins(100);
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    ++bins[static_cast<std::size_t>(u * 100)];
  }
  EXPECT_NEAR(sum / draws, 0.5, 4 / std::sqrt(12.0 * draws));
  // 99 degrees of freedom: mean 99, standard deviation 14.
  EXPECT_NEAR(chi_square(bins, draws / 100.0), 99, 56);
}

TEST(Random, BelowIsEvenAndStaysBelow) {
  for (const std::uint64_t bound : {1U, 2U, 3U, 7U, 10U, 64U}) {
    Random random(2, bound);
    constexpr int draws = 50000;
    std::vector<double> seen(bound);
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      ++seen[value];
    }
    const double freedom = static_cast<double>(bound) - 1;
    EXPECT_NEAR(chi_square(seen, draws / static_cast<double>(bound)), freedom,
                4 * std::sqrt(2 * freedom) + 1e-9)
        << "bound " << bound;
  }
}

// With this bound a remainder of raw bits would fall below 2^62 twice as often as above.
TEST(Random, BelowIsEvenForHugeBounds) {
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  Random random(3);
  constexpr int draws = 30000;
  std::vector<double> thirds(3);
  for (int i = 0; i < draws; ++i) ++thirds[random.below(bound) >> 62];
  EXPECT_LT(chi_square(thirds, draws / 3.0), 14);
}

TEST(Random, NormalHasItsMoments) {
  Random random(4);
  constexpr int draws = 200000;
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  for (int i = 0; i < draws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  const double error = 1 / std::sqrt(static_cast<double>(draws));
  EXPECT_NEAR(sum / draws, 0, 4 * error);
  EXPECT_NEAR(squares / draws, 1, 4 * error * std::sqrt(2.0));
  EXPECT_NEAR(fourths / draws, 3, 4 * error * std::sqrt(96.0));
}

TEST(Random, GeometricCountsFailures) {
  for (const double p : {0.05, 0.3, 0.9}) {
    Random random(5, static_cast<std::uint64_t>(p * 100));
    constexpr int draws = 100000;
    constexpr std::size_t bins = 12;
    std::vector<double> seen(bins);
    double sum = 0;
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t count = random.geometric(p);
      sum += static_cast<double>(count);
      ++seen[std::min<std::size_t>(count, bins - 1)];
    }
    EXPECT_NEAR(sum / draws, (1 - p) / p, 4 * std::sqrt(1 - p) / p / std::sqrt(draws)) << p;
    for (std::size_t n = 0; n + 1 < bins; ++n) {
      const double expected = p * std::pow(1 - p, static_cast<double>(n));
      EXPECT_NEAR(seen[n] / draws, expected, 4.5 * std::sqrt(expected / draws) + 1e-4)
          << "p " << p << " n " << n;
    }
  }
}

TEST(Random, GeometricOfExtremeProbabilities) {
  Random random(6);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.geometric(1), 0U);
  // Where 1 - p rounds to 1 the mean is still 1/p.
  for (const double p : {1e-9, 1e-17}) {
    double sum = 0;
    for (int i = 0; i < 20000; ++i) sum += static_cast<double>(random.geometric(p));
    EXPECT_NEAR(sum / 20000 * p, 1, 4 / std::sqrt(20000.0)) << p;
  }
  EXPECT_EQ(random.geometric(std::numeric_limits<double>::denorm_min()),
            std::numeric_limits<std::uint64_t>::max());
}

std::int64_t ulps_apart(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

TEST(PortableLog, IsWithinTwoUlpsOfTheLibrary) {
  Random random(8);
  for (int i = 0; i < 200000; ++i) {
    // Any positive finite number, subnormal ones included.
    const auto x = std::bit_cast<double>(random.below(0x7ff0000000000000 - 1) + 1);
    ASSERT_LE(ulps_apart(portable_log(x), std::log(x)), 2) << x;
    const double near_one = 0.5 + 1.5 * random.uniform();
    ASSERT_LE(ulps_apart(portable_log(near_one), std::log(near_one)), 2) << near_one;
  }
  for (std::uint64_t bits = 1; bits < std::uint64_t{1} << 52; bits = bits * 3 / 2 + 1) {
    const auto subnormal = std::bit_cast<double>(bits);
    ASSERT_LE(ulps_apart(portable_log(subnormal), std::log(subnormal)), 2) << subnormal;
  }
}

TEST(PortableLog, IsExactWhereTheAnswerIs) {
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_log(0.5), -0x1.62e42fefa39efp-1);
  EXPECT_EQ(portable_log(2), 0x1.62e42fefa39efp-1);
}

}  // namespace
}  // namespace ngf
