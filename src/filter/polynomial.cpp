#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "filter/checks.hpp"
#include "kernels/gemm.hpp"
#include "ngf/spectrum.hpp"

namespace ngf {

namespace {

/// Rows that a thread takes at a time.
constexpr std::size_t rows_at_once = 64;

/// Calls body(u) for each row u of signals with this number of columns, in parallel. Throws
/// Interrupted soon after the shift's progress asks to stop.
template <typename Body>
void for_each_row(std::size_t rows, Eigen::Index columns, const ShiftOperator& shift,
                  const Body& body) {
  // To ask takes longer than one narrow row, so rows of about 65536 values in all share a question.
  constexpr std::size_t values_between = 65536;
  const std::size_t width =
      std::clamp<std::size_t>(static_cast<std::size_t>(columns), 1, values_between);
  const std::size_t mask = std::bit_floor(values_between / width) - 1;
  const std::size_t blocks = (rows + rows_at_once - 1) / rows_at_once;
  detail::parallel_for(blocks, shift.threads(), [&](std::size_t block) {
    const std::size_t end = std::min(rows, (block + 1) * rows_at_once);
    for (std::size_t u = block * rows_at_once; u < end; ++u) {
      if ((u & mask) == 0) throw_if_stopped(shift.progress());
      body(u);
    }
  });
}

/// y_u = own_scale(u) * own_u + scale * (sum over the entries of row u of value * x_column).
template <typename Real, typename OwnScale>
void sum_all_rows(const ValuedRows<Real>& rows, Real scale, const SignalsView<Real>& x,
                  const SignalsView<Real>& own, const OwnScale& own_scale, SignalsSlice<Real>& y,
                  const ShiftOperator& shift) {
  for_each_row(rows.offsets.size() - 1, x.cols(), shift, [&](std::size_t u) {
    const std::uint64_t begin = rows.offsets[u];
    kernels::sum_rows<Real>(
        {.values = rows.values.data() + begin,
         // Signed numbers of the same size are what the kernel shares with sparse matrices.
         .columns = reinterpret_cast<const std::int32_t*>(rows.columns.data() + begin),
         .count = rows.offsets[u + 1] - begin,
         .b = x.data(),
         .stride = static_cast<std::size_t>(x.outerStride()),
         .scale = scale,
         .own = own.data() + u * static_cast<std::size_t>(own.outerStride()),
         .own_scale = own_scale(static_cast<NodeId>(u))},
        static_cast<std::size_t>(x.cols()),
        y.data() + u * static_cast<std::size_t>(y.outerStride()));
  });
}

/// What the taps say of the rows that a shift has.
struct RowTaps {
  const Taps& taps;
  const ShiftOperator& shift;

  double operator()(std::size_t row, std::size_t k) const { return taps(node(row), k); }
  NodeId node(std::size_t row) const { return shift.first_node() + static_cast<NodeId>(row); }
};

/// y_u = x_u times what the taps of u say of hop k.
template <typename Real>
void write_times_taps(const RowTaps& taps, std::size_t k, const SignalsView<Real>& x,
                      SignalsSlice<Real>& y) {
  for_each_row(static_cast<std::size_t>(x.rows()), x.cols(), taps.shift, [&](std::size_t u) {
    const auto row = static_cast<Eigen::Index>(u);
    y.row(row) = static_cast<Real>(taps(u, k)) * x.row(row);
  });
}

/// The same as a matrix of its own.
template <typename Real>
SignalsOf<Real> times_taps(const RowTaps& taps, std::size_t k, const SignalsOf<Real>& x) {
  SignalsOf<Real> result(x.rows(), x.cols());
  SignalsSlice<Real> slice(result);
  write_times_taps<Real>(taps, k, x, slice);
  return result;
}

/// Adds <g_u, z_u> to the entry of each node's group and hop k.
template <typename Real>
void add_products(const RowTaps& taps, std::size_t k, const SignalsView<Real>& g,
                  const SignalsView<Real>& z, std::vector<double>& sums) {
  for (Eigen::Index u = 0; u < g.rows(); ++u) {
    const std::size_t group = taps.taps.group(taps.node(static_cast<std::size_t>(u)));
    sums[group * taps.taps.count() + k] += static_cast<double>(g.row(u).dot(z.row(u)));
  }
}

/// The signals of all nodes from those of this process's, which are the same where it has all.
template <typename Real>
class AllRows {
 public:
  AllRows(const Partition* partition, const SignalsView<Real>& own)
      : gathered_(partition == nullptr ? SignalsOf<Real>() : gathered<Real>(*partition, own)),
        view_(partition == nullptr ? own : SignalsView<Real>(gathered_)) {}

  const SignalsView<Real>& view() const { return view_; }

