#include "filter_rows.hpp"

#include <fmt/format.h>

#include <Eigen/Sparse>
#include <algorithm>
#include <deque>
#include <functional>

#include "detail/parallel.hpp"
#include "gemm.hpp"
#include "ngf/error.hpp"
#include "ngf/filter.hpp"
#include "ngf/random.hpp"

namespace ngf::bench {

namespace {

using Signals = SignalsOf<float>;
using SparseFilter = Eigen::SparseMatrix<float, Eigen::RowMajor>;

Taps some_taps(std::uint32_t count) {
  std::vector<double> taps{1};
  while (taps.size() < count) taps.push_back(-0.8 * taps.back());
  return {taps};
}

SparseFilter sparse_filter(const Shells& shells, const Taps& taps, double entries) {
  const NodeId nodes = shells.nodes();
  SparseFilter result(nodes, nodes);
  result.reserve(static_cast<Eigen::Index>(entries));
  std::vector<std::pair<NodeId, float>> row;
  for (NodeId u = 0; u < nodes; ++u) {
    result.startVec(u);
    row.clear();
    for (std::uint32_t k = 0; k < taps.count(); ++k) {
      for (const NodeId v : shells.columns(u, k))
        row.emplace_back(v, static_cast<float>(taps(u, k)));
    }
    std::sort(row.begin(), row.end());
    for (const auto& [v, tap] : row) result.insertBack(u, static_cast<Eigen::Index>(v)) = tap;
  }
  result.finalize();
  return result;
}

Signals random_signals(NodeId nodes, int width) {
  Random random(1);
  Signals x(nodes, width);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.normal());
  return x;
}

/// The largest error of y, over the largest value, on some rows that are computed in double.
double error_of(const Shells& shells, const Taps& taps, const Signals& x, const Signals& y) {
  const NodeId step = std::max<NodeId>(1, shells.nodes() / 500);
  double error = 0;
  double largest = 0;
  for (NodeId u = 0; u < shells.nodes(); u += step) {
    Eigen::RowVectorXd expected = Eigen::RowVectorXd::Zero(x.cols());
    for (std::uint32_t k = 0; k < taps.count(); ++k) {
      for (const NodeId v : shells.columns(u, k)) expected += taps(u, k) * x.row(v).cast<double>();
    }
    error = std::max(error, (y.row(u).cast<double>() - expected).cwiseAbs().maxCoeff());
    largest = std::max(largest, expected.cwiseAbs().maxCoeff());
  }
  return error / largest;
}

/// Entries of H that are worth holding for those who need them.
constexpr double most_entries = 2e8;

/// One way to compute Y.
struct Contender {
  std::string name;
  std::function<void(const Signals& x, Signals& y)> apply;
  std::string note;
};

class FilterBench {
 public:
  FilterBench(std::string name, const Graph& graph, std::uint32_t count, const FilterTasks& tasks)
      : name_(std::move(name)),
        graph_(graph),
        count_(count),
        tasks_(tasks),
        taps_(some_taps(count)) {
    add_forced();
    const double pairs = static_cast<double>(graph.nodes()) * graph.nodes();
    for (const std::uint64_t size : filters_[0].shells().pairs()) {
      entries_ += static_cast<double>(size);
    }
    const double bytes = (sizeof(float) + sizeof(int)) * entries_;
    if (entries_ > most_entries) {
      left_out_ = fmt::format("; peers would hold {}", megabytes(bytes));
      return;
    }
    sparse_ = sparse_filter(filters_[0].shells(), taps_, entries_);
    Eigen::setNbThreads(detail::thread_count(tasks.threads));
    contenders_.push_back({"Eigen",
                           [this](const Signals& x, Signals& y) { y.noalias() = sparse_ * x; },
                           megabytes(bytes)});
    if (entries_ >= 0.05 * pairs) add_dense();
  }

