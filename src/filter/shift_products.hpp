#pragma once

#include <bit>
#include <utility>

#include "base/parallel.hpp"
#include "filter/costs.hpp"
#include "kernels/gemm.hpp"
#include "ngf/filter.hpp"

/// Polynomial filters on the rows of a shift that are here. `all_rows(x)` makes the signals of all
/// nodes of those of these rows: the same ones where all rows are here, gathered ones under MPI.
namespace ngf::filter {

/// Calls body(u) for each row u of signals with this number of columns, in parallel. Throws
/// Interrupted soon after `progress` asks to stop.
template <typename Body>
void for_each_row(std::size_t rows, Eigen::Index columns, int threads, const Progress* progress,
                  const Body& body) {
  using costs::shift_rows_at_once;
  constexpr std::size_t values_between = costs::values_between_questions;
  const std::size_t width =
      std::clamp<std::size_t>(static_cast<std::size_t>(columns), 1, values_between);
  const std::size_t mask = std::bit_floor(values_between / width) - 1;
  const std::size_t blocks = (rows + shift_rows_at_once - 1) / shift_rows_at_once;
  parallel_for(blocks, threads, [&](std::size_t block) {
    const std::size_t end = std::min(rows, (block + 1) * shift_rows_at_once);
    for (std::size_t u = block * shift_rows_at_once; u < end; ++u) {
      if ((u & mask) == 0) throw_if_stopped(progress);
      body(u);
    }
  });
}

/// y_u = own_scale(u) * own_u + scale * (sum over the entries of row u of value * x_column).
template <typename Real, typename OwnScale>
void sum_all_rows(const ValuedRows<Real>& rows, Real scale, const SignalsView<Real>& x,
                  const SignalsView<Real>& own, const OwnScale& own_scale, SignalsSlice<Real>& y,
                  int threads, const Progress* progress) {
  const auto sum_rows = kernels::row_kernels<Real>().sum_rows;
  for_each_row(rows.offsets.size() - 1, x.cols(), threads, progress, [&](std::size_t u) {
    const std::uint64_t begin = rows.offsets[u];
    sum_rows({.values = rows.values.data() + begin,
              // Signed numbers of the same size are what the kernel shares with sparse matrices.
              .columns = reinterpret_cast<const std::int32_t*>(rows.columns.data() + begin),
              .count = rows.offsets[u + 1] - begin,
              .b = x.data(),
              .stride = static_cast<std::size_t>(x.outerStride()),
              .scale = scale,
              .own = own.data() + u * static_cast<std::size_t>(own.outerStride()),
              .own_scale = own_scale(u)},
             static_cast<std::size_t>(x.cols()),
             y.data() + u * static_cast<std::size_t>(y.outerStride()));
  });
}

/// Multiplications and additions of a filter with this number of taps.
inline double shift_flops(const ShiftOperator& shift, std::size_t taps, std::int64_t width) {
  const auto products = static_cast<double>(taps - 1) * static_cast<double>(shift.entries());
  const auto own = static_cast<double>(taps) * static_cast<double>(shift.rows().count());
  return 2 * static_cast<double>(width) * (products + own);
}

template <typename Real, typename AllRows>
class ShiftProducts {
 public:
  ShiftProducts(const ShiftOperator& shift, const Taps& taps, AllRows all_rows, Progress* progress)
      : shift_(shift), taps_(taps), all_rows_(all_rows), progress_(progress) {}

  void apply(const SignalsView<Real>& x, SignalsSlice<Real>& y) const {
    if (!taps_.node_variant()) return sum_by_horner(false, x, y);
    // Taps of a node count where the sum is taken.
    write_times_taps(0, x, y);
    SignalsOf<Real> power = x;
    for (std::size_t k = 1; k < taps_.count(); ++k) {
      power = shifted(false, power);
      y += times_taps(k, power);
    }
  }

  void apply_transpose(const SignalsView<Real>& x, SignalsSlice<Real>& y) const {
    sum_by_horner(true, x, y);
  }