 private:
  SignalsOf<Real> gathered_;
  SignalsView<Real> view_;
};

}  // namespace

/// Other rows are dropped.
void ShiftOperator::keep(const RowRange& range, Rows& rows) {
  if (rows.offsets.empty()) return;
  const std::uint64_t begin = rows.offsets[range.begin];
  const std::uint64_t end = rows.offsets[range.end];
  Rows kept;
  for (NodeId u = range.begin; u <= range.end; ++u) kept.offsets.push_back(rows.offsets[u] - begin);
  const auto of_rows = [&](const auto& all) {
    return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
  };
  kept.columns = of_rows(rows.columns);
  kept.values = of_rows(rows.values);
  rows = std::move(kept);
}

ShiftOperator::ShiftOperator(const Graph& graph, Shift shift, int threads,
                             std::shared_ptr<const Partition> partition, const Progress* progress)
    : threads_(threads),
      symmetric_(!graph.directed()),
      partition_(std::move(partition)),
      progress_(progress) {
  if (graph.directed() && shift != Shift::adjacency && shift != Shift::adjacency_lmax) {
    detail::fail(
        "a directed graph has no shift '{}'; take adjacency or adjacency-lmax, or drop "
        "directions",
        shift_name(shift));
  }
  const NodeId nodes = graph.nodes();
  const auto weight = [&](NodeId u, std::size_t i) {
    return graph.weighted() ? graph.weights_of(u)[i] : 1.0;
  };
  std::vector<double> degree(nodes, 0);
  for (NodeId u = 0; u < nodes; ++u) {
    for (std::size_t i = 0; i < graph.degree(u); ++i) degree[u] += weight(u, i);
  }
  const bool own = shift != Shift::adjacency && shift != Shift::adjacency_lmax;
  const bool gcn = shift == Shift::gcn;
  const auto inverse_root = [&](NodeId u) {
    const double d = degree[u] + (gcn ? 1 : 0);
    return d > 0 ? 1 / std::sqrt(d) : 0.0;
  };
  const auto entry = [&](NodeId u, NodeId v, double a) {
    switch (shift) {
      case Shift::laplacian:
        return (u == v ? degree[u] : 0) - a;
      case Shift::normalized_laplacian:
        return (u == v && degree[u] > 0 ? 1 : 0) - a * inverse_root(u) * inverse_root(v);
      case Shift::gcn:
        return (a + (u == v ? 1 : 0)) * inverse_root(u) * inverse_root(v);
      default:
        return a;
    }
  };
  forward_.offsets.assign(1, 0);
  for (NodeId u = 0; u < nodes; ++u) {
    const auto row = graph.neighbors(u);
    bool own_seen = !own;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!own_seen && row[i] >= u) {
        own_seen = true;
        if (row[i] > u) {
          forward_.columns.push_back(u);
          forward_.values.push_back(entry(u, u, 0));
        }
      }
      forward_.columns.push_back(row[i]);
      forward_.values.push_back(entry(u, row[i], weight(u, i)));
    }
    if (!own_seen) {
      forward_.columns.push_back(u);
      forward_.values.push_back(entry(u, u, 0));
    }
    forward_.offsets.push_back(forward_.columns.size());
  }
  if (graph.directed()) {
    const Graph back = transpose(graph);
    back_.offsets.assign(back.offsets().begin(), back.offsets().end());
    back_.columns.assign(back.targets().begin(), back.targets().end());
    back_.values.assign(back.weights().begin(), back.weights().end());
    back_.values.resize(back_.columns.size(), 1);
  }
  if (partition_ != nullptr) {
    keep(partition_->own(), forward_);
    keep(partition_->own(), back_);
  }
  if (shift == Shift::adjacency_lmax) {
    const auto weights = graph.weights();
    divide_by_largest(std::any_of(weights.begin(), weights.end(), [](double w) { return w < 0; }));
  }
  for (Rows* const rows : {&forward_, &back_}) {
    rows->singles.assign(rows->values.begin(), rows->values.end());
  }
}

void ShiftOperator::divide_by_largest(bool negative) {
  const auto as_operator = [&](bool transposed) -> Operator {
    return [this, transposed](const Eigen::VectorXd& x, Eigen::VectorXd& y) {
      const SignalsOf<double> signals = x.segment(first_node(), rows());
      const SignalsOf<double> own = transposed ? apply_transpose(signals) : apply(signals);
      y = AllRows<double>(partition_.get(), own).view();
    };
  };
  // Weights below 0 may make the smallest eigenvalue the largest in size.
  const LargestValue largest =
      symmetric_ && !negative
          ? largest_eigenvalue(nodes(), as_operator(false))
          : largest_singular_value(nodes(), as_operator(false), as_operator(true));
  if (largest.value == 0) return;
  for (double& value : forward_.values) value /= largest.value;
  for (double& value : back_.values) value /= largest.value;
}