  void run(std::vector<Row>& rows) {
    for (const int width : tasks_.widths) compare(random_signals(graph_.nodes(), width), rows);
  }

 private:
  static std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

  NeighborhoodFilter make_filter(Storage storage, Eigen::Index width) const {
    FilterOptions options;
    options.shells.storage = storage;
    options.shells.threads = tasks_.threads;
    options.width = width;
    return {graph_, taps_, options};
  }

  static Contender contender(std::string name, const NeighborhoodFilter& filter, std::string note) {
    return {std::move(name),
            [&filter](const Signals& x, Signals& y) { filter.apply_to<float>(x, y); },
            std::move(note)};
  }

  void add_forced() {
    for (const Storage storage : {Storage::sparse, Storage::dense}) {
      const NeighborhoodFilter& filter = filters_.emplace_back(make_filter(storage, 0));
      contenders_.push_back(contender(fmt::format("ngf, {}", storage_name(storage)), filter,
                                      megabytes(static_cast<double>(filter.shells().bytes()))));
    }
  }

  void add_dense() {
    dense_ = Signals(sparse_);
    const auto nodes = static_cast<int>(graph_.nodes());
    for (const Gemm& gemm : gemms(detail::thread_count(tasks_.threads))) {
      contenders_.push_back({gemm.name,
                             [this, nodes, multiply = gemm.multiply](const Signals& x, Signals& y) {
                               multiply({.rows = nodes,
                                         .columns = static_cast<int>(x.cols()),
                                         .inner = nodes,
                                         .a = dense_.data(),
                                         .b = x.data(),
                                         .c = y.data()});
                             },
                             megabytes(4.0 * nodes * nodes)});
    }
  }

  void compare(const Signals& x, std::vector<Row>& rows) const {
    const std::string task = fmt::format("{}, K={}, F={}", name_, count_, x.cols());
    // Eigen would take minutes.
    const double most_eigen_work = 5e10;
    Signals y(x.rows(), x.cols());
    const NeighborhoodFilter automatic = make_filter(Storage::automatic, x.cols());
    const auto form = storage_name(automatic.shells().storage());
    std::vector<Contender> contenders{
        contender("ngf", automatic, fmt::format("{}{}", form, left_out_))};
    contenders.insert(contenders.end(), contenders_.begin(), contenders_.end());
    std::vector<const Contender*> fast;
    std::vector<std::function<void()>> bodies;
    for (const Contender& contender : contenders) {
      if (contender.name == "Eigen" && entries_ * static_cast<double>(x.cols()) > most_eigen_work) {
        continue;
      }
      contender.apply(x, y);
      const double error = error_of(filters_[0].shells(), taps_, x, y);
      if (!(error <= 1e-5)) {
        throw Error(fmt::format("{}: {} is off by {:.1e}", task, contender.name, error));
      }
      fast.push_back(&contender);
      bodies.emplace_back([&] { contender.apply(x, y); });
    }
    const auto best = best_seconds(bodies, tasks_.seconds);
    const double limit = 2 * entries_ * static_cast<double>(x.cols()) / tasks_.multiplications;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      rows.push_back({fmt::format("{}: {}", task, fast[i]->name), best[i], best[i] / best[0],
                      limit / best[i], fast[i]->note});
    }
  }

  std::string name_;
  const Graph& graph_;
  std::uint32_t count_;
  const FilterTasks& tasks_;
  Taps taps_;
  std::deque<NeighborhoodFilter> filters_;  // which others point to: lists, and hops
  std::string left_out_;
  double entries_ = 0;
  SparseFilter sparse_;
  Signals dense_;
  std::vector<Contender> contenders_;
};

}  // namespace

std::vector<Row> filter_rows(const std::string& name, const Graph& graph,
                             const FilterTasks& tasks) {
  std::vector<Row> rows;
  for (const std::uint32_t count : tasks.taps) FilterBench(name, graph, count, tasks).run(rows);
  return rows;
}

}  // namespace ngf::bench