  /// The part of these rows in the gradient by the taps; the gradient by X into `by_input`.
  std::vector<double> gradients(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                SignalsSlice<Real>& by_input) const {
    std::vector<double> by_taps(taps_.values().size(), 0);
    if (taps_.node_variant()) {
      sum_by_horner(true, by_output, by_input);
      SignalsOf<Real> power = x;
      for (std::size_t k = 0; k < taps_.count(); ++k) {
        if (k > 0) power = shifted(false, power);
        add_products(k, by_output, power, by_taps);
      }
      return by_taps;
    }
    // <G, S^k X> = <S'^k G, X>, and S'^k G is what the gradient by X is made of.
    write_times_taps(0, by_output, by_input);
    add_products(0, x, by_output, by_taps);
    SignalsOf<Real> power;
    for (std::size_t k = 1; k < taps_.count(); ++k) {
      power = shifted(true, k == 1 ? SignalsOf<Real>(by_output) : power);
      by_input += times_taps(k, power);
      add_products(k, x, power, by_taps);
    }
    return by_taps;
  }

  /// S X or S' X of these rows.
  SignalsOf<Real> shifted(bool transposed, const SignalsOf<Real>& x) const {
    SignalsOf<Real> y = SignalsOf<Real>::Zero(shift_.rows().count(), x.cols());
    const auto& all = all_rows_(x);
    shift_.add_to<Real>(transposed, all, y, progress_);
    return y;
  }

 private:
  NodeId node(std::size_t row) const { return shift_.rows().begin + static_cast<NodeId>(row); }
  Real tap(std::size_t row, std::size_t k) const { return static_cast<Real>(taps_(node(row), k)); }

  /// (h_0 + S (h_1 + S (h_2 + ...))) x, with the taps next to x.
  void sum_by_horner(bool transposed, const SignalsView<Real>& x, SignalsSlice<Real>& y) const {
    const std::size_t last = taps_.count() - 1;
    if (last == 0) return write_times_taps(0, x, y);
    SignalsOf<Real> between(last > 1 || taps_.node_variant() ? x.rows() : 0, x.cols());
    SignalsSlice<Real> room(between);
    // The last sum is written to y.
    SignalsSlice<Real>* to = last % 2 == 1 ? &y : &room;
    SignalsSlice<Real>* from = last % 2 == 1 ? &room : &y;
    if (taps_.node_variant()) write_times_taps(last, x, *from);
    const auto rows = shift_.values<Real>(transposed);
    for (std::size_t k = last; k-- > 0;) {
      const auto own_tap = [&](std::size_t row) { return tap(row, k); };
      const bool first = k + 1 == last && !taps_.node_variant();
      const Real scale = first ? tap(0, last) : Real{1};
      const SignalsView<Real> own = first ? x : SignalsView<Real>(*from);
      const auto& all = all_rows_(own);
      sum_all_rows<Real>(rows, scale, all, x, own_tap, *to, shift_.threads(), progress_);
      std::swap(to, from);
    }
  }

  /// y_u = x_u times what the taps of u say of hop k.
  void write_times_taps(std::size_t k, const SignalsView<Real>& x, SignalsSlice<Real>& y) const {
    const auto rows = static_cast<std::size_t>(x.rows());
    for_each_row(rows, x.cols(), shift_.threads(), progress_, [&](std::size_t u) {
      const auto row = static_cast<Eigen::Index>(u);
      y.row(row) = tap(u, k) * x.row(row);
    });
  }

  SignalsOf<Real> times_taps(std::size_t k, const SignalsOf<Real>& x) const {
    SignalsOf<Real> result(x.rows(), x.cols());
    SignalsSlice<Real> slice(result);
    write_times_taps(k, x, slice);
    return result;
  }

  /// Adds <g_u, z_u> to the entry of each node's group and hop k.
  void add_products(std::size_t k, const SignalsView<Real>& g, const SignalsView<Real>& z,
                    std::vector<double>& sums) const {
    for (Eigen::Index u = 0; u < g.rows(); ++u) {
      const std::size_t group = taps_.group(node(static_cast<std::size_t>(u)));
      sums[group * taps_.count() + k] += static_cast<double>(g.row(u).dot(z.row(u)));
    }
  }

  const ShiftOperator& shift_;
  const Taps& taps_;
  AllRows all_rows_;
  Progress* progress_;
};

}  // namespace ngf::filter