template <typename Real>
ValuedRows<Real> ShiftOperator::rows(bool transposed) const {
  const Rows& own = transposed && !symmetric_ ? back_ : forward_;
  if constexpr (std::is_same_v<Real, float>) {
    return {own.offsets, own.columns, own.singles};
  } else {
    return {own.offsets, own.columns, own.values};
  }
}

template <typename Real>
void ShiftOperator::add_to(bool transposed, const SignalsView<Real>& x,
                           SignalsSlice<Real> y) const {
  const AllRows<Real> all(partition_.get(), x);
  sum_all_rows<Real>(
      rows<Real>(transposed), Real{1}, all.view(), y, [](NodeId) { return Real{1}; }, y, *this);
}

template ValuedRows<float> ShiftOperator::rows(bool) const;
template ValuedRows<double> ShiftOperator::rows(bool) const;

template <typename Real>
SignalsOf<Real> ShiftOperator::apply(const SignalsOf<Real>& x) const {
  filter::check_signals<Real>(x, rows());
  SignalsOf<Real> y = SignalsOf<Real>::Zero(x.rows(), x.cols());
  add_to<Real>(false, x, y);
  return y;
}

template <typename Real>
SignalsOf<Real> ShiftOperator::apply_transpose(const SignalsOf<Real>& x) const {
  filter::check_signals<Real>(x, rows());
  SignalsOf<Real> y = SignalsOf<Real>::Zero(x.rows(), x.cols());
  add_to<Real>(true, x, y);
  return y;
}

PolynomialFilter::PolynomialFilter(const Graph& graph, Taps taps, Shift shift, int threads,
                                   std::shared_ptr<const Partition> partition,
                                   const Progress* progress)
    : taps_(std::move(taps)) {
  filter::check_taps(taps_, graph.nodes());
  shift_ =
      std::make_shared<const ShiftOperator>(graph, shift, threads, std::move(partition), progress);
}

void PolynomialFilter::set_taps(Taps taps) {
  filter::check_taps(taps, nodes());
  taps_ = std::move(taps);
}

double PolynomialFilter::flops(std::int64_t width) const {
  const auto shifts = static_cast<double>(taps_.count() - 1);
  return 2 * static_cast<double>(width) *
         (shifts * static_cast<double>(shift_->entries()) +
          static_cast<double>(taps_.count()) * static_cast<double>(rows()));
}

/// (h_0 + S (h_1 + S (h_2 + ...))) x, with the taps next to x.
template <typename Real>
void PolynomialFilter::sum_by_horner(bool transposed, const SignalsView<Real>& x,
                                     SignalsSlice<Real> y) const {
  const std::size_t last = taps_.count() - 1;
  const RowTaps taps{taps_, *shift_};
  if (last == 0) {
    write_times_taps<Real>(taps, 0, x, y);
    return;
  }
  SignalsOf<Real> between(last > 1 || taps_.node_variant() ? x.rows() : 0, x.cols());
  SignalsSlice<Real> room(between);
  // The last sum is written to y.
  SignalsSlice<Real>* to = last % 2 == 1 ? &y : &room;
  SignalsSlice<Real>* from = last % 2 == 1 ? &room : &y;
  if (taps_.node_variant()) write_times_taps<Real>(taps, last, x, *from);
  for (std::size_t k = last; k-- > 0;) {
    const auto tap = [&](NodeId row) { return static_cast<Real>(taps(row, k)); };
    const auto rows = shift_->rows<Real>(transposed);
    if (k + 1 == last && !taps_.node_variant()) {
      const auto scale = static_cast<Real>(taps_(0, last));
      const AllRows<Real> all(shift_->partition(), x);
      sum_all_rows<Real>(rows, scale, all.view(), x, tap, *to, *shift_);
    } else {
      const AllRows<Real> all(shift_->partition(), *from);
      sum_all_rows<Real>(rows, Real{1}, all.view(), x, tap, *to, *shift_);
    }
    std::swap(to, from);
  }
}

template <typename Real>
void PolynomialFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
  filter::check_signals<Real>(x, y, rows());
  if (!taps_.node_variant()) {
    sum_by_horner<Real>(false, x, y);
    return;
  }
  // Taps of a node count where the sum is taken.
  const RowTaps taps{taps_, *shift_};
  write_times_taps<Real>(taps, 0, x, y);
  SignalsOf<Real> power = x;
  for (std::size_t k = 1; k < taps_.count(); ++k) {
    power = shift_->apply(power);
    y += times_taps(taps, k, power);
  }
}

template <typename Real>
void PolynomialFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y) const {
  filter::check_signals<Real>(x, y, rows());
  sum_by_horner<Real>(true, x, y);
}

