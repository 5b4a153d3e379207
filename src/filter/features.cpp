#include "ngf/features.hpp"

#include <algorithm>
#include <cmath>

#include "base/memory.hpp"
#include "base/names.hpp"
#include "filter/checks.hpp"
#include "filter/panels.hpp"
#include "kernels/bit_walk.hpp"
#include "kernels/columns.hpp"
#include "shells/plan.hpp"

namespace ngf {

std::string_view aggregate_name(Aggregate aggregate) {
  return detail::name_in({"mean", "sum", "max"}, aggregate);
}

NodeId FeaturePlan::passes() const {
  const NodeId rows = shells.options.rows.count();
  return rows == 0 ? 0 : (rows - 1) / rows_at_once + 1;
}

namespace {

filter::PanelShape<float> feature_shape(std::int64_t width) {
  return {width, kernels::most_column_lines};
}

/// Writes rows of the result. One thread has one.
class ShellAggregator {
 public:
  ShellAggregator(const SignalsView<float>& x, const filter::Panels<float>& panels,
                  Aggregate aggregate)
      : x_(x),
        panels_(panels),
        aggregate_(aggregate),
        sum_(panels.shape().width()),
        largest_(panels.shape().width()) {}

  /// `columns` has one hop after the other; ends[k - 1] is where hop k ends.
  void write(NodeId u, const NodeId* columns, std::span<const std::uint32_t> ends, float* to) {
    to = std::copy_n(x_.row(u).data(), x_.cols(), to);
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      write_shell({columns + begin, end - begin}, to);
      to += x_.cols();
      begin = end;
    }
  }

 private:
  void write_shell(std::span<const NodeId> nodes, float* to) {
    if (nodes.empty()) {
      std::fill_n(to, x_.cols(), 0.0F);
      return;
    }
    const filter::PanelShape<float>& shape = panels_.shape();
    for (std::size_t panel = 0; panel < shape.count(); ++panel) {
      write_panel(nodes, panel, to + panel * shape.width());
    }
  }

  void write_panel(std::span<const NodeId> nodes, std::size_t panel, float* to) {
    const filter::PanelShape<float>& shape = panels_.shape();
    const kernels::ColumnKernels& kernels = kernels::column_kernels();
    const float* const rows = panels_.row(panel, 0);
    const std::size_t columns = shape.columns_of(panel);
    if (aggregate_ == Aggregate::max) {
      kernels.max(nodes.data(), nodes.size(), rows, shape.lines(), largest_.data());
      std::copy_n(largest_.data(), columns, to);
      return;
    }
    std::fill(sum_.begin(), sum_.end(), 0.0);
    kernels.sum(nodes.data(), nodes.size(), rows, shape.lines(), sum_.data());
    const double count = aggregate_ == Aggregate::mean ? static_cast<double>(nodes.size()) : 1.0;
    for (std::size_t f = 0; f < columns; ++f) to[f] = static_cast<float>(sum_[f] / count);
  }

  const SignalsView<float>& x_;
  const filter::Panels<float>& panels_;
  Aggregate aggregate_;
  AlignedVector<double> sum_;
  AlignedVector<float> largest_;
};

/// The progress of one pass, as that of all rows.
class ProgressOfPass : public Progress {
 public:
  ProgressOfPass(Progress* all, const RowRange& rows, const RowRange& pass)
      : all_(all), rows_(rows), pass_(pass) {}

  void report(std::uint64_t done, std::uint64_t total) override {
    if (all_ == nullptr) return;
    all_->report(pass_.begin - rows_.begin + pass_.count() * done / total, rows_.count());
  }
  bool stop_requested() const override { return all_ != nullptr && all_->stop_requested(); }

 private:
  Progress* all_;
  RowRange rows_;
  RowRange pass_;
};

void check_finite(const MatrixF& rows, NodeId first) {
  if (rows.allFinite()) return;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    if (rows.row(i).allFinite()) continue;
    fail("a feature of node {} exceeds the range of single precision; scale the signals",
         first + static_cast<NodeId>(i));
  }
}

