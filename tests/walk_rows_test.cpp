#include "kernels/walk_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/target.hpp"
#include "ngf/random.hpp"

namespace ngf::kernels {
namespace {

TEST(WalkRows, CountHopsOnEveryInstructionSet) {
  // More than 255 vectors of any size, so that counters of one byte would overflow.
  std::vector<std::uint8_t> row(40'000, 9);
  Random random(1);
  for (std::size_t i = 0; i < row.size(); i += 2) {
    row[i] = static_cast<std::uint8_t>(random.uniform() * 256);
  }
  const std::string before = current_target();
  for (const std::string& target : available_targets()) {
    use_target(target);
    for (const std::size_t count : {0UL, 1UL, 15UL, 16UL, 63UL, 64UL, 65UL, 4097UL, row.size()}) {
      for (const unsigned first : {0U, 4U, 8U, 248U}) {
        std::array<std::uint64_t, hops_together> found{};
        found[0] = 5;
        walk_rows().count_hops(row.data(), count, static_cast<std::uint8_t>(first), found.data());
        for (std::size_t i = 0; i < found.size(); ++i) {
          const auto end = row.begin() + static_cast<std::ptrdiff_t>(count);
          const auto expected = std::count(row.begin(), end, first + i) + (i == 0 ? 5 : 0);
          EXPECT_EQ(found[i], static_cast<std::uint64_t>(expected)) << target << " " << count;
        }
      }
    }
  }
  use_target(before);
}

}  // namespace
}  // namespace ngf::kernels
