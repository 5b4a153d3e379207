// The inner loops of filters on lists, written once for every instruction set.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lists.cpp"
#include <hwy/foreach_target.h>
// Highway asks for this order.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "kernels/lists.hpp"
#include "kernels/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ngf::kernels::HWY_NAMESPACE {

/// Vectors in a line.
template <typename Real>
constexpr std::size_t parts = columns_in_line<Real> / lanes<Real>;

/// One lane, for the columns that do not fill a vector. Results are bit-identical to those in a
/// vector.
template <typename Real>
using Single = hn::CappedTag<Real, 1>;

template <std::size_t vectors, typename Vector>
HWY_INLINE void set_zero(Vector tag, hn::Vec<Vector>* sum) {
  for (std::size_t j = 0; j < vectors; ++j) sum[j] = hn::Zero(tag);
}
template <std::size_t vectors, typename Vector, typename Real>
HWY_INLINE void store_all(Vector tag, const hn::Vec<Vector>* sum, Real* to) {
  for (std::size_t j = 0; j < vectors; ++j) hn::StoreU(sum[j], tag, to + j * hn::MaxLanes(tag));
}

/// The factors of the columns of a shell: of a node wherever it is listed, and of a place in the
/// list.
template <bool by_node, bool by_place, typename Real>
struct ColumnFactors {
  const Real* right;
  const float* values;

  HWY_INLINE Real times(Real scale, std::size_t place, std::size_t v) const {
    Real result = scale;
    if constexpr (by_node) result *= right[v];
    if constexpr (by_place) result *= static_cast<Real>(values[place]);
    return result;
  }
};

/// sum += scale * (sum over the columns v at places `begin` to `end` of their factors * x_v), for
/// `vectors` vectors in registers. Rows of x are `x_stride` apart.
template <std::size_t vectors, typename Vector, typename Column, typename Real, typename Factors>
HWY_INLINE void add_columns(Vector tag, const Column* columns, std::size_t begin, std::size_t end,
                            Real scale, const Factors& factors, const Real* x, std::size_t x_stride,
                            hn::Vec<Vector>* sum) {
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t v = columns[i];
    const auto factor = hn::Set(tag, factors.times(scale, i, v));
    const Real* const row = x + v * x_stride;
    for (std::size_t j = 0; j < vectors; ++j) {
      sum[j] = hn::MulAdd(factor, hn::LoadU(tag, row + j * hn::MaxLanes(tag)), sum[j]);
    }
  }
}

/// The same for `count` columns, which are many: in two sums, since each addition waits for the one
/// before it.
template <std::size_t vectors, typename Vector, typename Column, typename Real, typename Factors>
HWY_INLINE void add_many_columns(Vector tag, const Column* columns, std::size_t count, Real scale,
                                 const Factors& factors, const Real* x, std::size_t x_stride,
                                 hn::Vec<Vector>* sum) {
  hn::Vec<Vector> other[vectors];
  set_zero<vectors>(tag, other);
  for (std::size_t i = 0; i + 2 <= count; i += 2) {
    add_columns<vectors>(tag, columns, i, i + 1, scale, factors, x, x_stride, sum);
    add_columns<vectors>(tag, columns, i + 1, i + 2, scale, factors, x, x_stride, other);
  }
  if (count % 2 == 1) {
    add_columns<vectors>(tag, columns, count - 1, count, scale, factors, x, x_stride, sum);
  }
  for (std::size_t j = 0; j < vectors; ++j) sum[j] = hn::Add(sum[j], other[j]);
}

/// <sum, g>, still to be added up over the lanes, on top of `products`.
template <std::size_t vectors, typename Vector, typename Real>
HWY_INLINE hn::Vec<Vector> add_products(Vector tag, const hn::Vec<Vector>* sum, const Real* g,
                                        hn::Vec<Vector> products) {
  for (std::size_t j = 0; j < vectors; ++j) {
    products = hn::MulAdd(sum[j], hn::LoadU(tag, g + j * hn::MaxLanes(tag)), products);
  }
  return products;
}

template <typename Vector>
HWY_INLINE double over_lanes(Vector tag, hn::Vec<Vector> products) {
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(tag, products)));
}

