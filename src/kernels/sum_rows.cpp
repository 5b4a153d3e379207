// Sums of rows of a matrix, for products with sparse matrices.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sum_rows.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include "kernels/sum_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, 64 / sizeof(Real)>;

/// `vectors` whole vectors of columns, all sums in registers.
template <std::size_t vectors, typename Real>
HWY_INLINE void sum_vectors(const std::uint32_t* rows, const Real* values, std::size_t count,
                            const Real* b, std::size_t stride, bool add, Real* to) {
  const Tag<Real> tag;
  constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());
  hn::Vec<Tag<Real>> sum[vectors];
  for (std::size_t j = 0; j < vectors; ++j) {
    sum[j] = add ? hn::LoadU(tag, to + j * lanes) : hn::Zero(tag);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Real* const row = b + rows[i] * stride;
    const auto value = hn::Set(tag, values[i]);
    for (std::size_t j = 0; j < vectors; ++j) {
      sum[j] = hn::MulAdd(value, hn::LoadU(tag, row + j * lanes), sum[j]);
    }
  }
  for (std::size_t j = 0; j < vectors; ++j) hn::StoreU(sum[j], tag, to + j * lanes);
}

/// Fewer columns than a vector has.
template <typename Real>
HWY_INLINE void sum_tail(const std::uint32_t* rows, const Real* values, std::size_t count,
                         const Real* b, std::size_t stride, std::size_t width, bool add, Real* to) {
  const Tag<Real> tag;
  const auto inside = hn::FirstN(tag, width);
  auto sum = add ? hn::MaskedLoad(inside, tag, to) : hn::Zero(tag);
  for (std::size_t i = 0; i < count; ++i) {
    sum =
        hn::MulAdd(hn::Set(tag, values[i]), hn::MaskedLoad(inside, tag, b + rows[i] * stride), sum);
  }
  hn::BlendedStore(sum, inside, tag, to);
}

template <typename Real>
HWY_INLINE void sum_all(const std::uint32_t* rows, const Real* values, std::size_t count,
                        const Real* b, std::size_t stride, std::size_t width, bool add, Real* to) {
  constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());
  constexpr std::size_t many = 8;
  std::size_t f = 0;
  for (; f + many * lanes <= width; f += many * lanes) {
    sum_vectors<many>(rows, values, count, b + f, stride, add, to + f);
  }
  for (; f + 2 * lanes <= width; f += 2 * lanes) {
    sum_vectors<2>(rows, values, count, b + f, stride, add, to + f);
  }
  for (; f + lanes <= width; f += lanes) {
    sum_vectors<1>(rows, values, count, b + f, stride, add, to + f);
  }
  if (f < width) sum_tail(rows, values, count, b + f, stride, width - f, add, to + f);
}

void sum_rows_f(const std::uint32_t* rows, const float* values, std::size_t count, const float* b,
                std::size_t stride, std::size_t width, bool add, float* to) {
  sum_all(rows, values, count, b, stride, width, add, to);
}
void sum_rows_d(const std::uint32_t* rows, const double* values, std::size_t count, const double* b,
                std::size_t stride, std::size_t width, bool add, double* to) {
  sum_all(rows, values, count, b, stride, width, add, to);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(sum_rows_f);
HWY_EXPORT(sum_rows_d);

template <>
void sum_rows(const std::uint32_t* rows, const float* values, std::size_t count, const float* b,
              std::size_t stride, std::size_t width, bool add, float* to) {
  HWY_DYNAMIC_DISPATCH(sum_rows_f)(rows, values, count, b, stride, width, add, to);
}
template <>
void sum_rows(const std::uint32_t* rows, const double* values, std::size_t count, const double* b,
              std::size_t stride, std::size_t width, bool add, double* to) {
  HWY_DYNAMIC_DISPATCH(sum_rows_d)(rows, values, count, b, stride, width, add, to);
}

}  // namespace ngf::kernels
#endif
