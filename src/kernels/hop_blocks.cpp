// The inner loops of filters on blocks of hops, where registers hold a table of weights.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/hop_blocks.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/hop_blocks.hpp"
#include "kernels/hop_table-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

#if NGF_TABLES_IN_REGISTERS

/// Vectors of a block.
constexpr std::size_t parts = block_hops / lanes<float>;

template <typename Table>
HWY_INLINE void add_both_by_table(const std::uint8_t* hops, std::size_t stride, std::size_t blocks,
                                  const float* table, const float* x, const float* own, float* dots,
                                  float* sums) {
  const Tag<float> tag;
  const Table entries(table);
  // Two sums a row, since each addition waits for the one before it.
  Wide<float> dot[rows_of_both][2];
  Wide<float> factor[rows_of_both];
  for (std::size_t r = 0; r < rows_of_both; ++r) {
    dot[r][0] = dot[r][1] = hn::Zero(tag);
    factor[r] = hn::Set(tag, own[r]);
  }
  const auto add_block = [&]<bool both>(std::size_t b) HWY_ATTR {
    Places<float> places[rows_of_both];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < rows_of_both; ++r) {
      hwy::Prefetch(hops + r * stride + (b + 16) * block_hops);
      places[r] = words_at<float>(hops + r * stride + b * block_hops);
    }
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < parts; ++j) {
      const std::size_t at = b * block_hops + j * lanes<float>;
      const auto values = hn::LoadU(tag, x + at);
      auto sum = both ? hn::LoadU(tag, sums + at) : hn::Zero(tag);
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < rows_of_both; ++r) {
        if (j > 0) places[r] = next_byte<float>(places[r]);
        const auto weights = entries.at(places[r]);
        dot[r][j % 2] = hn::MulAdd(weights, values, dot[r][j % 2]);
        if constexpr (both) sum = hn::MulAdd(weights, factor[r], sum);
      }
      if constexpr (both) hn::StoreU(sum, tag, sums + at);
    }
  };
  add_block.template operator()<false>(0);
  for (std::size_t b = 1; b < blocks; ++b) add_block.template operator()<true>(b);
  for (std::size_t r = 0; r < rows_of_both; ++r) {
    dots[r] += hn::GetLane(hn::SumOfLanes(tag, hn::Add(dot[r][0], dot[r][1])));
  }
}

void add_both(const std::uint8_t* hops, std::size_t stride, std::size_t blocks, const float* table,
              std::size_t last_hop, const float* x, const float* own, float* dots, float* sums) {
  if (Table<float, 1>::holds(last_hop)) {
    add_both_by_table<Table<float, 1>>(hops, stride, blocks, table, x, own, dots, sums);
  } else {
    add_both_by_table<Table<float>>(hops, stride, blocks, table, x, own, dots, sums);
  }
}

/// Sums of a block for each of some columns, all in registers.
template <std::size_t columns>
class BlockSums {
 public:
  /// Sums that begin with the values at `at`, or with 0.
  HWY_INLINE BlockSums(float* at, bool add) : at_(at) {
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t j = 0; j < parts; ++j) {
        sum_[c][j] = add ? hn::LoadU(tag_, place(c, j)) : hn::Zero(tag_);
      }
    }
  }
  HWY_INLINE void add(std::size_t c, const Wide<float>* values, float factor) {
    const auto factors = hn::Set(tag_, factor);
    for (std::size_t j = 0; j < parts; ++j) {
      sum_[c][j] = hn::MulAdd(values[j], factors, sum_[c][j]);
    }
  }
  HWY_INLINE void store() const {
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t j = 0; j < parts; ++j) hn::StoreU(sum_[c][j], tag_, place(c, j));
    }
  }

 private:
  HWY_INLINE float* place(std::size_t c, std::size_t j) const {
    return at_ + c * block_hops + j * lanes<float>;
  }

  static constexpr Tag<float> tag_{};
  float* at_;
  Wide<float> sum_[columns][parts];
};

template <typename Table, std::size_t columns>
void multiply_columns(const std::uint8_t* hops, std::size_t count, const float* tables,
                      std::size_t table_step, const float* x, float* to, const Lines& ahead) {
  BlockSums<columns> sums(to, true);
  Table table(tables);
  for (std::size_t v = 0; v < count; ++v) {
    if (table_step > 0) table = Table(tables + v * table_step);
    if (v < ahead.count) hwy::Prefetch(ahead.first + v * ahead.stride);
    Wide<float> weights[parts];
    auto places = words_at<float>(hops + v * block_hops);
    HWY_UNROLL(4)
    for (std::size_t j = 0; j < parts; ++j) {
      if (j > 0) places = next_byte<float>(places);
      weights[j] = table.at(places);
    }
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) sums.add(c, weights, x[v * columns + c]);
  }
  sums.store();
}

template <std::size_t columns>
void multiply_transposed_columns(const float* g, const float* x, std::size_t x_stride,
                                 std::size_t depth, bool add, float* products) {
  BlockSums<columns> sums(products, add);
  for (std::size_t f = 0; f < depth; ++f) {
    Wide<float> values[parts];
    for (std::size_t j = 0; j < parts; ++j) {
      values[j] = hn::LoadU(Tag<float>(), g + f * block_hops + j * lanes<float>);
    }
    HWY_UNROLL(6)
    for (std::size_t c = 0; c < columns; ++c) sums.add(c, values, x[c * x_stride + f]);
  }
  sums.store();
}

