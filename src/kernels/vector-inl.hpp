// Vectors of one cache line at most, for the instruction set that is being compiled.

// Highway compiles each file of kernels once per instruction set, and this with it.
#if defined(NGF_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NGF_VECTOR_INL
#undef NGF_VECTOR_INL
#else
#define NGF_VECTOR_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "kernels/line.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename Real>
using Tag = hn::CappedTag<Real, columns_in_line<Real>>;
template <typename Real>
using Wide = hn::Vec<Tag<Real>>;
template <typename Real>
constexpr std::size_t lanes = hn::MaxLanes(Tag<Real>());

constexpr std::size_t registers = HWY_MAX_BYTES == 64 ? 32 : 16;
/// The number of rows of sums that registers hold, with `vectors` vectors per row.
constexpr std::size_t rows_in_registers(std::size_t vectors) {
  return std::max<std::size_t>(1, (registers - 4) / vectors);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
