#pragma once

#include <memory>
#include <vector>

#include "ngf/filter.hpp"
#include "ngf/partition.hpp"

/// Filters on the nodes of several ranks. Each rank has the signals of its own nodes, gathers those
/// of the others, and multiplies them by its own rows of the matrix. All ranks filter at the same
/// time, with the same taps.
namespace ngf {

/// A neighbourhood filter on the shells of this rank's nodes. All ranks have the whole graph.
class ShardedNeighborhoodFilter {
 public:
  ShardedNeighborhoodFilter(const Graph& graph, Taps taps, FilterOptions options,
                            std::shared_ptr<const Partition> partition,
                            Progress* progress = nullptr);

  const Partition& partition() const { return *partition_; }
  NodeId nodes() const { return filter_.nodes(); }
  RowRange rows() const { return filter_.rows(); }
  const Taps& taps() const { return filter_.taps(); }
  void set_taps(Taps taps) { filter_.set_taps(std::move(taps)); }
  double flops(std::int64_t width) const { return filter_.flops(width); }
  /// The filter on this rank's rows, which takes the signals of all nodes.
  const NeighborhoodFilter& local() const { return filter_; }
  /// Of A_k, before it is normalised.
  LargestValue largest_value(std::size_t k, Progress* progress = nullptr) const;

  /// As those of NeighborhoodFilter, on the rows of this rank.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                Progress* progress = nullptr) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress = nullptr) const;
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output,
                                  Progress* progress = nullptr) const;
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input, Progress* progress = nullptr) const;

 private:
  std::shared_ptr<const Partition> partition_;
  NeighborhoodFilter filter_;
};

/// A polynomial filter on this rank's rows of the shift.
class ShardedPolynomialFilter {
 public:
  ShardedPolynomialFilter(const Graph& graph, Taps taps, Shift shift, int threads,
                          std::shared_ptr<const Partition> partition, Progress* progress = nullptr);

  const Partition& partition() const { return *partition_; }
  NodeId nodes() const { return shift_->nodes(); }
  RowRange rows() const { return shift_->rows(); }
  const Taps& taps() const { return taps_; }
  void set_taps(Taps taps);
  double flops(std::int64_t width) const;
  const ShiftOperator& shift() const { return *shift_; }

  /// As those of PolynomialFilter, on the rows of this rank.
  template <typename Real>
  SignalsOf<Real> apply(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  SignalsOf<Real> apply_transpose(const SignalsOf<Real>& x, Progress* progress = nullptr) const;
  template <typename Real>
  void apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                Progress* progress = nullptr) const;
  template <typename Real>
  void apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                          Progress* progress = nullptr) const;
  template <typename Real>
  FilterGradients<Real> gradients(const SignalsOf<Real>& x, const SignalsOf<Real>& by_output,
                                  Progress* progress = nullptr) const;
  template <typename Real>
  std::vector<double> gradients_to(const SignalsView<Real>& x, const SignalsView<Real>& by_output,
                                   SignalsSlice<Real> by_input, Progress* progress = nullptr) const;

 private:
  void set_taps_for(NodeId nodes, Taps taps);

  std::shared_ptr<const Partition> partition_;
  Taps taps_;
  std::shared_ptr<const ShiftOperator> shift_;
};

/// As for other filters; each rank solves the whole.
FittedTaps fit_taps(const ShardedNeighborhoodFilter& filter, const Matrix& x, const Matrix& y);
FittedTaps fit_taps(const ShardedPolynomialFilter& filter, const Matrix& x, const Matrix& y);

}  // namespace ngf
