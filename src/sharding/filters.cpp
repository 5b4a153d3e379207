#include <array>
#include <optional>

#include "filter/checks.hpp"
#include "filter/class_signals.hpp"
#include "filter/scales.hpp"
#include "filter/shift_products.hpp"
#include "ngf/sharded_filter.hpp"
#include "sharding/costs.hpp"

namespace ngf {

namespace {

using filter::SignalRows;

constexpr Eigen::Index columns_at_a_time = sharding::costs::columns_gathered;

/// Begins to gather rows of all nodes, of which each rank has its own in their places.
template <typename Real>
std::unique_ptr<Communicator::Pending> begin_gather(const Partition& partition, Real* all,
                                                    Eigen::Index columns) {
  return partition.communicator().begin_gather(reinterpret_cast<std::byte*>(all),
                                               static_cast<std::size_t>(columns) * sizeof(Real),
                                               partition.begins());
}

/// Calls body(the signals of all nodes, first column, columns) for each block of columns. The next
/// block is gathered while one is used.
template <typename Real, typename Body>
void for_each_gathered(const Partition& partition, const SignalsView<Real>& own, const Body& body) {
  std::array<std::optional<SignalRows<Real>>, 2> rows;
  std::array<std::unique_ptr<Communicator::Pending>, 2> pending;
  const auto width = [&](Eigen::Index first) {
    return std::min(columns_at_a_time, own.cols() - first);
  };
  const auto place = [](Eigen::Index first) {
    return static_cast<std::size_t>(first / columns_at_a_time % 2);
  };
  const auto begin = [&](Eigen::Index first) {
    if (first >= own.cols()) return;
    auto& room = rows[place(first)].emplace(partition.nodes(), width(first));
    SignalsSlice<Real> all = room.signals();
    all.middleRows(partition.own().begin, partition.own().count()) =
        own.middleCols(first, width(first));
    pending[place(first)] = begin_gather(partition, room.data(), width(first));
  };
  begin(0);
  for (Eigen::Index first = 0; first < own.cols(); first += columns_at_a_time) {
    begin(first + columns_at_a_time);
    pending[place(first)]->wait();
    body(rows[place(first)]->signals(), first, width(first));
  }
}

/// The same storage for all ranks, so that they go on in step.
FilterPlan agreed_plan(const Graph& graph, const Taps& taps, FilterOptions options,
                       const Partition& partition, Progress* progress) {
  if (partition.nodes() != graph.nodes()) {
    fail("a partition of {} nodes on a graph of {}", partition.nodes(), graph.nodes());
  }
  options.shells.rows = partition.own();
  FilterPlan plan = plan_filter(graph, taps, options, progress);
  const Storage storage = partition.communicator().of_first(plan.shells.storage);
  if (storage == plan.shells.storage) return plan;
  options.shells.storage = storage;
  return plan_filter(graph, taps, options, progress);
}

LargestValue largest_of_shell(const NeighborhoodFilter& bare, const Partition& partition,
                              std::size_t k, Progress* progress) {
  const bool symmetric = bare.shells().transposed() == &bare.shells();
  return filter::largest_of(bare.nodes(), symmetric, [&](bool transposed, const Matrix& x) {
    return gathered<double>(partition, bare.apply_shell(k, x, transposed, progress));
  });
}

NeighborhoodFilter make_filter(const Graph& graph, Taps taps, const FilterOptions& options,
                               const Partition& partition, Progress* progress) {
  const FilterPlan plan = agreed_plan(graph, taps, options, partition, progress);
  const ProductForm form = plan.forced ? plan.form : ProductForm::automatic;
  Shells shells = build_shells(graph, plan.shells, progress);
  NeighborhoodFilter bare(std::move(shells), std::move(taps), nullptr, form);
  if (plan.normalization == Normalization::none) return bare;
  auto scales = filter::make_scales(
      plan.normalization, bare.taps().count(),
      {.degrees =
           [&](bool transposed) {
             return gathered<double>(partition, bare.shell_degrees(transposed, progress));
           },
       .largest = [&](std::size_t k) { return largest_of_shell(bare, partition, k, progress); }});
  return {bare.shells(), bare.taps(),
          std::make_shared<const filter::ShellScales>(std::move(scales)), form};
}

struct GatherRows {
  const Partition& partition;

  template <typename Signals>
  auto operator()(const Signals& own) const {
    return gathered<typename Signals::Scalar>(partition, own);
  }
};

}  // namespace

template <typename Real>
SignalsOf<Real> gathered(const Partition& partition, const SignalsView<Real>& own) {
  SignalsOf<Real> all(partition.nodes(), own.cols());
  all.middleRows(partition.own().begin, partition.own().count()) = own;
  begin_gather(partition, all.data(), all.cols())->wait();
  return all;
}

template SignalsOf<float> gathered(const Partition&, const SignalsView<float>&);
template SignalsOf<double> gathered(const Partition&, const SignalsView<double>&);

ShardedNeighborhoodFilter::ShardedNeighborhoodFilter(const Graph& graph, Taps taps,
                                                     FilterOptions options,
                                                     std::shared_ptr<const Partition> partition,
                                                     Progress* progress)
    : partition_(std::move(partition)),
      filter_(make_filter(graph, std::move(taps), options, *partition_, progress)) {}

LargestValue ShardedNeighborhoodFilter::largest_value(std::size_t k, Progress* progress) const {
  const NeighborhoodFilter bare(filter_.shells(), filter_.taps());
  return largest_of_shell(bare, *partition_, k, progress);
}

template <typename Real>
void ShardedNeighborhoodFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                         Progress* progress) const {
  filter::check_own_signals<Real>(x, y, rows());
  for_each_gathered<Real>(*partition_, x, [&](const auto& all, auto first, auto width) {
    filter_.template apply_to<Real>(all, y.middleCols(first, width), progress);
  });
}

