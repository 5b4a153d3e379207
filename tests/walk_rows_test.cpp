#include "kernels/walk_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/aligned.hpp"
#include "kernels/target.hpp"
#include "ngf/random.hpp"

namespace ngf::kernels {
namespace {

/// The same counts as the kernel's, one pair at a time.
std::uint32_t count_plainly(const HopRows& rows, unsigned first,
                            std::array<std::uint64_t, hops_together>& found) {
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    for (std::size_t x = rows.begin + i * rows.shift; x < rows.columns; ++x) {
      const unsigned hop = rows.values[i * rows.stride + x];
      if (hop == unreachable) continue;
      end = std::max(end, hop + 1);
      if (hop >= first && hop - first < found.size()) ++found[hop - first];
    }
  }
  return end;
}

TEST(WalkRows, CountHopsOnEveryInstructionSet) {
  constexpr std::size_t stride = 4096 + column_step;
  constexpr std::size_t count = 5;
  AlignedVector<std::uint8_t> values(count * stride);
  Random random(1);
  // Half of the bytes are one hop, so that counters of a few bits would overflow.
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 2 == 0 ? 9 : static_cast<std::uint8_t>(random.uniform() * 256);
  }
  const std::string before = current_target();
  for (const std::string& target : available_targets()) {
    use_target(target);
    for (const std::size_t columns : {0UL, 1UL, 15UL, 16UL, 63UL, 64UL, 65UL, 4097UL, stride}) {
      for (const std::size_t shift : {0UL, 1UL}) {
        for (const unsigned first : {0U, 16U, 240U}) {
          const HopRows rows{values.data(), stride, count, columns, shift * 63, shift};
          std::array<std::uint64_t, hops_together> found{5};
          std::array<std::uint64_t, hops_together> expected{5};
          const std::uint32_t end =
              walk_rows().count_hops(rows, static_cast<std::uint8_t>(first), found.data());
          EXPECT_EQ(end, count_plainly(rows, first, expected)) << target << " " << columns;
          EXPECT_EQ(found, expected) << target << " " << columns << " " << shift << " " << first;
        }
      }
    }
  }
  use_target(before);
}

}  // namespace
}  // namespace ngf::kernels
