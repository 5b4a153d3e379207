// The levels of the bit-parallel walk, written once for every instruction set.
//
// A level is pulled: seen'[v] = seen[v] | OR over neighbours u of seen[u], 64 bytes at a time. What
// is new in seen'[v] has distance `level` from v. Distances are kept as bit planes in Gray code,
// where consecutive numbers differ in one bit: a source that is still on its way to v moves from
// one number to the next by toggling one plane, and one that has arrived is left alone. So a visit
// costs one more line, however long the numbers are.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bit_walk.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "kernels/bit_walk.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::CappedTag<std::uint64_t, 8> line_tag;
using LineTag = decltype(line_tag);
using Part = hn::Vec<LineTag>;
constexpr std::size_t part_words = hn::MaxLanes(line_tag);
constexpr std::size_t parts = 8 / part_words;

/// A line in registers.
struct Wide {
  Part part[parts];
};

template <typename Function>
HWY_INLINE Wide each_part(const Function& function) {
  Wide result;
  for (std::size_t i = 0; i < parts; ++i) result.part[i] = function(i);
  return result;
}

HWY_INLINE Wide load(const Line& line) {
  return each_part([&](std::size_t i) { return hn::Load(line_tag, &line.words[i * part_words]); });
}
HWY_INLINE void store(const Wide& wide, Line& line) {
  for (std::size_t i = 0; i < parts; ++i) {
    hn::Store(wide.part[i], line_tag, &line.words[i * part_words]);
  }
}
HWY_INLINE Wide operator|(const Wide& a, const Wide& b) {
  return each_part([&](std::size_t i) { return hn::Or(a.part[i], b.part[i]); });
}
HWY_INLINE Wide operator&(const Wide& a, const Wide& b) {
  return each_part([&](std::size_t i) { return hn::And(a.part[i], b.part[i]); });
}
HWY_INLINE Wide operator^(const Wide& a, const Wide& b) {
  return each_part([&](std::size_t i) { return hn::Xor(a.part[i], b.part[i]); });
}
HWY_INLINE Wide without(const Wide& a, const Wide& b) {
  return each_part([&](std::size_t i) { return hn::AndNot(b.part[i], a.part[i]); });
}
HWY_INLINE Wide filled(bool ones) {
  return each_part([&](std::size_t /*i*/) {
    return hn::Set(line_tag, ones ? ~std::uint64_t{0} : std::uint64_t{0});
  });
}
HWY_INLINE bool is_zero(const Wide& a) {
  Part any = a.part[0];
  for (std::size_t i = 1; i < parts; ++i) any = hn::Or(any, a.part[i]);
  return hn::AllTrue(line_tag, hn::Eq(any, hn::Zero(line_tag)));
}
HWY_INLINE bool equal(const Wide& a, const Wide& b) { return is_zero(a ^ b); }
HWY_INLINE Part count_bits(const Wide& a) {
  Part sum = hn::PopulationCount(a.part[0]);
  for (std::size_t i = 1; i < parts; ++i) sum = hn::Add(sum, hn::PopulationCount(a.part[i]));
  return sum;
}

constexpr std::uint32_t gray(std::uint32_t number) { return number ^ (number >> 1); }

/// Moves the numbers of all sources that had not reached v before this level on to this level.
HWY_INLINE void advance_planes(const Level& level, NodeId v, const Wide& before) {
  const std::uint32_t changed = gray(level.number) ^ gray(level.number - 1);
  Line& plane = level.planes[std::countr_zero(changed)][v];
  store(load(plane) ^ without(filled(true), before), plane);
}

/// The same for a node that no source had reached.
HWY_INLINE void start_planes(const Level& level, NodeId v) {
  const std::uint32_t code = gray(level.number);
  for (std::uint32_t j = 0; j < level.plane_count; ++j) {
    store(filled((code >> j & 1U) != 0), level.planes[j][v]);
  }
}

/// The sources that v has seen on at least 1, 2, ... paths.
template <std::size_t paths>
struct Seen {
  Wide on[paths];
};

template <std::size_t paths>
HWY_INLINE Seen<paths> load_seen(const Level& level, NodeId v) {
  Seen<paths> seen;
  for (std::size_t m = 0; m < paths; ++m) seen.on[m] = load(level.seen[m][v]);
  return seen;
}

/// Adds numbers of paths, which saturate.
template <std::size_t paths>
HWY_INLINE Seen<paths> operator+(const Seen<paths>& a, const Seen<paths>& b) {
  Seen<paths> sum;
  sum.on[0] = a.on[0] | b.on[0];
  if constexpr (paths > 1) sum.on[1] = (a.on[1] | b.on[1]) | (a.on[0] & b.on[0]);
  if constexpr (paths > 2) {
    sum.on[2] = (a.on[2] | b.on[2]) | ((a.on[1] & b.on[0]) | (a.on[0] & b.on[1]));
  }
  return sum;
}

template <std::size_t paths>
HWY_INLINE Seen<paths> seen_by(const Level& level, const NodeId* u) {
  return (load_seen<paths>(level, u[0]) + load_seen<paths>(level, u[1])) +
         (load_seen<paths>(level, u[2]) + load_seen<paths>(level, u[3]));
}