/// Computes the rows of a pass.
void aggregate_rows(const Graph& graph, const SignalsView<float>& x,
                    const filter::Panels<float>& panels, const FeaturePlan& plan,
                    const RowRange& rows, MatrixF& to, Progress& progress) {
  const std::uint32_t hops = plan.shells.options.hops;
  if (hops == 0) {
    to = x.middleRows(rows.begin, rows.count());
    return;
  }
  ShellPlan shells = plan.shells;
  shells.options.rows = rows;
  const auto take = [&](const ShellRows<NodeId>& found) {
    throw_if_stopped(&progress);
    ShellAggregator aggregator(x, panels, plan.aggregate);
    const NodeId* columns = found.columns.data();
    for (std::size_t i = 0; i < found.rows.size(); ++i) {
      const auto ends = found.ends.subspan(i * hops, hops);
      const NodeId u = found.rows[i];
      aggregator.write(u, columns, ends, to.row(u - rows.begin).data());
      columns += ends.back();
    }
  };
  stream_shells(graph, shells, take, &progress);
}

/// Bytes of X in panels.
std::uint64_t panel_bytes(NodeId nodes, std::int64_t width) {
  const filter::PanelShape<float> shape = feature_shape(width);
  return std::uint64_t{nodes} * shape.count() * shape.width() * sizeof(float);
}

/// `fewest` are the rows that there must be room for at a time.
FeaturePlan plan_rows(const Graph& graph, std::int64_t width, const FeatureOptions& options,
                      NodeId fewest) {
  if (options.shells.hops > shells::most_hops_in_two) {
    fail("features of shells need a number of hops, at most {}", shells::most_hops_in_two);
  }
  ShellOptions streamed = options.shells;
  streamed.storage = Storage::stream;
  streamed.transposed = false;
  FeaturePlan plan;
  plan.aggregate = options.aggregate;
  plan.width = width;
  plan.shells = plan_shells(graph, streamed);
  const NodeId rows = plan.shells.options.rows.count();
  fewest = std::min(fewest, rows);
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(plan.columns()) * sizeof(float);
  const std::uint64_t besides = plan.shells.bytes() + panel_bytes(graph.nodes(), width);
  check_budget(besides + fewest * row_bytes, options.shells.memory,
               fmt::format("aggregating {} columns over {} hops", width, streamed.hops));
  const std::uint64_t left = plan.shells.budget - std::min(plan.shells.budget, besides);
  const std::uint64_t fitting = row_bytes == 0 ? rows : left / row_bytes;
  plan.rows_at_once = static_cast<NodeId>(std::clamp<std::uint64_t>(fitting, fewest, rows));
  plan.bytes = besides + plan.rows_at_once * row_bytes;
  return plan;
}

}  // namespace

FeaturePlan plan_features(const Graph& graph, std::int64_t width, const FeatureOptions& options) {
  // A walk takes hardly less time from fewer sources than from a batch.
  return plan_rows(graph, width, options, NodeId{kernels::batch_width});
}

void stream_features(const Graph& graph, const SignalsView<float>& x, const FeaturePlan& plan,
                     const TakeRows& take, Progress* progress) {
  filter::check_signals<float>(x, graph.nodes());
  const RowRange rows = plan.shells.options.rows;
  const filter::Panels<float> panels(x, feature_shape(plan.width), plan.shells.options.threads);
  MatrixF block;
  for (NodeId begin = rows.begin; begin < rows.end;) {
    const RowRange pass{begin, begin + std::min(plan.rows_at_once, rows.end - begin)};
    ProgressOfPass of_pass(progress, rows, pass);
    block.resize(pass.count(), plan.columns());
    aggregate_rows(graph, x, panels, plan, pass, block, of_pass);
    check_finite(block, pass.begin);
    take(pass.begin, block);
    begin = pass.end;
  }
}

MatrixF shell_features(const Graph& graph, const SignalsView<float>& x,
                       const FeatureOptions& options, Progress* progress) {
  const FeaturePlan plan =
      plan_rows(graph, x.cols(), options, options.shells.rows.within(graph.nodes()).count());
  MatrixF all(0, plan.columns());
  stream_features(
      graph, x, plan, [&](NodeId /*first*/, MatrixF& rows) { all.swap(rows); }, progress);
  return all;
}

}  // namespace ngf
