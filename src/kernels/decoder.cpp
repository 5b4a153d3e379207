// The passes of the graph decoder, one over a panel that lies in the nearest caches.

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
void relu_dot(const DecoderPanel<Real>& panel, Real* to) {
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
void relu_dot_backward(const DecoderPanel<Real>& panel, const Real* by_outputs) {
  const Tag<Real> tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t u = 0; u < panel.rows; ++u) {
    Real* const row = panel.z + u * panel.stride;
    const auto gradient = hn::Set(tag, by_outputs[u]);
    for (std::size_t f = 0; f < panel.columns; f += lanes) {
      const auto open = hn::Gt(hn::LoadU(tag, row + f), hn::Zero(tag));
      const auto value = hn::Mul(gradient, hn::LoadU(tag, panel.v + f));
      hn::StoreU(hn::IfThenElseZero(open, value), tag, row + f);
    }
  }
}

/// Some units of columns of row u. Entries go into several sums in turn, since an addition waits
/// for the one before it.
template <bool weighted, std::size_t units, typename Real>
HWY_INLINE void multiply_units(const SparseRows<Real>& s, const SparseTerms<Real>& terms,
                               std::size_t u, std::size_t f, Real* y) {
  constexpr std::size_t turns = 4;
  constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());
  constexpr std::size_t vectors = units * decoder_unit / lanes;
  const Tag<Real> tag;
  hn::Vec<Tag<Real>> sums[turns][vectors];
  for (std::size_t j = 0; j < vectors; ++j) {
    for (std::size_t turn = 0; turn < turns; ++turn) sums[turn][j] = hn::Zero(tag);
  }
  const auto add = [&](std::size_t turn, std::uint32_t i) HWY_ATTR {
    const Real* const row = terms.b + s.columns[i] * terms.columns + f;
    for (std::size_t j = 0; j < vectors; ++j) {
      const auto values = hn::LoadU(tag, row + j * lanes);
      if constexpr (weighted) {
        sums[turn][j] = hn::MulAdd(hn::Set(tag, s.values[i]), values, sums[turn][j]);
      } else {
        sums[turn][j] = hn::Add(values, sums[turn][j]);
      }
    }
  };
  std::uint32_t i = s.offsets[u];
  const std::uint32_t end = s.offsets[u + 1];
  for (; i + turns <= end; i += turns) {
    HWY_UNROLL(4)
    for (std::uint32_t turn = 0; turn < turns; ++turn) add(turn, i + turn);
  }
  for (; i < end; ++i) add(0, i);
  const std::size_t at = u * terms.columns + f;
  for (std::size_t j = 0; j < vectors; ++j) {
    const auto sum = hn::Add(hn::Add(sums[0][j], sums[1][j]), hn::Add(sums[2][j], sums[3][j]));
    const auto own = hn::Mul(hn::Set(tag, terms.tap), hn::LoadU(tag, terms.x + at + j * lanes));
    hn::StoreU(hn::MulAdd(hn::Set(tag, terms.factor), sum, own), tag, y + at + j * lanes);
  }
}

template <bool weighted, typename Real>
void multiply_rows_of(const SparseRows<Real>& s, const SparseTerms<Real>& terms, Real* y) {
  constexpr std::size_t pair = 2 * decoder_unit;
  for (std::size_t u = 0; u < s.rows; ++u) {
    std::size_t f = 0;
    for (; f + pair <= terms.columns; f += pair) multiply_units<weighted, 2>(s, terms, u, f, y);
    if (f < terms.columns) multiply_units<weighted, 1>(s, terms, u, f, y);
  }
}

template <typename Real>
void multiply_sparse(const SparseRows<Real>& s, const SparseTerms<Real>& terms, Real* y) {
  if (s.values == nullptr) {
    multiply_rows_of<false>(s, terms, y);
  } else {
    multiply_rows_of<true>(s, terms, y);
  }
}

template <typename Real>
constexpr DecoderKernels<Real> kernels_of{relu_dot<Real>, relu_dot_backward<Real>,
                                          multiply_sparse<Real>};
constexpr AllDecoderKernels all_decoder_kernels{kernels_of<float>, kernels_of<double>};
const AllDecoderKernels& decoder_kernels_here() { return all_decoder_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(decoder_kernels_here);

const AllDecoderKernels& all_decoder_kernels() {
  return HWY_DYNAMIC_DISPATCH(decoder_kernels_here)();
}

}  // namespace ngf::kernels
#endif