/// What all rows of a call have in common: whether they have many columns, whether columns may have
/// factors, whether they have values, and whether dots are wanted.
template <bool many_, bool weighted_, bool valued_, bool dotted_>
struct RowKind {
  static constexpr bool many = many_;
  static constexpr bool weighted = weighted_;
  static constexpr bool valued = valued_;
  static constexpr bool dotted = dotted_;
};

/// The columns of a row at one hop, and their factors; null stands for ones.
template <typename Column, typename Real>
struct ListedShell {
  const Column* columns;
  std::size_t count;
  Real scale;
  const Real* right;
  const float* values;
};

/// total += scale * (the sum over the columns v of their factors * x_v), where that is called for;
/// with dots, *dot grows by <g, that sum>.
template <std::size_t vectors, typename Kind, typename Vector, typename Column, typename Real>
HWY_INLINE void add_shell(Vector tag, const ListedShell<Column, Real>& shell, const Real* x,
                          std::size_t x_stride, const Real* g, double* dot,
                          hn::Vec<Vector>* total) {
  const auto add = [&](Real factor, hn::Vec<Vector>* sum) HWY_ATTR {
    const auto add_all = [&]<bool by_node, bool by_place>() HWY_ATTR {
      const ColumnFactors<by_node, by_place, Real> factors{shell.right, shell.values};
      if constexpr (Kind::many) {
        add_many_columns<vectors>(tag, shell.columns, shell.count, factor, factors, x, x_stride,
                                  sum);
      } else {
        add_columns<vectors>(tag, shell.columns, 0, shell.count, factor, factors, x, x_stride, sum);
      }
    };
    const auto add_by_place = [&]<bool by_place>() HWY_ATTR {
      if (Kind::weighted && shell.right != nullptr) {
        add_all.template operator()<Kind::weighted, by_place>();
      } else {
        add_all.template operator()<false, by_place>();
      }
    };
    if (Kind::valued && shell.values != nullptr) {
      add_by_place.template operator()<Kind::valued>();
    } else {
      add_by_place.template operator()<false>();
    }
  };
  if constexpr (Kind::dotted) {
    hn::Vec<Vector> sum[vectors];
    set_zero<vectors>(tag, sum);
    add(Real{1}, sum);
    *dot += over_lanes(tag, add_products<vectors>(tag, sum, g, hn::Zero(tag)));
    for (std::size_t j = 0; j < vectors; ++j) {
      total[j] = hn::MulAdd(hn::Set(tag, shell.scale), sum[j], total[j]);
    }
  } else {
    if (shell.scale != Real{0}) add(shell.scale, total);
  }
}

/// Calls add(k, columns, count, values) for each hop k of a row, values being null where it has
/// none.
template <typename Row, typename Add>
HWY_INLINE void for_each_hop(const Row& row, std::size_t hops, const Add& add) {
  add(0, &row.node, 1, static_cast<const float*>(nullptr));
  for (std::size_t k = 1; k <= hops; ++k) {
    const std::size_t begin = row.places[k - 1];
    const float* const values =
        row.values == nullptr ? nullptr : row.values + (begin - row.places[0]);
    add(k, row.columns + begin, row.places[k] - begin, values);
  }
}

template <std::size_t lines, typename Kind, typename Column, typename Real>
HWY_INLINE void sum_lines(const ListedRow<Column, Real>& row, const Real* x, Real* to) {
  constexpr std::size_t vectors = lines * parts<Real>;
  constexpr std::size_t stride = vectors * lanes<Real>;
  const Tag<Real> tag;
  Wide<Real> total[vectors];
  set_zero<vectors>(tag, total);
  for_each_hop(
      row, row.hops,
      [&]<typename Id>(std::size_t k, const Id* columns, std::size_t count, const float* values)
          HWY_ATTR {
            const ListedShell<Id, Real> shell{columns, count, row.scale[k], row.right[k], values};
            add_shell<vectors, Kind>(tag, shell, x, stride, row.g,
                                     Kind::dotted ? row.dots + k : nullptr, total);
          });
  store_all<vectors>(tag, total, to);
}

