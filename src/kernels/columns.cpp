// Sums and maxima of rows of signals, written once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/columns.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kernels/columns.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

constexpr hn::CappedTag<float, columns_in_line<float>> line_tag;
constexpr std::size_t line_lanes = hn::MaxLanes(line_tag);
using LineVector = hn::Vec<decltype(line_tag)>;

struct Add {
  static constexpr float start = 0;
  template <typename Value>
  HWY_INLINE Value operator()(Value a, Value b) const {
    return hn::Add(a, b);
  }
  float operator()(float a, float b) const { return a + b; }
};
struct Largest {
  static constexpr float start = -std::numeric_limits<float>::infinity();
  template <typename Value>
  HWY_INLINE Value operator()(Value a, Value b) const {
    return hn::Max(a, b);
  }
  float operator()(float a, float b) const { return std::max(a, b); }
};

/// Combines the rows of `count` columns. Two chains, since each operation waits for the one before
/// it.
template <std::size_t lines, typename Combine>
HWY_INLINE void combine_lines(const NodeId* columns, std::size_t count, const float* x,
                              const Combine& combine, float* to) {
  constexpr std::size_t width = lines * columns_in_line<float>;
  constexpr std::size_t vectors = width / line_lanes;
  LineVector chain[2][vectors];
  for (auto& vector : chain) {
    for (std::size_t j = 0; j < vectors; ++j) vector[j] = hn::Set(line_tag, Combine::start);
  }
  const auto add = [&](std::size_t i, LineVector* to_chain) HWY_ATTR {
    const float* const row = x + columns[i] * width;
    for (std::size_t j = 0; j < vectors; ++j) {
      to_chain[j] = combine(to_chain[j], hn::Load(line_tag, row + j * line_lanes));
    }
  };
  for (std::size_t i = 0; i + 2 <= count; i += 2) {
    add(i, chain[0]);
    add(i + 1, chain[1]);
  }
  if (count % 2 == 1) add(count - 1, chain[0]);
  for (std::size_t j = 0; j < vectors; ++j) {
    hn::StoreU(combine(chain[0][j], chain[1][j]), line_tag, to + j * line_lanes);
  }
}

/// The same for signals of one column.
template <typename Combine>
HWY_INLINE void combine_values(const NodeId* columns, std::size_t count, const float* x,
                               const Combine& combine, float* to) {
  constexpr std::size_t chains = 4;
  float chain[chains];
  std::fill_n(chain, chains, Combine::start);
  std::size_t i = 0;
  for (; i + chains <= count; i += chains) {
    for (std::size_t c = 0; c < chains; ++c) chain[c] = combine(chain[c], x[columns[i + c]]);
  }
  for (; i < count; ++i) chain[0] = combine(chain[0], x[columns[i]]);
  *to = combine(combine(chain[0], chain[1]), combine(chain[2], chain[3]));
}

template <typename Combine>
HWY_INLINE void combine_columns(const NodeId* columns, std::size_t count, const float* x,
                                std::size_t lines, const Combine& combine, float* to) {
  switch (lines) {
    case 0:
      return combine_values(columns, count, x, combine, to);
    case 1:
      return combine_lines<1>(columns, count, x, combine, to);
    case 2:
      return combine_lines<2>(columns, count, x, combine, to);
    case 4:
      return combine_lines<4>(columns, count, x, combine, to);
    default:
      return combine_lines<most_column_lines>(columns, count, x, combine, to);
  }
}

void sum_columns(const NodeId* columns, std::size_t count, const float* x, std::size_t lines,
                 double* to) {
  const std::size_t width = lines == 0 ? 1 : lines * columns_in_line<float>;
  float sum[most_column_lines * columns_in_line<float>];
  for (std::size_t begin = 0; begin < count; begin += columns_summed) {
    combine_columns(columns + begin, std::min(columns_summed, count - begin), x, lines, Add(), sum);
    for (std::size_t f = 0; f < width; ++f) to[f] += static_cast<double>(sum[f]);
  }
}

void max_columns(const NodeId* columns, std::size_t count, const float* x, std::size_t lines,
                 float* to) {
  combine_columns(columns, count, x, lines, Largest(), to);
}

constexpr ColumnKernels column_kernels_of{sum_columns, max_columns};
const ColumnKernels& column_kernels_here() { return column_kernels_of; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(column_kernels_here);

const ColumnKernels& column_kernels() { return HWY_DYNAMIC_DISPATCH(column_kernels_here)(); }

}  // namespace ngf::kernels
#endif
