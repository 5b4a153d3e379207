// Dots of rows, written once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dots.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include "kernels/dots.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

/// In several sums, since each addition waits for the one before it.
HWY_INLINE float dot(const float* a, const float* b, std::size_t lines) {
  constexpr std::size_t sums = 4;
  const Tag<float> tag;
  Wide<float> sum[sums];
  for (Wide<float>& own : sum) own = hn::Zero(tag);
  const std::size_t vectors = lines * (columns_in_line<float> / lanes<float>);
  const auto add = [&](std::size_t i, std::size_t to) HWY_ATTR {
    const std::size_t at = i * lanes<float>;
    sum[to] = hn::MulAdd(hn::Load(tag, a + at), hn::Load(tag, b + at), sum[to]);
  };
  std::size_t i = 0;
  for (; i + sums <= vectors; i += sums) {
    for (std::size_t j = 0; j < sums; ++j) add(i + j, j);
  }
  for (; i < vectors; ++i) add(i, 0);
  const auto all = hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3]));
  return hn::GetLane(hn::SumOfLanes(tag, all));
}

template <typename Column>
void dot_listed(const float* row, const float* rows, std::size_t lines, const Column* columns,
                std::size_t count, float* to) {
  const std::size_t stride = lines * columns_in_line<float>;
  for (std::size_t i = 0; i < count; ++i) to[i] = dot(row, rows + columns[i] * stride, lines);
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
