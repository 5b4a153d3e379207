#include "ngf/random.hpp"

#include <cmath>
#include <limits>

#include "base/philox.hpp"

namespace ngf {

namespace {

constexpr std::uint32_t low_half(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high_half(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// log(1 - p) for p in [0, 1), also where 1 - p rounds to 1. With u = 1 - p rounded, log(u) / (u -
/// 1) varies so slowly that it may be taken at u instead of 1 - p (Kahan).
double log_of_one_minus(double p) {
  const double u = 1 - p;
  if (u == 1) return -p;
  return portable_log(u) * (-p / (u - 1));
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream)
    : key_{low_half(seed), high_half(seed)}, stream_(stream) {}

std::uint32_t Random::bits32() {
  if (used_ == buffer_.size()) {
    buffer_ = detail::philox4x32(
        {low_half(block_), high_half(block_), low_half(stream_), high_half(stream_)}, key_);
    ++block_;
    used_ = 0;
  }
  return buffer_[used_++];
}

std::uint64_t Random::bits64() {
  const std::uint64_t low = bits32();
  return low | std::uint64_t{bits32()} << 32;
}

double Random::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

// Lemire, "Fast random integer generation in an interval", 2019: the high half of bits * bound is
// the answer, unless the low half falls among the 2^64 mod bound values that would be one too many.
std::uint64_t Random::below(std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t surplus = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < surplus) product = Wide{bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  double x = 0;
  double y = 0;
  double square = 0;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double scale = std::sqrt(-2 * portable_log(square) / square);
  spare_normal_ = y * scale;
  has_spare_normal_ = true;
  return x * scale;
}

// The count is at least n with probability (1 - p)^n, so it is floor(log(U) / log(1 - p)).
std::uint64_t Random::geometric(double probability) {
  if (probability >= 1) return 0;
  const double count = portable_log(1 - uniform()) / log_of_one_minus(probability);
  return count < 0x1p63 ? static_cast<std::uint64_t>(count)
                        : std::numeric_limits<std::uint64_t>::max();
}

// x = 2^k m with m in [sqrt(1/2), sqrt(2)). With f = m - 1 and s = f / (2 + f),
//
//     log(m) = 2 atanh(s) = 2s + s r,   r = 2 (s^2/3 + s^4/5 + s^6/7 + ...),
//
// and 2s = f - s f, where f is exact; |s| < 0.172, so the terms below leave out less than 2^-60.
double portable_log(double x) {
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --k;
  }
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  double r = 0;
  for (int n = 21; n >= 3; n -= 2) r = z * (r + 2.0 / n);
  // log(2) in two parts, the first short enough that k times it is exact.
  constexpr double log2_high = 0x1.62e42fee00000p-1;
  constexpr double log2_low = 0x1.a39ef35793c76p-33;
  return k * log2_high - ((s * (f - r) - k * log2_low) - f);
}

}  // namespace ngf
