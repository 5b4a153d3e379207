// The gradient of a loss by the weights of pairs.
//
// Hop k of row u adds h_k sum_v a_uv x_v to the output, with a_uv = w_uv l_u r_v. With
// q_uv = h_k <g_u, x_v>, the gradient by a_uv, and sums over the shell
//   none:       by w_uv is q_uv
//   row:        l_u = 1 / sum_v w_uv, so l_u (q_uv - S_u) with S_u = sum_v q_uv a_uv
//   symmetric:  l_u = (sum_v w_uv)^-1/2, r_v = (sum_u w_uv)^-1/2, so
//               l_u r_v q_uv - (l_u^2 S_u + r_v^2 T_v) / 2 with T_v = sum_u q_uv a_uv

#include <Eigen/Core>

#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "filter/checks.hpp"
#include "filter/pair_values.hpp"
#include "filter/shell_products.hpp"

namespace ngf {

namespace {

using filter::ShellScales;

/// What the normalisation makes of the gradients q of pairs at one hop.
class ThroughScales {
 public:
  /// S and T: row u, column k. T is empty for scales of rows.
  ThroughScales(const ShellScales* scales, Matrix s, Matrix t)
      : scales_(scales), s_(std::move(s)), t_(std::move(t)) {}

  double of(double q, NodeId u, NodeId v, std::size_t k) const {
    if (scales_ == nullptr) return q;
    const auto hop = static_cast<Eigen::Index>(k);
    const double left = scales_->left[k][u];
    if (t_.size() == 0) return left * (q - s_(u, hop));
    const double right = scales_->right[k][v];
    return left * right * q - (left * left * s_(u, hop) + right * right * t_(v, hop)) / 2;
  }

 private:
  const ShellScales* scales_;
  Matrix s_, t_;
};

}  // namespace

template <typename Real>
std::vector<float> PairFilter::pair_gradients(const SignalsView<Real>& x,
                                              const SignalsView<Real>& by_output) const {
  filter::check_signals<Real>(x, nodes());
  filter::check_signals<Real>(by_output, nodes());
  if (x.cols() != by_output.cols()) {
    fail("gradients of {} columns for signals of {}", by_output.cols(), x.cols());
  }
  filter::check_held(shells_);
  const std::vector<std::uint64_t>& begins = tables_->forward.begins;
  check_budget(begins.back() * sizeof(float), shells_.plan().options.memory,
               "the gradient by the weights of pairs");
  const auto sums = [&](bool transposed, const SignalsView<Real>& from,
                        const SignalsView<Real>& with) {
    return filter::correlate<Real>(source(transposed, nullptr), form_, factors<Real>(transposed),
                                   from, with, {}, false);
  };
  const ShellScales* const scales = tables_->scales.get();
  const ThroughScales through(scales, scales == nullptr ? Matrix() : sums(false, x, by_output),
                              tables_->scaled ? sums(true, by_output, x) : Matrix());
  std::vector<float> result(begins.back(), 0);
  filter::on_lists(shells_, [&](const auto& lists) {
    parallel_ranges(
        nodes(), shells_.plan().options.threads, [&](std::size_t begin, std::size_t end) {
          for (auto u = static_cast<NodeId>(begin); u < end; ++u) {
            float* to = result.data() + begins[u];
            for (std::uint32_t k = 1; k <= lists.hops(); ++k) {
              const double tap = k < taps_.count() ? taps_(u, k) : 0;
              for (const NodeId v : lists.columns(u, k)) {
                const double q = tap * static_cast<double>(by_output.row(u).dot(x.row(v)));
                *to++ = static_cast<float>(through.of(q, u, v, k));
              }
            }
          }
        });
  });
  return result;
}

template std::vector<float> PairFilter::pair_gradients(const SignalsView<float>&,
                                                       const SignalsView<float>&) const;
template std::vector<float> PairFilter::pair_gradients(const SignalsView<double>&,
                                                       const SignalsView<double>&) const;

}  // namespace ngf
