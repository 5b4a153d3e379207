#pragma once

#include <array>
#include <cmath>
#include <cstddef>

/// Layer normalisation (Ba, Kiros and Hinton, 2016) of one row: y = scale * (x - mean) / deviation
/// + shift, entry by entry.
namespace ngf::nn {

/// Added to the variance, so that a constant row is no division by zero.
inline constexpr double norm_epsilon = 1e-5;

/// The sum of term(i) for i < count, in sixteen parts that registers add up at the same time.
template <typename Real, typename Term>
Real sum_terms(std::size_t count, const Term& term) {
  constexpr std::size_t parts = 16;
  std::array<Real, parts> sums{};
  std::size_t i = 0;
  for (; i + parts <= count; i += parts) {
    for (std::size_t p = 0; p < parts; ++p) sums[p] += term(i + p);
  }
  Real rest = 0;
  for (; i < count; ++i) rest += term(i);
  for (std::size_t width = parts / 2; width > 0; width /= 2) {
    for (std::size_t p = 0; p < width; ++p) sums[p] += sums[p + width];
  }
  return sums[0] + rest;
}

template <typename Real>
struct RowMoments {
  Real mean;
  Real inverse;  ///< of the standard deviation

  RowMoments(const Real* x, std::size_t count) {
    const auto n = static_cast<Real>(count);
    mean = sum_terms<Real>(count, [&](std::size_t i) { return x[i]; }) / n;
    const Real squares =
        sum_terms<Real>(count, [&](std::size_t i) { return (x[i] - mean) * (x[i] - mean); });
    inverse = 1 / std::sqrt(squares / n + static_cast<Real>(norm_epsilon));
  }
};

template <typename Real>
void norm_row(const Real* x, std::size_t count, const Real* scale, const Real* shift, Real* y) {
  const RowMoments<Real> moments(x, count);
  for (std::size_t i = 0; i < count; ++i) {
    y[i] = (x[i] - moments.mean) * moments.inverse * scale[i] + shift[i];
  }
}

/// `g`, the gradient by y, becomes the gradient by x; `by_scale` and `by_shift` grow by theirs.
template <typename Real>
void norm_row_backward(const Real* x, std::size_t count, const Real* scale, Real* g, Real* by_scale,
                       Real* by_shift) {
  const RowMoments<Real> moments(x, count);
  const auto centred = [&](std::size_t i) { return (x[i] - moments.mean) * moments.inverse; };
  for (std::size_t i = 0; i < count; ++i) {
    by_scale[i] += g[i] * centred(i);
    by_shift[i] += g[i];
    g[i] *= scale[i];
  }
  const auto n = static_cast<Real>(count);
  const Real mean = sum_terms<Real>(count, [&](std::size_t i) { return g[i]; }) / n;
  const Real along = sum_terms<Real>(count, [&](std::size_t i) { return g[i] * centred(i); }) / n;
  for (std::size_t i = 0; i < count; ++i) {
    g[i] = (g[i] - mean - centred(i) * along) * moments.inverse;
  }
}

}  // namespace ngf::nn
