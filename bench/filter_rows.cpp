#include "filter_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "base/parallel.hpp"
#include "eigen_peer.hpp"
#include "filter_task.hpp"
#include "gemm.hpp"
#include "ngf/error.hpp"
#include "ngf/pair_weights.hpp"
#include "ngf/random.hpp"

namespace ngf::bench {

namespace {

using Signals = SignalsOf<float>;

SparseRows sparse_filter(const Shells& shells, const Taps& taps) {
  SparseRows result;
  result.starts.push_back(0);
  std::vector<std::pair<NodeId, float>> row;
  for (NodeId u = 0; u < shells.nodes(); ++u) {
    row.clear();
    for (std::uint32_t k = 0; k < taps.count(); ++k) {
      for (const NodeId v : shells.columns(u, k))
        row.emplace_back(v, static_cast<float>(taps(u, k)));
    }
    std::sort(row.begin(), row.end());
    for (const auto& [v, tap] : row) {
      result.columns.push_back(static_cast<int>(v));
      result.values.push_back(tap);
    }
    result.starts.push_back(static_cast<int>(result.columns.size()));
  }
  return result;
}

/// Entries of H that are worth holding for those who need them.
constexpr double most_entries = 2e8;

constexpr int embedding_columns = 64;

/// One way to compute Y.
struct Contender {
  std::string name;
  std::function<void(const SignalsView<float>& x, SignalsSlice<float>& y)> apply;
  std::string note;
};

class FilterBench {
 public:
  FilterBench(std::string name, const Graph& graph, std::uint32_t count, const FilterTasks& tasks)
      : name_(std::move(name)),
        graph_(graph),
        count_(count),
        tasks_(tasks),
        taps_(some_taps(count)),
        shells_(build_shells(
            graph, {.hops = count - 1, .storage = Storage::sparse, .threads = tasks.threads})) {
    add_forced();
    const double pairs = static_cast<double>(graph.nodes()) * graph.nodes();
    for (const std::uint64_t size : shells_.pairs()) {
      entries_ += static_cast<double>(size);
    }
    const double bytes = (sizeof(float) + sizeof(int)) * entries_;
    if (entries_ > most_entries) {
      left_out_ = fmt::format("; peers would hold {}", megabytes(bytes));
      return;
    }
    sparse_ = sparse_filter(shells_, taps_);
    contenders_.push_back({"Eigen",
                           [this, threads = detail::thread_count(tasks.threads)](
                               const SignalsView<float>& x, SignalsSlice<float>& y) {
                             multiply_by_eigen(sparse_, x.data(), x.cols(), y.data(), threads);
                           },
                           megabytes(bytes)});
    if (entries_ >= 0.05 * pairs) add_dense();
  }

  void run(std::vector<Row>& rows) {
    for (const int width : tasks_.widths) compare(width, rows);
    for (const int width : tasks_.widths) compare_weighted(width, rows);
    time_weights(rows);
  }

 private:
  static std::string megabytes(double bytes) { return fmt::format("{:.1f} MB", bytes / 1e6); }

  NeighborhoodFilter make_filter(Storage storage, Merging merging, Eigen::Index width) const {
    FilterOptions options;
    options.merging = merging;
    options.shells.storage = storage;
    options.shells.threads = tasks_.threads;
    options.width = width;
    return {graph_, taps_, options};
  }

  static Contender contender(std::string name, const NeighborhoodFilter& filter, std::string note) {
    return {std::move(name),
            [&filter](const SignalsView<float>& x, SignalsSlice<float>& y) {
              filter.apply_to<float>(x, y);
            },
            std::move(note)};
  }

