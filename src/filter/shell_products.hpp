#pragma once

#include <span>
#include <vector>

#include "detail/aligned.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// Signals as the kernels want them: rows padded with zeros to whole cache lines, unless there is
/// one column.
template <typename Real>
class PaddedSignals {
 public:
  explicit PaddedSignals(const SignalsOf<Real>& x);
  PaddedSignals(Eigen::Index rows, Eigen::Index columns);

  const Real* data() const { return values_.data(); }
  Real* row(std::size_t u) { return values_.data() + u * width_; }
  const Real* row(std::size_t u) const { return values_.data() + u * width_; }
  /// With the padding: also how far rows are apart.
  std::size_t width() const { return width_; }
  SignalsOf<Real> unpadded() const;

 private:
  Eigen::Index rows_;
  Eigen::Index columns_;
  std::size_t width_;
  detail::AlignedVector<Real> values_;
};

/// Factors of the rows and columns of each shell, 0..hops: shell k stands for
/// diag(left[k]) A_k diag(right[k]). An empty vector stands for ones.
template <typename Real>
struct ShellFactors {
  std::vector<std::vector<Real>> left;
  std::vector<std::vector<Real>> right;
  std::vector<char> skipped;  ///< by hop: not 0 where the shell does not count at all
};

/// Shells that are held, or a graph to find them in again and again.
struct ShellSource {
  const Shells& held;
  const Graph& graph;  ///< used where nothing is held
  const ShellOptions& options;
};

/// Y = sum over k of diag(left[k]) A_k diag(right[k]) X.
template <typename Real>
SignalsOf<Real> multiply(const ShellSource& shells, const ShellFactors<Real>& factors,
                         const SignalsOf<Real>& x);

/// What <g_u, (diag(left[k]) A_k diag(right[k]) X)_u> adds up to over the nodes u of each group:
/// entry group * (hops + 1) + k. `product`, where given, also gets
/// sum over k of taps[k] diag(left[k]) A_k diag(right[k]) X.
template <typename Real>
std::vector<double> correlate(const ShellSource& shells, const ShellFactors<Real>& factors,
                              const SignalsOf<Real>& x, const SignalsOf<Real>& g, const Taps& taps,
                              SignalsOf<Real>* product);

}  // namespace ngf::filter
