// One step of Adam, in one pass over what it reads and writes.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include "kernels/adam.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
void adam_all(const AdamStep<Real>& step, const Real* gradient, std::size_t count, Real* mean,
              Real* square, Real* theta) {
  const hn::ScalableTag<Real> tag;
  const auto keep_mean = hn::Set(tag, static_cast<Real>(adam_mean));
  const auto new_mean = hn::Set(tag, static_cast<Real>(1 - adam_mean));
  const auto keep_square = hn::Set(tag, static_cast<Real>(adam_square));
  const auto new_square = hn::Set(tag, static_cast<Real>(1 - adam_square));
  const auto floor = hn::Set(tag, static_cast<Real>(adam_floor));
  const auto decay = hn::Set(tag, step.decay);
  const auto lr = hn::Set(tag, step.lr);
  const auto scale = hn::Set(tag, step.square_scale);
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t left = count - i;
    const auto inside = hn::FirstN(tag, left);
    const auto load = [&](const Real* from) HWY_ATTR {
      return left >= lanes ? hn::LoadU(tag, from + i) : hn::MaskedLoad(inside, tag, from + i);
    };
    const auto store = [&](auto value, Real* to) HWY_ATTR {
      if (left >= lanes) {
        hn::StoreU(value, tag, to + i);
      } else {
        hn::BlendedStore(value, inside, tag, to + i);
      }
    };
    const auto at = load(theta);
    const auto g = hn::MulAdd(decay, at, load(gradient));
    const auto m = hn::MulAdd(keep_mean, load(mean), hn::Mul(new_mean, g));
    const auto v = hn::MulAdd(keep_square, load(square), hn::Mul(new_square, hn::Mul(g, g)));
    const auto below = hn::MulAdd(hn::Sqrt(v), scale, floor);
    store(m, mean);
    store(v, square);
    store(hn::Sub(at, hn::Div(hn::Mul(lr, m), below)), theta);
  }
}

void adam_f(const AdamStep<float>& step, const float* gradient, std::size_t count, float* mean,
            float* square, float* theta) {
  adam_all(step, gradient, count, mean, square, theta);
}
void adam_d(const AdamStep<double>& step, const double* gradient, std::size_t count, double* mean,
            double* square, double* theta) {
  adam_all(step, gradient, count, mean, square, theta);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(adam_f);
HWY_EXPORT(adam_d);

template <>
void adam(const AdamStep<float>& step, const float* gradient, std::size_t count, float* mean,
          float* square, float* theta) {
  HWY_DYNAMIC_DISPATCH(adam_f)(step, gradient, count, mean, square, theta);
}
template <>
void adam(const AdamStep<double>& step, const double* gradient, std::size_t count, double* mean,
          double* square, double* theta) {
  HWY_DYNAMIC_DISPATCH(adam_d)(step, gradient, count, mean, square, theta);
}

}  // namespace ngf::kernels
#endif