/// Calls body(the number, as a constant) for a number from 1 to `most`.
template <std::size_t most, typename Body>
HWY_INLINE void with_constant(std::size_t number, const Body& body) {
  if constexpr (most > 0) {
    if (number == most) {
      body(std::integral_constant<std::size_t, most>());
    } else {
      with_constant<most - 1>(number, body);
    }
  }
}

void multiply_block(const std::uint8_t* hops, std::size_t count, const float* tables,
                    std::size_t table_step, std::size_t last_hop, const float* x,
                    std::size_t columns, float* sums, const Lines& ahead) {
  with_constant<most_block_columns>(columns, [&](auto constant) HWY_ATTR {
    if (Table<float, 1>::holds(last_hop)) {
      multiply_columns<Table<float, 1>, constant()>(hops, count, tables, table_step, x, sums,
                                                    ahead);
    } else {
      multiply_columns<Table<float>, constant()>(hops, count, tables, table_step, x, sums, ahead);
    }
  });
}

void multiply_transposed(const float* g, const float* x, std::size_t x_stride, std::size_t depth,
                         std::size_t columns, bool add, float* products) {
  with_constant<most_block_columns>(columns, [&](auto constant) HWY_ATTR {
    multiply_transposed_columns<constant()>(g, x, x_stride, depth, add, products);
  });
}

void look_up_block(const std::uint8_t* hops, std::size_t stride, std::size_t count,
                   const float* tables, std::size_t table_step, float* w) {
  Table<float> table(tables);
  for (std::size_t v = 0; v < count; ++v) {
    if (table_step > 0) table = Table<float>(tables + v * table_step);
    for (std::size_t j = 0; j < parts; ++j) {
      const auto places = places_at<float>(hops + v * stride + j * lanes<float>);
      hn::StoreU(table.at(places), Tag<float>(), w + v * block_hops + j * lanes<float>);
    }
  }
}

/// For the hops first..first+together-1 of two parts of a block, whose sums stay in registers.
template <std::size_t together, std::size_t first_part>
void add_hops(const std::uint8_t* hops, std::size_t stride, const float* products,
              std::size_t count, std::size_t first, float* bins) {
  const Tag<float> tag;
  const auto place = [](std::size_t line, std::size_t part) {
    return line * block_hops + (first_part + part) * lanes<float>;
  };
  const hn::Rebind<std::uint8_t, Tag<float>> hop_tag;
  Wide<float> sums[together][2];
  HWY_UNROLL(10)
  for (std::size_t k = 0; k < together; ++k) {
    for (std::size_t j = 0; j < 2; ++j) sums[k][j] = hn::LoadU(tag, bins + place(k, j));
  }
  for (std::size_t v = 0; v < count; ++v) {
    HWY_UNROLL(2)
    for (std::size_t j = 0; j < 2; ++j) {
      // Bytes are compared faster than words.
      const auto hop = hn::LoadU(hop_tag, hops + v * stride + (first_part + j) * lanes<float>);
      const auto values = hn::LoadU(tag, products + place(v, j));
      HWY_UNROLL(10)
      for (std::size_t k = 0; k < together; ++k) {
        const auto wanted = hn::Set(hop_tag, static_cast<std::uint8_t>(first + k));
        sums[k][j] = Wide<float>{_mm512_mask_add_ps(
            sums[k][j].raw, _mm_cmpeq_epi8_mask(hop.raw, wanted.raw), sums[k][j].raw, values.raw)};
      }
    }
  }
  HWY_UNROLL(10)
  for (std::size_t k = 0; k < together; ++k) {
    for (std::size_t j = 0; j < 2; ++j) hn::StoreU(sums[k][j], tag, bins + place(k, j));
  }
}

void add_block_by_hop(const std::uint8_t* hops, std::size_t stride, const float* products,
                      std::size_t count, std::size_t last_hop, float* bins) {
  constexpr std::size_t most_together = 10;
  static_assert(parts == 4);
  // Turns of one size, more or less.
  const std::size_t turns = (last_hop + most_together - 1) / most_together;
  std::size_t first = 1;
  for (std::size_t turn = 1; turn <= turns; ++turn) {
    const std::size_t end = 1 + last_hop * turn / turns;
    with_constant<most_together>(end - first, [&](auto constant) HWY_ATTR {
      float* const to = bins + first * block_hops;
      add_hops<constant(), 0>(hops, stride, products, count, first, to);
      add_hops<constant(), 2>(hops, stride, products, count, first, to);
    });
    first = end;
  }
}

constexpr HopBlockKernels kernels{Table<float>::entries, add_both,      multiply_block,
                                  multiply_transposed,   look_up_block, add_block_by_hop};
const HopBlockKernels* hop_blocks_here() { return &kernels; }

#else

const HopBlockKernels* hop_blocks_here() { return nullptr; }

#endif

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(hop_blocks_here);

const HopBlockKernels* hop_block_kernels() { return HWY_DYNAMIC_DISPATCH(hop_blocks_here)(); }

}  // namespace ngf::kernels
#endif
