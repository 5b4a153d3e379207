#pragma once

#include <type_traits>

#include "ngf/matrix.hpp"

/// Dense products at the machine's speed.
namespace ngf::detail {

/// A row-major matrix that lies elsewhere: rows x cols as it lies in memory, rows `stride` apart.
/// `transposed` reads it the other way round.
template <typename Real>
struct ConstView {
  const Real* data = nullptr;
  Eigen::Index rows = 0;
  Eigen::Index cols = 0;
  Eigen::Index stride = 0;
  bool transposed = false;
};

template <typename Real>
struct MutableView {
  Real* data = nullptr;
  Eigen::Index rows = 0;
  Eigen::Index cols = 0;
  Eigen::Index stride = 0;

  operator ConstView<Real>() const {  // NOLINT(google-explicit-constructor): as a pointer's would
    return {data, rows, cols, stride};
  }
};

enum class Into { replace, add };

/// c = a b, or c += a b, in float or double. c must not overlap a or b. Results are bit-identical
/// for any number of threads. Throws Error where the shapes do not fit.
template <typename Real>
void multiply(const std::type_identity_t<ConstView<Real>>& a,
              const std::type_identity_t<ConstView<Real>>& b, const MutableView<Real>& c, Into into,
              int threads);

template <typename Real>
ConstView<Real> view(const SignalsOf<Real>& m) {
  return {m.data(), m.rows(), m.cols(), m.cols()};
}

template <typename Real>
ConstView<Real> transposed(const SignalsOf<Real>& m) {
  return {m.data(), m.rows(), m.cols(), m.cols(), true};
}

template <typename Real>
MutableView<Real> view(SignalsOf<Real>& m) {
  return {m.data(), m.rows(), m.cols(), m.cols()};
}

/// Multiplications and additions of floats per second, of all threads together, on tiles that stay
/// in the nearest caches: the best of the repetitions that fit into `seconds`.
double product_rate(int threads, double seconds);

}  // namespace ngf::detail
