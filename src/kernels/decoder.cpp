// The passes of the graph decoder, one over a panel that lies in the nearest caches.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/decoder.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include "kernels/decoder.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, decoder_unit>;

template <typename Real>
void relu_dot_all(const DecoderPanel<Real>& panel, Real* to) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t u = 0; u < panel.rows; ++u) {
    const Real* const row = panel.z + u * panel.stride;
    for (std::size_t i = 0; i < panel.columns / decoder_unit; ++i) {
      auto sum = hn::Zero(tag);
      for (std::size_t f = i * decoder_unit; f < (i + 1) * decoder_unit; f += lanes) {
        const auto positive = hn::Max(hn::LoadU(tag, row + f), hn::Zero(tag));
        sum = hn::MulAdd(positive, hn::LoadU(tag, panel.v + f), sum);
      }
      to[i * panel.rows + u] = hn::GetLane(hn::SumOfLanes(tag, sum));
    }
  }
}

template <typename Real>
void relu_dot_backward_all(const DecoderPanel<Real>& panel, const Real* by_outputs) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t u = 0; u < panel.rows; ++u) {
    Real* const row = panel.z + u * panel.stride;
    const auto slope = hn::Set(tag, by_outputs[u]);
    for (std::size_t f = 0; f < panel.columns; f += lanes) {
      const auto open = hn::Gt(hn::LoadU(tag, row + f), hn::Zero(tag));
      const auto value = hn::Mul(slope, hn::LoadU(tag, panel.v + f));
      hn::StoreU(hn::IfThenElseZero(open, value), tag, row + f);
    }
  }
}

void relu_dot_f(const DecoderPanel<float>& panel, float* to) { relu_dot_all(panel, to); }
void relu_dot_d(const DecoderPanel<double>& panel, double* to) { relu_dot_all(panel, to); }
void relu_dot_backward_f(const DecoderPanel<float>& panel, const float* by_outputs) {
  relu_dot_backward_all(panel, by_outputs);
}
void relu_dot_backward_d(const DecoderPanel<double>& panel, const double* by_outputs) {
  relu_dot_backward_all(panel, by_outputs);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(relu_dot_f);
HWY_EXPORT(relu_dot_d);
HWY_EXPORT(relu_dot_backward_f);
HWY_EXPORT(relu_dot_backward_d);

template <>
void relu_dot(const DecoderPanel<float>& panel, float* to) {
  HWY_DYNAMIC_DISPATCH(relu_dot_f)(panel, to);
}
template <>
void relu_dot(const DecoderPanel<double>& panel, double* to) {
  HWY_DYNAMIC_DISPATCH(relu_dot_d)(panel, to);
}
template <>
void relu_dot_backward(const DecoderPanel<float>& panel, const float* by_outputs) {
  HWY_DYNAMIC_DISPATCH(relu_dot_backward_f)(panel, by_outputs);
}
template <>
void relu_dot_backward(const DecoderPanel<double>& panel, const double* by_outputs) {
  HWY_DYNAMIC_DISPATCH(relu_dot_backward_d)(panel, by_outputs);
}

}  // namespace ngf::kernels
#endif
