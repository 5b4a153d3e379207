// A short row is sorted by counting, for each of its ids, how many are smaller: that is its place.
// No branch depends on the ids.

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sort_row.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/sort_row.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::CappedTag<NodeId, 16> id_tag;
using Ids = hn::Vec<decltype(id_tag)>;
constexpr std::size_t id_lanes = hn::MaxLanes(id_tag);
constexpr NodeId no_id = ~NodeId{0};

/// ranks[i] becomes the number of ids that are smaller than ids[i]. Both have room for `vectors`
/// whole vectors; what is behind the ids must be no smaller than they.
template <std::size_t vectors>
HWY_INLINE void rank_ids(const NodeId* ids, std::size_t length, NodeId* ranks) {
  Ids keys[vectors];
  Ids smaller[vectors];
  for (std::size_t j = 0; j < vectors; ++j) {
    keys[j] = hn::Load(id_tag, ids + j * id_lanes);
    smaller[j] = hn::Zero(id_tag);
  }
  const Ids one = hn::Set(id_tag, NodeId{1});
  for (std::size_t i = 0; i < length; ++i) {
    const Ids id = hn::Set(id_tag, ids[i]);
    for (std::size_t j = 0; j < vectors; ++j) {
      smaller[j] = hn::IfThenElse(hn::Lt(id, keys[j]), hn::Add(smaller[j], one), smaller[j]);
    }
  }
  for (std::size_t j = 0; j < vectors; ++j) {
    hn::Store(smaller[j], id_tag, ranks + j * id_lanes);
  }
}

/// Equal ids have equal ranks, and leave places behind theirs empty.
std::size_t place_repeated(const NodeId* ids, const NodeId* ranks, std::size_t length,
                           NodeId* into) {
  std::fill_n(into, length, no_id);
  for (std::size_t i = 0; i < length; ++i) into[ranks[i]] = ids[i];
  return static_cast<std::size_t>(std::remove(into, into + length, no_id) - into);
}

std::size_t sort_short_row(const NodeId* row, std::size_t length, NodeId* into) {
  alignas(64) NodeId ids[short_row];
  alignas(64) NodeId ranks[short_row];
  std::copy_n(row, length, ids);
  // As many lanes as the row needs, in quarters of the longest.
  constexpr std::size_t quarter = std::max<std::size_t>(1, short_row / 4 / id_lanes);
  const std::size_t needed = (length + quarter * id_lanes - 1) / (quarter * id_lanes);
  std::fill(ids + length, ids + std::min(short_row, needed * quarter * id_lanes), no_id);
  constexpr std::size_t most = short_row / (quarter * id_lanes);
  if (needed <= 1) {
    rank_ids<quarter>(ids, length, ranks);
  } else if (needed == 2 || most == 2) {
    rank_ids<2 * quarter>(ids, length, ranks);
  } else if (needed == 3) {
    rank_ids<most == 2 ? quarter : 3 * quarter>(ids, length, ranks);
  } else {
    rank_ids<most * quarter>(ids, length, ranks);
  }
  std::size_t sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    into[ranks[i]] = ids[i];
    sum += ranks[i];
  }
  // Ranks of distinct ids are 0, 1, 2, ...; repetitions make them less.
  if (2 * sum == length * (length - std::min<std::size_t>(length, 1))) return length;
  return place_repeated(ids, ranks, length, into);
}

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(sort_short_row);

std::size_t sort_short_row(const NodeId* row, std::size_t length, NodeId* into) {
  return HWY_DYNAMIC_DISPATCH(sort_short_row)(row, length, into);
}

}  // namespace ngf::kernels
#endif
