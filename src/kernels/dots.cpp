// Dots of rows, written once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dots.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/dots.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

/// Adds up the lanes of `count` vectors, a power of two up to the number of lanes: lane i of the
/// result is the sum of vector i. All sums are added in the same order.
template <std::size_t count>
HWY_INLINE Wide<float> add_lanes(Wide<float>* sums) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (count > 1) {
    const Tag<float> tag;
    for (std::size_t i = 0; i < count / 2; ++i) {
      sums[i] = hn::Add(hn::ConcatEven(tag, sums[2 * i + 1], sums[2 * i]),
                        hn::ConcatOdd(tag, sums[2 * i + 1], sums[2 * i]));
    }
    return add_lanes<count / 2>(sums);
  }
#endif
  return sums[0];
}

/// Dots with one row for each lane, so that their lanes are added up together.
template <typename Column>
HWY_INLINE Wide<float> dot_some(const float* row, const float* rows, std::size_t lines,
                                const Column* columns) {
  const Tag<float> tag;
  constexpr std::size_t count = lanes<float>;
  const std::size_t stride = lines * columns_in_line<float>;
  Wide<float> sums[count];
  const float* others[count];
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = hn::Zero(tag);
    others[i] = rows + columns[i] * stride;
  }
  for (std::size_t at = 0; at < stride; at += lanes<float>) {
    const auto own = hn::Load(tag, row + at);
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] = hn::MulAdd(own, hn::Load(tag, others[i] + at), sums[i]);
    }
  }
  return add_lanes<count>(sums);
}

template <typename Column>
void dot_listed(const float* row, const float* rows, std::size_t lines, const Column* columns,
                std::size_t count, float* to) {
  const Tag<float> tag;
  constexpr std::size_t together = lanes<float>;
  std::size_t i = 0;
  for (; i + together <= count; i += together) {
    hn::StoreU(dot_some(row, rows, lines, columns + i), tag, to + i);
  }
  if (i == count) return;
  Column last[together];
  for (std::size_t j = 0; j < together; ++j) last[j] = columns[std::min(i + j, count - 1)];
  float dots[together];
  hn::StoreU(dot_some(row, rows, lines, last), tag, dots);
  std::copy_n(dots, count - i, to + i);
}

constexpr DotKernels dot_kernels{dot_listed<std::uint16_t>, dot_listed<std::uint32_t>};
const DotKernels& dot_kernels_here() { return dot_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(dot_kernels_here);

const DotKernels& dot_kernels() { return HWY_DYNAMIC_DISPATCH(dot_kernels_here)(); }

}  // namespace ngf::kernels
#endif