template <typename Real>
void ShardedNeighborhoodFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                                   Progress* progress) const {
  filter::check_own_signals<Real>(x, y, rows());
  for_each_gathered<Real>(*partition_, x, [&](const auto& all, auto first, auto width) {
    filter_.template apply_transpose_to<Real>(all, y.middleCols(first, width), progress);
  });
}

template <typename Real>
std::vector<double> ShardedNeighborhoodFilter::gradients_to(const SignalsView<Real>& x,
                                                            const SignalsView<Real>& by_output,
                                                            SignalsSlice<Real> by_input,
                                                            Progress* progress) const {
  filter::check_own_signals<Real>(x, by_input, rows());
  filter::check_own_signals<Real>(by_output, by_input, rows());
  std::vector<double> by_taps(taps().values().size(), 0);
  for_each_gathered<Real>(*partition_, by_output, [&](const auto& all, auto first, auto width) {
    const SignalsView<Real> own = x.middleCols(first, width);
    const SignalsOf<Real> all_x =
        taps().node_variant() ? gathered<Real>(*partition_, own) : SignalsOf<Real>();
    const std::vector<double> part =
        filter_.template gradients_to<Real>(taps().node_variant() ? SignalsView<Real>(all_x) : own,
                                            all, by_input.middleCols(first, width), progress);
    for (std::size_t i = 0; i < part.size(); ++i) by_taps[i] += part[i];
  });
  partition_->communicator().sum(std::span(by_taps));
  return by_taps;
}

ShardedPolynomialFilter::ShardedPolynomialFilter(const Graph& graph, Taps taps, Shift shift,
                                                 int threads,
                                                 std::shared_ptr<const Partition> partition,
                                                 Progress* progress)
    : partition_(std::move(partition)) {
  set_taps_for(graph.nodes(), std::move(taps));
  shift_ =
      std::make_shared<const ShiftOperator>(graph, shift, threads, partition_->own(), progress);
}

void ShardedPolynomialFilter::set_taps_for(NodeId nodes, Taps taps) {
  filter::check_taps(taps, nodes);
  taps_ = std::move(taps);
}

void ShardedPolynomialFilter::set_taps(Taps taps) { set_taps_for(nodes(), std::move(taps)); }

double ShardedPolynomialFilter::flops(std::int64_t width) const {
  return filter::shift_flops(*shift_, taps_.count(), width);
}

template <typename Real>
void ShardedPolynomialFilter::apply_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                       Progress* progress) const {
  filter::check_own_signals<Real>(x, y, rows());
  filter::ShiftProducts<Real, GatherRows>(*shift_, taps_, {*partition_}, progress).apply(x, y);
}

template <typename Real>
void ShardedPolynomialFilter::apply_transpose_to(const SignalsView<Real>& x, SignalsSlice<Real> y,
                                                 Progress* progress) const {
  filter::check_own_signals<Real>(x, y, rows());
  filter::ShiftProducts<Real, GatherRows>(*shift_, taps_, {*partition_}, progress)
      .apply_transpose(x, y);
}

template <typename Real>
std::vector<double> ShardedPolynomialFilter::gradients_to(const SignalsView<Real>& x,
                                                          const SignalsView<Real>& by_output,
                                                          SignalsSlice<Real> by_input,
                                                          Progress* progress) const {
  filter::check_own_signals<Real>(x, by_input, rows());
  filter::check_own_signals<Real>(by_output, by_input, rows());
  std::vector<double> by_taps =
      filter::ShiftProducts<Real, GatherRows>(*shift_, taps_, {*partition_}, progress)
          .gradients(x, by_output, by_input);
  partition_->communicator().sum(std::span(by_taps));
  return by_taps;
}

NGF_DEFINE_FILTER(ShardedNeighborhoodFilter)
NGF_DEFINE_FILTER(ShardedPolynomialFilter)

namespace {

/// Of the signals B_0, B_1, ..., this rank's rows of each.
FittedTaps fit_gathered(const Partition& partition, std::vector<Matrix> basis, const Matrix& y) {
  for (Matrix& signals : basis) signals = gathered<double>(partition, signals);
  return fit_basis(basis, gathered<double>(partition, y));
}

}  // namespace

FittedTaps fit_taps(const ShardedNeighborhoodFilter& filter, const Matrix& x, const Matrix& y) {
  filter::check_pairs(x, y, filter.rows().count());
  const Matrix all = gathered<double>(filter.partition(), x);
  std::vector<Matrix> basis;
  for (std::size_t k = 0; k < filter.taps().count(); ++k) {
    basis.push_back(filter.local().apply_shell(k, all));
  }
  return fit_gathered(filter.partition(), std::move(basis), y);
}

FittedTaps fit_taps(const ShardedPolynomialFilter& filter, const Matrix& x, const Matrix& y) {
  filter::check_pairs(x, y, filter.rows().count());
  std::vector<Matrix> basis{x};
  while (basis.size() < filter.taps().count()) {
    basis.push_back(filter.shift().apply(gathered<double>(filter.partition(), basis.back())));
  }
  return fit_gathered(filter.partition(), std::move(basis), y);
}

}  // namespace ngf
