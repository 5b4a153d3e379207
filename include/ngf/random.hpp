#pragma once

#include <array>
#include <cstdint>

namespace ngf {

/// A counter-based generator: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers:
/// as easy as 1, 2, 3", SC 2011).
///
/// Random(seed, stream) is a sequence that depends on these two numbers alone, and different
/// streams are independent. Work that is split over threads takes one stream for each item, so its
/// result does not depend on the split. Everything here uses only integer arithmetic and IEEE
/// +, -, *, / and sqrt, so the values are the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint32_t bits32();
  std::uint64_t bits64();

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();
  /// Uniform in 0..bound-1, without bias. `bound` > 0.
  std::uint64_t below(std::uint64_t bound);
  bool chance(double probability) { return uniform() < probability; }
  /// Standard normal, by Marsaglia's polar method.
  double normal();
  /// Failures before the first success when each try succeeds with `probability` in (0, 1]:
  /// how many items a sampler may skip.
  std::uint64_t geometric(double probability);

 private:
  std::array<std::uint32_t, 2> key_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  unsigned used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_normal_ = false;
};

/// The natural logarithm for x > 0, to about one unit in the last place, by IEEE arithmetic alone:
/// the C library's may differ from machine to machine in the last bit.
double portable_log(double x);

}  // namespace ngf