  void add_forced() {
    for (const Storage storage : {Storage::sparse, Storage::dense}) {
      for (const Merging merging : {Merging::never, Merging::always}) {
        const NeighborhoodFilter& filter = filters_.emplace_back(make_filter(storage, merging, 0));
        const bool merged = filter.shells().nodes() < graph_.nodes();
        if (merged != (merging == Merging::always)) continue;
        contenders_.push_back(contender(
            fmt::format("ngf, {}{}", storage_name(storage), merged ? ", twins merged" : ""), filter,
            megabytes(static_cast<double>(filter.shells().bytes()))));
      }
    }
  }

  void add_dense() {
    const auto nodes = static_cast<int>(graph_.nodes());
    dense_ = Signals::Zero(nodes, nodes);
    for (int u = 0; u < nodes; ++u) {
      const auto row = static_cast<std::size_t>(u);
      for (auto i = sparse_.starts[row]; i < sparse_.starts[row + 1]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        dense_(u, sparse_.columns[at]) = sparse_.values[at];
      }
    }
    for (const Gemm& gemm : gemms(detail::thread_count(tasks_.threads))) {
      contenders_.push_back({gemm.name,
                             [this, nodes, multiply = gemm.multiply](const SignalsView<float>& x,
                                                                     SignalsSlice<float>& y) {
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

  void compare(int width, std::vector<Row>& rows) const {
    AlignedSignals from(graph_.nodes(), width);
    AlignedSignals to(graph_.nodes(), width);
    const SignalsView<float> x = from.matrix();
    SignalsSlice<float> y = to.matrix();
    const std::string task = fmt::format("{}, K={}, F={}", name_, count_, x.cols());
    // Eigen would take minutes.
    const double most_eigen_work = 5e10;
    const NeighborhoodFilter automatic =
        make_filter(Storage::automatic, Merging::automatic, x.cols());
    const auto form = storage_name(automatic.shells().storage());
    const bool merged = automatic.shells().nodes() < graph_.nodes();
    std::vector<Contender> contenders{contender(
        "ngf", automatic, fmt::format("{}{}{}", form, merged ? ", twins merged" : "", left_out_))};
    contenders.insert(contenders.end(), contenders_.begin(), contenders_.end());
    std::vector<const Contender*> fast;
    std::vector<std::function<void()>> bodies;
    for (const Contender& contender : contenders) {
      if (contender.name == "Eigen" && entries_ * static_cast<double>(x.cols()) > most_eigen_work) {
        continue;
      }
      contender.apply(x, y);
      const double error = error_of(shells_, taps_, x, y);
      if (!(error <= 1e-5)) {
        throw Error(fmt::format("{}: {} is off by {:.1e}", task, contender.name, error));
      }
      fast.push_back(&contender);
      bodies.emplace_back([&] { contender.apply(x, y); });
    }
    check_gradients(automatic, x);
    bodies.emplace_back([&] { automatic.gradients_to<float>(x, x, y); });
    const auto best = best_seconds(bodies, tasks_.seconds);
    const double limit = 2 * entries_ * static_cast<double>(x.cols()) / tasks_.multiplications;
    for (std::size_t i = 0; i < fast.size(); ++i) {
      rows.push_back({fmt::format("{}: {}", task, fast[i]->name), best[i], best[i] / best[0],
                      limit / best[i], fast[i]->note});
    }
    // By the input and by the taps, in the form of the first row.
    rows.push_back({fmt::format("{}: ngf, gradients", task), best.back(), best.back() / best[0],
                    2 * limit / best.back(), fast[0]->note});
  }

  FilterOptions pair_options() const {
    FilterOptions options;
    options.normalization = Normalization::symmetric;
    options.merging = Merging::never;
    options.shells.storage = Storage::sparse;
    options.shells.threads = tasks_.threads;
    return options;
  }

  Embeddings random_embeddings(Eigen::Index width) const {
    Random random(1);
    MatrixF rows(graph_.nodes(), width);
    for (Eigen::Index i = 0; i < rows.size(); ++i) {
      rows.data()[i] = static_cast<float>(random.normal());
    }
    return Embeddings(rows);
  }

  /// Products with a weight for each pair, over those of the same lists without.
  void compare_weighted(int width, std::vector<Row>& rows) const {
    AlignedSignals from(graph_.nodes(), width);
    AlignedSignals to(graph_.nodes(), width);
    AlignedSignals expected(graph_.nodes(), width);
    const SignalsView<float> x = from.matrix();
    SignalsSlice<float> y = to.matrix();
    const NeighborhoodFilter plain(graph_, taps_, pair_options());
    plain.apply_to<float>(x, expected.matrix());
    const Embeddings embeddings = random_embeddings(embedding_columns);
    // With power 0 all weights are 1.
    PairFilter(graph_, taps_, embeddings, 0, pair_options()).apply_to<float>(x, y);
    const std::string task = fmt::format("{}, K={}, F={}", name_, count_, width);
    const float error = (y - expected.matrix()).cwiseAbs().maxCoeff();
    if (!(error <= 1e-5F * expected.matrix().cwiseAbs().maxCoeff())) {
      throw Error(fmt::format("{}: pair weights are off by {:.1e}", task, error));
    }
    const PairFilter weighted(graph_, taps_, embeddings, 1, pair_options());
    const auto best = best_seconds(
        {[&] { plain.apply_to<float>(x, y); }, [&] { weighted.apply_to<float>(x, y); }},
        tasks_.seconds);
    const double limit = 2 * entries_ * width / tasks_.multiplications;
    rows.push_back({fmt::format("{}: ngf, sparse, symmetric", task), best[0], 1, limit / best[0],
                    std::string(form_name(plain.form<float>(width)))});
    rows.push_back({fmt::format("{}: ngf, pair weights, symmetric", task), best[1],
                    best[1] / best[0], limit / best[1],
                    megabytes(static_cast<double>(weighted.weight_bytes()))});
  }

  /// The weights of all pairs, over the product of as many columns as embeddings have.
  void time_weights(std::vector<Row>& rows) const {
    AlignedSignals from(graph_.nodes(), embedding_columns);
    AlignedSignals to(graph_.nodes(), embedding_columns);
    SignalsSlice<float> y = to.matrix();
    const Embeddings embeddings = random_embeddings(embedding_columns);
    FilterOptions options = pair_options();
    options.normalization = Normalization::none;
    const NeighborhoodFilter plain(graph_, taps_, options);
    const auto best = best_seconds({[&] { plain.apply_to<float>(from.matrix(), y); },
                                    [&] { PairFilter(plain.shells(), taps_, embeddings, 1); }},
                                   tasks_.seconds);
    rows.push_back({fmt::format("{}, K={}: ngf, weights of pairs, {} columns", name_, count_,
                                embedding_columns),
                    best[1], best[1] / best[0],
                    2 * entries_ * embedding_columns / tasks_.multiplications / best[1],
                    "over the product of the same columns"});
  }

  /// By the taps, for G = X: <X, A_k X>, each shell by itself.
  static void check_gradients(const NeighborhoodFilter& filter, const SignalsView<float>& x) {
    const Signals signals = x;
    const FilterGradients<float> found = filter.gradients<float>(signals, signals);
    const Matrix exact = signals.cast<double>();
    for (std::size_t k = 0; k < found.taps.size(); ++k) {
      const Matrix product = filter.apply_shell<double>(k, exact);
      const double expected = exact.cwiseProduct(product).sum();
      const double size = exact.norm() * product.norm();
      if (std::abs(found.taps[k] - expected) > 1e-5 * size) {
        throw Error(
            fmt::format("the gradient by tap {} is {} instead of {}", k, found.taps[k], expected));
      }
    }
  }

  std::string name_;
  const Graph& graph_;
  std::uint32_t count_;
  const FilterTasks& tasks_;
  Taps taps_;
  Shells shells_;
  std::deque<NeighborhoodFilter> filters_;  // which others point to: lists, and hops
  std::string left_out_;
  double entries_ = 0;
  SparseRows sparse_;
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