/// For signals of one column. Several sums, since each addition waits for the one before it;
/// instructions that gather values take longer.
template <bool valued, typename Column, typename Real>
HWY_INLINE Real sum_plainly(const Column* columns, std::size_t count, const Real* right,
                            const float* values, const Real* x) {
  Real sums[4] = {};
  std::size_t i = 0;
  const auto value = [&](std::size_t at) HWY_ATTR {
    const Column v = columns[at];
    const Real listed = right != nullptr ? right[v] * x[v] : x[v];
    if constexpr (valued) {
      return static_cast<Real>(values[at]) * listed;
    } else {
      return listed;
    }
  };
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j) sums[j] += value(i + j);
  }
  for (; i < count; ++i) sums[0] += value(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename Column, typename Real>
HWY_INLINE void sum_single(const ListedRow<Column, Real>& row, const Real* x, Real* to) {
  Real total = 0;
  for_each_hop(
      row, row.hops,
      [&](std::size_t k, const auto* columns, std::size_t count, const float* values) HWY_ATTR {
        if (k > 0 && row.scale[k] == Real{0} && row.g == nullptr) return;
        const Real sum = values != nullptr
                             ? sum_plainly<true>(columns, count, row.right[k], values, x)
                             : sum_plainly<false>(columns, count, row.right[k], values, x);
        if (row.g != nullptr) row.dots[k] += static_cast<double>(sum * *row.g);
        total += row.scale[k] * sum;
      });
  *to = total;
}

template <std::size_t lines, typename Column, typename Real>
HWY_INLINE void sum_lines_of_kind(const ListedRow<Column, Real>& row, const Real* x, Real* to) {
  const auto sum = [&]<bool valued>() HWY_ATTR {
    if (row.g != nullptr) {
      sum_lines<lines, RowKind<true, true, valued, true>>(row, x, to);
    } else {
      sum_lines<lines, RowKind<true, true, valued, false>>(row, x, to);
    }
  };
  if (row.values != nullptr) {
    sum.template operator()<true>();
  } else {
    sum.template operator()<false>();
  }
}

template <typename Column, typename Real>
void sum_listed(const ListedRow<Column, Real>& row, const Real* x, std::size_t lines, Real* to) {
  switch (lines) {
    case 0:
      return sum_single(row, x, to);
    case 1:
      return sum_lines_of_kind<1>(row, x, to);
    case 2:
      return sum_lines_of_kind<2>(row, x, to);
    case 4:
      return sum_lines_of_kind<4>(row, x, to);
    default:
      return sum_lines_of_kind<most_sum_lines>(row, x, to);
  }
}

/// The dots of a row with `g`, by hop: added up over the lanes at last, since segments are short.
template <typename Real>
class DotsByHop {
 public:
  template <std::size_t vectors>
  HWY_INLINE void add(std::uint8_t hop, const Wide<Real>* sum, const Real* g) {
    const std::uint64_t bit = std::uint64_t{1} << hop;
    const auto before = (seen_ & bit) != 0 ? hn::LoadU(tag_, place(hop)) : hn::Zero(tag_);
    hn::StoreU(add_products<vectors>(tag_, sum, g, before), tag_, place(hop));
    seen_ |= bit;
  }
  HWY_INLINE void add_to(double* dots) {
    for (std::uint64_t left = seen_; left != 0; left &= left - 1) {
      const auto hop = static_cast<std::size_t>(std::countr_zero(left));
      dots[hop] += over_lanes(tag_, hn::LoadU(tag_, place(hop)));
    }
  }

 private:
  static constexpr Tag<Real> tag_{};
  HWY_INLINE Real* place(std::size_t hop) { return products_ + hop * lanes<Real>; }

  std::uint64_t seen_ = 0;  // hops that there were; of others nothing is set
  Real products_[(most_paired_hops + 1) * lanes<Real>];
};

template <std::size_t lines, bool weighted, typename Column, typename Real>
HWY_INLINE void sum_pair_lines(const PairedRows<Column, Real>& rows, const Real* x, bool add) {
  constexpr std::size_t vectors = lines * parts<Real>;
  constexpr std::size_t stride = vectors * lanes<Real>;
  const Tag<Real> tag;
  Wide<Real> total[2][vectors];
  for (std::size_t side = 0; side < 2; ++side) {
    for (std::size_t j = 0; j < vectors; ++j) {
      total[side][j] = add ? hn::LoadU(tag, rows.to[side] + j * lanes<Real>) : hn::Zero(tag);
    }
  }
  const bool dotted = rows.g[0] != nullptr;
  DotsByHop<Real> dots[2];
  const auto use = [&](const Wide<Real>* sum, std::size_t side, std::uint8_t hop) HWY_ATTR {
    if (hop == no_hop) return;
    const auto scale = hn::Set(tag, rows.scale[side][hop]);
    for (std::size_t j = 0; j < vectors; ++j) {
      total[side][j] = hn::MulAdd(scale, sum[j], total[side][j]);
    }
    if (dotted) dots[side].template add<vectors>(hop, sum, rows.g[side]);
  };
  std::uint32_t begin = rows.begin;
  for (const Segment& segment : rows.segments) {
    const Column* const columns = rows.columns + begin;
    const std::size_t count = segment.end - begin;
    begin = segment.end;
    const bool counts =
        rows.scale_of(0, segment.first) != 0 || rows.scale_of(1, segment.second) != 0;
    if (!counts && !dotted) continue;
    Wide<Real> sum[vectors];
    const auto sum_up = [&]<bool by_right>(const Real* right) HWY_ATTR {
      const ColumnFactors<by_right, false, Real> factors{right, nullptr};
      set_zero<vectors>(tag, sum);
      add_many_columns<vectors>(tag, columns, count, Real{1}, factors, x, stride, sum);
    };
    if constexpr (weighted) {
      const auto sum_for = [&](std::size_t side, std::uint8_t hop) HWY_ATTR {
        if (hop == no_hop) return;
        if (rows.right[hop] != nullptr) {
          sum_up.template operator()<true>(rows.right[hop]);
        } else {
          sum_up.template operator()<false>(nullptr);
        }
        use(sum, side, hop);
      };
      sum_for(0, segment.first);
      if (segment.first == segment.second) {
        use(sum, 1, segment.second);
      } else {
        sum_for(1, segment.second);
      }
    } else {
      sum_up.template operator()<false>(nullptr);
      use(sum, 0, segment.first);
      use(sum, 1, segment.second);
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    store_all<vectors>(tag, total[side], rows.to[side]);
    if (dotted) dots[side].add_to(rows.dots[side]);
  }
}

template <typename Column, typename Real>
void sum_paired(const PairedRows<Column, Real>& rows, const Real* x, std::size_t lines, bool add) {
  const auto sum_all = [&]<bool weighted>() HWY_ATTR {
    switch (lines) {
      case 1:
        return sum_pair_lines<1, weighted>(rows, x, add);
      case 2:
        return sum_pair_lines<2, weighted>(rows, x, add);
      default:
        return sum_pair_lines<4, weighted>(rows, x, add);
    }
  };
  if (rows.weighted) {
    sum_all.template operator()<true>();
  } else {
    sum_all.template operator()<false>();
  }
}

/// Columns f to f + `vectors` vectors of a row.
template <std::size_t vectors, typename Kind, typename Vector, typename Column, typename Real>
HWY_INLINE void sum_short(Vector tag, const ShortRows<Column, Real>& rows, std::size_t at,
                          const Real* x, std::size_t x_stride, std::size_t f, Real* to) {
  const auto& row = rows.rows[at];
  hn::Vec<Vector> total[vectors];
  set_zero<vectors>(tag, total);
  const Real* g = nullptr;
  double* dots = nullptr;
  if constexpr (Kind::dotted) {
    g = rows.g + (row.node - rows.first) * rows.g_stride + f;
    dots = rows.dots + (row.node - rows.first) * (rows.hops + 1);
  }
  for_each_hop(row, rows.hops,
               [&]<typename Id>(std::size_t k, const Id* columns, std::size_t count,
                                const float* values) HWY_ATTR {
                 const ListedShell<Id, Real> shell{columns, count, rows.scale_of(k, row.node),
                                                   rows.right[k], values};
                 add_shell<vectors, Kind>(tag, shell, x + f, x_stride, g,
                                          Kind::dotted ? dots + k : nullptr, total);
               });
  store_all<vectors>(tag, total, to + f);
}

/// Columns f, f + `vectors` vectors, ... of the rows from `begin` to `end`, as long as whole groups
/// of `vectors` are left; f is then where the rest begins.
template <std::size_t vectors, typename Kind, typename Vector, typename Column, typename Real>
HWY_INLINE void sum_groups(Vector tag, const ShortRows<Column, Real>& rows, std::size_t begin,
                           std::size_t end, const Real* x, std::size_t x_stride, std::size_t width,
                           Real* y, std::size_t y_stride, std::size_t& f) {
  constexpr std::size_t group = vectors * hn::MaxLanes(tag);
  for (; f + group <= width; f += group) {
    for (std::size_t at = begin; at < end; ++at) {
      sum_short<vectors, Kind>(tag, rows, at, x, x_stride, f,
                               y + (rows.rows[at].node - rows.first) * y_stride);
    }
  }
}

/// Asks for the lists of rows soon to come: they follow in the order of a search, not of memory.
template <typename Column, typename Real>
HWY_INLINE void prefetch_lists(const ShortRows<Column, Real>& rows, std::size_t at) {
  constexpr std::size_t soon = 3;
  constexpr std::size_t line = 64 / sizeof(Column);
  if (at + 2 * soon < rows.count) hwy::Prefetch(rows.rows[at + 2 * soon].places);
  if (at + soon < rows.count) {
    const auto& row = rows.rows[at + soon];
    hwy::Prefetch(row.columns + row.places[0]);
    if (row.places[rows.hops] - row.places[0] > line) {
      hwy::Prefetch(row.columns + row.places[0] + line);
    }
  }
}

/// All columns: of wide signals row by row, so that all of a row of x is used while it is near, of
/// narrow ones group by group, since loops over groups would take as long as the groups.
template <typename Kind, typename Column, typename Real>
HWY_INLINE void sum_each_short(const ShortRows<Column, Real>& rows, const Real* x,
                               std::size_t x_stride, std::size_t width, Real* y,
                               std::size_t y_stride) {
  const Tag<Real> tag;
  const std::size_t step = width >= 4 * lanes<Real> ? 1 : rows.count;
  for (std::size_t begin = 0; begin < rows.count; begin += step) {
    const std::size_t end = begin + step;
    std::size_t f = 0;
    if (step == 1) prefetch_lists(rows, begin);
    sum_groups<8, Kind>(tag, rows, begin, end, x, x_stride, width, y, y_stride, f);
    sum_groups<4, Kind>(tag, rows, begin, end, x, x_stride, width, y, y_stride, f);
    sum_groups<1, Kind>(tag, rows, begin, end, x, x_stride, width, y, y_stride, f);
    sum_groups<1, Kind>(Single<Real>(), rows, begin, end, x, x_stride, width, y, y_stride, f);
  }
}

template <typename Column, typename Real>
void sum_all_short(const ShortRows<Column, Real>& rows, const Real* x, std::size_t x_stride,
                   std::size_t width, Real* y, std::size_t y_stride) {
  const bool weighted = std::any_of(rows.right, rows.right + rows.hops + 1,
                                    [](const Real* right) { return right != nullptr; });
  const auto sum_each = [&](auto kind) HWY_ATTR {
    sum_each_short<decltype(kind)>(rows, x, x_stride, width, y, y_stride);
  };
  if (rows.count > 0 && rows.rows[0].values != nullptr) {
    if (rows.g != nullptr) {
      sum_each(RowKind<false, true, true, true>());
    } else {
      sum_each(RowKind<false, true, true, false>());
    }
  } else if (rows.g != nullptr) {
    // Dots take longer than the question.
    sum_each(RowKind<false, true, false, true>());
  } else if (weighted) {
    sum_each(RowKind<false, true, false, false>());
  } else {
    sum_each(RowKind<false, false, false, false>());
  }
}

template <typename Column, typename Real>
constexpr ListKernels<Column, Real> kernels_of{sum_listed<Column, Real>, sum_paired<Column, Real>,
                                               sum_all_short<Column, Real>};
constexpr AllListKernels all_list_kernels{
    kernels_of<std::uint16_t, float>, kernels_of<std::uint32_t, float>,
    kernels_of<std::uint16_t, double>, kernels_of<std::uint32_t, double>};
const AllListKernels& list_kernels_here() { return all_list_kernels; }

}  // namespace ngf::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ngf::kernels {

HWY_EXPORT(list_kernels_here);

const AllListKernels& all_list_kernels() { return HWY_DYNAMIC_DISPATCH(list_kernels_here)(); }

}  // namespace ngf::kernels
#endif
