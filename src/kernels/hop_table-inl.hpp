// Tables of weights by hop that registers hold, on instruction sets that look many hops up at once.

// Highway compiles each file of kernels once per instruction set, and this with it.
#if defined(NGF_HOP_TABLE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef NGF_HOP_TABLE_INL
#undef NGF_HOP_TABLE_INL
#else
#define NGF_HOP_TABLE_INL
#endif

#include "kernels/vector-inl.hpp"

#undef NGF_TABLES_IN_REGISTERS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define NGF_TABLES_IN_REGISTERS 1
#else
#define NGF_TABLES_IN_REGISTERS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

/// Hops as places in a table, one in the low bits of each word.
template <typename Real>
using Places = hn::Vec<hn::RebindToUnsigned<Tag<Real>>>;

/// As many hops as there are numbers in a vector, in their order.
template <typename Real>
HWY_INLINE Places<Real> places_at(const std::uint8_t* hops) {
  const hn::Rebind<std::uint32_t, Tag<Real>> tag;
  const auto places = hn::PromoteTo(tag, hn::LoadU(hn::Rebind<std::uint8_t, Tag<Real>>(), hops));
  if constexpr (sizeof(Real) == 4) {
    return places;
  } else {
    return hn::PromoteTo(hn::RebindToUnsigned<Tag<Real>>(), places);
  }
}

#if NGF_TABLES_IN_REGISTERS

/// A line of hops, seen as words.
template <typename Real>
HWY_INLINE Places<Real> words_at(const std::uint8_t* hops) {
  const hn::RebindToUnsigned<Tag<Real>> tag;
  return hn::BitCast(tag, hn::LoadU(hn::Repartition<std::uint8_t, decltype(tag)>(), hops));
}

/// The next byte of each word.
template <typename Real>
HWY_INLINE Places<Real> next_byte(Places<Real> words) {
  return hn::ShiftRight<8>(words);
}

/// A table of one vector, which some processors look up faster, or of two. The last entry is left
/// to "farther", whose low bits are all set.
template <typename Real, std::size_t vectors = 2>
class Table {
 public:
  static constexpr std::size_t entries = vectors * lanes<Real>;
  static bool holds(std::size_t last_hop) { return last_hop + 1 < entries; }

  HWY_INLINE explicit Table(const Real* table)
      : low_(hn::LoadU(Tag<Real>(), table)),
        high_(hn::LoadU(Tag<Real>(), table + (vectors - 1) * lanes<Real>)) {}

  /// The processor looks at the low bits of a place alone.
  HWY_INLINE Wide<Real> at(Places<Real> places) const {
    if constexpr (vectors == 1 && sizeof(Real) == 4) {
      return Wide<Real>{_mm512_permutexvar_ps(places.raw, low_.raw)};
    } else if constexpr (vectors == 1) {
      return Wide<Real>{_mm512_permutexvar_pd(places.raw, low_.raw)};
    } else if constexpr (sizeof(Real) == 4) {
      return Wide<Real>{_mm512_permutex2var_ps(low_.raw, places.raw, high_.raw)};
    } else {
      return Wide<Real>{_mm512_permutex2var_pd(low_.raw, places.raw, high_.raw)};
    }
  }

 private:
  Wide<Real> low_;
  Wide<Real> high_;
};

#endif

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
