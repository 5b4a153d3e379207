#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ngf::kernels {

/// The shares of the old means, and what keeps from dividing by 0.
inline constexpr double adam_mean = 0.9;
inline constexpr double adam_square = 0.999;
inline constexpr double adam_floor = 1e-8;

template <typename Real>
struct AdamStep {
  Real lr;            ///< over the mean's share so far
  Real square_scale;  ///< 1 / sqrt of the square's share so far
  Real decay;
};

/// Step number `t`, from 1 on.
template <typename Real>
AdamStep<Real> adam_step(std::uint64_t t, double lr, double decay = 0) {
  const double mean_share = 1 - std::pow(adam_mean, static_cast<double>(t));
  const double square_share = 1 - std::pow(adam_square, static_cast<double>(t));
  return {static_cast<Real>(lr / mean_share), static_cast<Real>(1 / std::sqrt(square_share)),
          static_cast<Real>(decay)};
}

/// One step on `count` numbers that lie together, with g grown by decay * theta.
template <typename Real>
void adam(const AdamStep<Real>& step, const Real* gradient, std::size_t count, Real* mean,
          Real* square, Real* theta);

}  // namespace ngf::kernels