/// What the neighbours of v have seen. A long row is cut short when, with what v has seen itself,
/// that is all there is to see: often so on the last levels, and hardly ever on the others.
template <RowClass row_class, std::size_t paths>
HWY_INLINE Seen<paths> gather_seen(const Level& level, NodeId v, const Wide& before,
                                   const Wide& all) {
  const NodeId* u = level.sources + level.offsets[v];
  Seen<paths> sum = seen_by<paths>(level, u);
  if constexpr (row_class == more_steps) {
    const NodeId* const end = level.sources + level.offsets[v + std::size_t{1}];
    for (u += row_step; u != end; u += row_step) {
      if (equal(before | sum.on[paths - 1], all)) return sum;
      sum = sum + seen_by<paths>(level, u);
    }
  } else {
    constexpr std::size_t steps = row_class + 1;
    if (steps > 2 && equal(before | sum.on[paths - 1], all)) return sum;
    for (std::size_t step = 1; step < steps; ++step) {
      sum = sum + seen_by<paths>(level, u + step * row_step);
    }
  }
  return sum;
}

/// What is added up over the visits of a level: all that arrived where planes are kept, which only
/// must not be nothing, and how much it is where not.
template <bool with_planes>
HWY_INLINE Part add_arrived(Part sum, const Wide& arrived) {
  if constexpr (!with_planes) return hn::Add(sum, count_bits(arrived));
  for (std::size_t i = 0; i < parts; ++i) sum = hn::Or(sum, arrived.part[i]);
  return sum;
}

/// Asks for the lines of a visit that comes soon after visit i.
template <RowClass row_class>
HWY_INLINE void prefetch_visit(const Level& level, const Visits& visits, std::size_t i) {
  constexpr std::size_t ahead = 10;
  constexpr std::size_t length = row_step * std::min<std::size_t>(row_class + 1, four_steps);
  if (i + ahead >= visits.count) return;
  const NodeId v = visits.nodes[i + ahead];
  const NodeId* const u = level.sources + level.offsets[v];
  hwy::Prefetch(&level.seen[0][v]);
  for (std::size_t k = 0; k < length; ++k) hwy::Prefetch(&level.seen[0][u[k]]);
}

/// Visits nodes of one class. No branch depends on what was seen.
template <RowClass row_class, std::size_t paths, bool with_planes>
HWY_INLINE void pull_class(Level& level, Part& reached, Part& counted) {
  Visits& visits = level.visits[row_class];
  std::size_t left = 0;
  std::size_t finished_count = level.finished_count;
  const Wide all_of_one = load(level.reach[0]);
  const auto visit = [&](std::size_t i, bool first) HWY_ATTR {
    const NodeId v = visits.nodes[i];
    const Wide before = first ? filled(false) : load(level.seen[0][v]);
    const Wide all =
        level.component != nullptr ? load(level.reach[level.component[v]]) : all_of_one;
    const auto around = gather_seen<row_class, paths>(level, v, before, all);
    const Wide after = before | around.on[0];
    store(after, level.seen_next[0][v]);
    for (std::size_t m = 1; m < paths; ++m) {
      const Wide arrived = without(around.on[m], before);
      store(first ? arrived : load(level.seen[m][v]) | arrived, level.seen_next[m][v]);
    }
    reached = add_arrived<with_planes>(reached, after ^ before);
    if constexpr (paths > 1 && !with_planes) {
      counted = add_arrived<with_planes>(counted, without(around.on[paths - 1], before));
    }
    if constexpr (with_planes) {
      if (first) {
        start_planes(level, v);
      } else {
        advance_planes(level, v, before);
      }
    }
    const bool done = equal(after, all);
    visits.nodes[left] = v;
    left += done ? 0 : 1;
    level.finished[finished_count] = v;
    finished_count += done ? 1 : 0;
  };
  for (std::size_t i = 0; i < visits.newest; ++i) {
    if (level.prefetch) prefetch_visit<row_class>(level, visits, i);
    visit(i, false);
  }
  for (std::size_t i = visits.newest; i < visits.count; ++i) visit(i, true);
  visits.count = left;
  level.finished_count = finished_count;
}

template <std::size_t paths, bool with_planes>
LevelResult pull(Level& level) {
  // Those that finished on the last level: now both arrays hold all that they see.
  const std::size_t finished_before = level.finished_count;
  for (std::size_t i = 0; i < finished_before; ++i) {
    const NodeId v = level.finished[i];
    for (std::size_t m = 0; m < paths; ++m) store(load(level.seen[m][v]), level.seen_next[m][v]);
  }
  level.finished_count = 0;
  Part reached = hn::Zero(line_tag);
  Part counted = hn::Zero(line_tag);
  pull_class<one_step, paths, with_planes>(level, reached, counted);
  pull_class<two_steps, paths, with_planes>(level, reached, counted);
  pull_class<three_steps, paths, with_planes>(level, reached, counted);
  pull_class<four_steps, paths, with_planes>(level, reached, counted);
  pull_class<more_steps, paths, with_planes>(level, reached, counted);
  LevelResult result;
  if constexpr (with_planes) {
    result.reached = hn::AllTrue(line_tag, hn::Eq(reached, hn::Zero(line_tag))) ? 0 : 1;
  } else {
    result.reached = hn::GetLane(hn::SumOfLanes(line_tag, reached));
    // One path to a neighbour is enough.
    const bool all_count = paths == 1 || level.number < 2;
    result.counted = all_count ? result.reached : hn::GetLane(hn::SumOfLanes(line_tag, counted));
  }
  return result;
}

template <bool with_planes>
LevelResult pull_on_paths(Level& level) {
  switch (level.min_paths) {
    case 1:
      return pull<1, with_planes>(level);
    case 2:
      return pull<2, with_planes>(level);
    default:
      return pull<3, with_planes>(level);
  }
}

LevelResult pull_level(Level& level) {
  return level.planes != nullptr ? pull_on_paths<true>(level) : pull_on_paths<false>(level);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(pull_level);

LevelResult pull_level(Level& level) { return HWY_DYNAMIC_DISPATCH(pull_level)(level); }

}  // namespace ngf::kernels
#endif