template <typename Real>
SignalsOf<Real> PolynomialFilter::apply(const SignalsOf<Real>& x) const {
  SignalsOf<Real> y(x.rows(), x.cols());
  apply_to<Real>(x, y);
  return y;
}

template <typename Real>
SignalsOf<Real> PolynomialFilter::apply_transpose(const SignalsOf<Real>& x) const {
  SignalsOf<Real> y(x.rows(), x.cols());
  apply_transpose_to<Real>(x, y);
  return y;
}

template <typename Real>
FilterGradients<Real> PolynomialFilter::gradients(const SignalsOf<Real>& x,
                                                  const SignalsOf<Real>& by_output) const {
  return gradients_of<Real>(x, by_output);
}

template <typename Real>
FilterGradients<Real> PolynomialFilter::gradients_of(const SignalsView<Real>& x,
                                                     const SignalsView<Real>& by_output) const {
  FilterGradients<Real> result;
  result.input.resize(x.rows(), x.cols());
  result.taps = gradients_to<Real>(x, by_output, result.input);
  return result;
}

template <typename Real>
std::vector<double> PolynomialFilter::gradients_to(const SignalsView<Real>& x,
                                                   const SignalsView<Real>& by_output,
                                                   SignalsSlice<Real> by_input) const {
  filter::check_gradients<Real>(x, by_output, by_input, rows());
  const RowTaps taps{taps_, *shift_};
  std::vector<double> by_taps(taps_.values().size(), 0);
  if (taps_.node_variant()) {
    sum_by_horner<Real>(true, by_output, by_input);
    SignalsOf<Real> power = x;
    for (std::size_t k = 0; k < taps_.count(); ++k) {
      if (k > 0) power = shift_->apply(power);
      add_products<Real>(taps, k, by_output, power, by_taps);
    }
  } else {
    // <G, S^k X> = <S'^k G, X>, and S'^k G is what the gradient by X is made of.
    write_times_taps<Real>(taps, 0, by_output, by_input);
    add_products<Real>(taps, 0, x, by_output, by_taps);
    SignalsOf<Real> power;
    for (std::size_t k = 1; k < taps_.count(); ++k) {
      power = shift_->apply_transpose(k == 1 ? SignalsOf<Real>(by_output) : power);
      by_input += times_taps(taps, k, power);
      add_products<Real>(taps, k, x, power, by_taps);
    }
  }
  if (shift_->partition() != nullptr) shift_->partition()->communicator().sum(std::span(by_taps));
  return by_taps;
}

template void ShiftOperator::add_to(bool, const SignalsView<float>&, SignalsSlice<float>) const;
template void PolynomialFilter::apply_to(const SignalsView<float>&, SignalsSlice<float>) const;
template void PolynomialFilter::apply_transpose_to(const SignalsView<float>&,
                                                   SignalsSlice<float>) const;
template void ShiftOperator::add_to(bool, const SignalsView<double>&, SignalsSlice<double>) const;
template void PolynomialFilter::apply_to(const SignalsView<double>&, SignalsSlice<double>) const;
template void PolynomialFilter::apply_transpose_to(const SignalsView<double>&,
                                                   SignalsSlice<double>) const;
template SignalsOf<float> ShiftOperator::apply(const SignalsOf<float>&) const;
template SignalsOf<double> ShiftOperator::apply(const SignalsOf<double>&) const;
template SignalsOf<float> ShiftOperator::apply_transpose(const SignalsOf<float>&) const;
template SignalsOf<double> ShiftOperator::apply_transpose(const SignalsOf<double>&) const;
template SignalsOf<float> PolynomialFilter::apply(const SignalsOf<float>&) const;
template SignalsOf<double> PolynomialFilter::apply(const SignalsOf<double>&) const;
template SignalsOf<float> PolynomialFilter::apply_transpose(const SignalsOf<float>&) const;
template SignalsOf<double> PolynomialFilter::apply_transpose(const SignalsOf<double>&) const;
template std::vector<double> PolynomialFilter::gradients_to(const SignalsView<float>&,
                                                            const SignalsView<float>&,
                                                            SignalsSlice<float>) const;
template std::vector<double> PolynomialFilter::gradients_to(const SignalsView<double>&,
                                                            const SignalsView<double>&,
                                                            SignalsSlice<double>) const;
template FilterGradients<float> PolynomialFilter::gradients_of(const SignalsView<float>&,
                                                               const SignalsView<float>&) const;
template FilterGradients<double> PolynomialFilter::gradients_of(const SignalsView<double>&,
                                                                const SignalsView<double>&) const;
template FilterGradients<float> PolynomialFilter::gradients(const SignalsOf<float>&,
                                                            const SignalsOf<float>&) const;
template FilterGradients<double> PolynomialFilter::gradients(const SignalsOf<double>&,
                                                             const SignalsOf<double>&) const;

}  // namespace ngf
