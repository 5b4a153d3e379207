#include "cost_rows.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/parallel.hpp"
#include "experiments/common.hpp"
#include "filter/costs.hpp"
#include "filter_task.hpp"
#include "measure.hpp"
#include "ngf/generate.hpp"
#include "ngf/tasks/denoise_cases.hpp"
#include "nn/costs.hpp"
#include "nn/input.hpp"
#include "shells/costs.hpp"
#include "shells/plan.hpp"
#include "tasks/costs.hpp"

namespace ngf::bench {

namespace {

/// Measures costs; the machine's threads and the time for each number are given once.
class CostBench {
 public:
  CostBench(int threads, double seconds) : threads_(threads), seconds_(seconds) {}

  std::vector<Cost> run() {
    add_queue();
    add_bits();
    add_density();
    add_short_rows();
    add_twins();
    add_blocks();
    add_training();
    add_features();
    add_eigenvectors();
    add_reproduction();
    return std::move(costs_);
  }

 private:
  double time(const std::function<void()>& body) const {
    return best_seconds({body}, seconds_).front();
  }

  void add(std::string name, std::string unit, double in_use, double measured) {
    costs_.push_back({std::move(name), std::move(unit), in_use, measured});
  }

  /// Fits seconds = counts * costs by least squares of relative errors, and none below 0.
  static Eigen::VectorXd fit(Eigen::MatrixXd counts, const Eigen::VectorXd& seconds) {
    for (Eigen::Index i = 0; i < counts.rows(); ++i) counts.row(i) /= seconds[i];
    std::vector<Eigen::Index> used(static_cast<std::size_t>(counts.cols()));
    for (std::size_t i = 0; i < used.size(); ++i) used[i] = static_cast<Eigen::Index>(i);
    for (;;) {
      const Eigen::MatrixXd part = counts(Eigen::all, used);
      const Eigen::VectorXd found =
          part.colPivHouseholderQr().solve(Eigen::VectorXd::Ones(counts.rows()));
      Eigen::Index lowest = 0;
      if (found.minCoeff(&lowest) >= 0) {
        Eigen::VectorXd result = Eigen::VectorXd::Zero(counts.cols());
        for (std::size_t i = 0; i < used.size(); ++i) {
          result[used[i]] = found[static_cast<Eigen::Index>(i)];
        }
        return result;
      }
      used.erase(used.begin() + lowest);
    }
  }

  /// Random graphs and grids on which one of the terms of the costs of shells stands out.
  static std::vector<std::pair<Graph, std::uint32_t>> shell_tasks() {
    std::vector<std::pair<Graph, std::uint32_t>> tasks;
    for (const double degree : {1.0, 4.0, 20.0, 60.0}) {
      for (const std::uint64_t nodes : {2000U, 8000U, 20'000U}) {
        const Graph graph = erdos_renyi(nodes, degree / static_cast<double>(nodes), 1);
        for (const std::uint32_t hops : {1U, 2U, 3U}) {
          if (std::pow(degree, hops) < 0.2 * static_cast<double>(nodes)) {
            tasks.emplace_back(graph, hops);
          }
        }
      }
    }
    tasks.emplace_back(grid(100, 100), 4);
    tasks.emplace_back(grid(100, 100), 16);
    return tasks;
  }

  Shells lists(const Graph& graph, std::uint32_t hops, Engine engine) const {
    return build_shells(graph,
                        {.hops = hops, .storage = Storage::sparse, .engine = engine, .threads = 1});
  }

  void add_queue() {
    const auto tasks = shell_tasks();
    const auto count = static_cast<Eigen::Index>(tasks.size());
    Eigen::MatrixXd counts(count, 3);
    Eigen::VectorXd seconds(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto& [graph, hops] = tasks[static_cast<std::size_t>(i)];
      const ShellEstimate size = shells::estimate_quickly(graph, {.hops = hops});
      counts.row(i) << size.arcs, size.total(), static_cast<double>(graph.nodes());
      seconds[i] = time([&, &graph = graph, hops = hops] { lists(graph, hops, Engine::queue); });
    }
    const Eigen::VectorXd found = 1e9 * fit(counts, seconds);
    using namespace shells::costs;
    add("shells::queue_ns_per_arc", "ns per arc", queue_ns_per_arc, found[0]);
    add("shells::queue_ns_per_pair", "ns per pair", queue_ns_per_pair, found[1]);
    add("shells::queue_ns_per_row", "ns per row", queue_ns_per_row, found[2]);
  }

  void add_bits() {
    const auto tasks = shell_tasks();
    const auto count = static_cast<Eigen::Index>(tasks.size());
    Eigen::MatrixXd counts(count, 5);
    Eigen::VectorXd seconds(count);
    for (Eigen::Index i = 0; i < count; ++i) {
      const auto& [graph, hops] = tasks[static_cast<std::size_t>(i)];
      const ShellEstimate size = shells::estimate_quickly(graph, {.hops = hops});
      const double nodes = graph.nodes();
      const double lines = std::min(static_cast<double>(graph.arcs()) * nodes / 512, size.arcs);
      counts.row(i) << lines * hops, size.total(), nodes, nodes * nodes, nodes * nodes * hops;
      seconds[i] = time([&, &graph = graph, hops = hops] { lists(graph, hops, Engine::bits); });
    }
    const Eigen::VectorXd found = 1e9 * fit(counts, seconds);
    using namespace shells::costs;
    add("shells::bits_ns_per_line", "ns per line of 64 bytes", bits_ns_per_line, found[0]);
    add("shells::bits_ns_per_pair", "ns per pair", bits_ns_per_pair, found[1]);
    add("shells::bits_ns_per_node", "ns per node", bits_ns_per_node, found[2]);
    add("shells::bits_ns_per_entry", "ns per entry", bits_ns_per_entry, found[3]);
    add("shells::bits_ns_per_entry_and_level", "ns per entry", bits_ns_per_entry_and_level,
        found[4]);
  }

  template <typename Real>
  double product(const NeighborhoodFilter& filter, int width) const {
    const SignalsOf<Real> x = SignalsOf<Real>::Random(filter.nodes(), width);
    SignalsOf<Real> y(filter.nodes(), width);
    return time([&] { filter.template apply_to<Real>(x, y); });
  }

  NeighborhoodFilter filter_on(const Graph& graph, std::uint32_t taps, Storage storage,
                               ProductForm form = ProductForm::automatic,
                               Merging merging = Merging::never) const {
    FilterOptions options;
    options.shells.storage = storage;
    options.shells.threads = threads_;
    options.merging = merging;
    options.form = form;
    return {graph, some_taps(taps), options};
  }

  /// The share of pairs at which lists and hops take the same time, between the two measured
  /// shares where their order changes; 1 where lists are always faster.
  template <typename Real>
  double equal_density(int width) const {
    constexpr double nodes = 3000;
    constexpr std::uint32_t taps = 4;
    double before_share = 0;
    double before_ratio = 0;
    for (const double share : {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99}) {
      // The mean degree of a random graph of which this share is within three hops.
      const double degree = std::cbrt(-std::log(1 - share) * nodes);
      const Graph graph = erdos_renyi(nodes, degree / nodes, 1);
      const double own = estimate_shells(graph, {.hops = taps - 1}).total() / (nodes * nodes);
      const double ratio = product<Real>(filter_on(graph, taps, Storage::sparse), width) /
                           product<Real>(filter_on(graph, taps, Storage::dense), width);
      if (ratio >= 1) {
        if (before_ratio == 0) return own;
        const double part = -std::log(before_ratio) / std::log(ratio / before_ratio);
        return before_share + part * (own - before_share);
      }
      before_share = own;
      before_ratio = ratio;
    }
    return 1;
  }

  void add_density() {
    using namespace filter::costs;
    const std::string unit = "share of all pairs";
    add("filter::dense_above_one_column", unit, dense_above_one_column, equal_density<float>(1));
    add("filter::dense_above_one_column_double", unit, dense_above_one_column_double,
        equal_density<double>(1));
    for (const int width : {4, 16, 64}) {
      const double in_use =
          std::min(dense_above_most, dense_above_float + dense_above_per_column * width);
      add("filter::dense_above_float, F = " + std::to_string(width), unit, in_use,
          equal_density<float>(width));
    }
    add("filter::dense_above_double, F = 16", unit, dense_above_double, equal_density<double>(16));
  }

  /// Columns per row at which paired lists overtake short ones.
  void add_short_rows() {
    double found = 512;
    for (const std::size_t neighbors : {8U, 16U, 32U, 48U, 64U, 96U, 128U, 192U, 256U}) {
      const Graph graph = watts_strogatz(4000, neighbors / 2, 0.05, 1);
      const auto seconds = [&](ProductForm form) {
        return product<float>(filter_on(graph, 3, Storage::sparse, form), 64);
      };
      if (seconds(ProductForm::paired_lists) > seconds(ProductForm::short_lists)) continue;
      const ShellEstimate size = estimate_shells(graph, {.hops = 2});
      found = size.total() / static_cast<double>(graph.nodes());
      break;
    }
    add("filter::short_row", "columns per row", filter::costs::short_row, found);
  }

  /// Pairs per node that take as long as adding up twins and handing out their products.
  double pairs_of_merging(Storage storage, std::uint32_t taps, int width) const {
    // Each node of a random graph has a twin, so that a quarter of the pairs is left.
    const Graph half = erdos_renyi(1500, 4.0 / 1500, 1);
    std::vector<Edge> edges;
    for (NodeId u = 0; u < half.nodes(); ++u) {
      for (const NodeId v : half.neighbors(u)) {
        for (const NodeId side : {0U, 1500U}) edges.push_back({u, v + side});
        edges.push_back({u + 1500, v + 1500});
      }
    }
    const Graph graph = build_graph(3000, edges);
    const auto alone = filter_on(half, taps, storage);
    const auto merged = filter_on(graph, taps, storage, ProductForm::automatic, Merging::always);
    double pairs = static_cast<double>(half.nodes()) * half.nodes();
    if (storage == Storage::sparse) pairs = estimate_shells(half, {.hops = taps - 1}).total();
    const double of_pairs = product<float>(alone, width);
    const double besides = std::max(0.0, product<float>(merged, width) - of_pairs);
    return besides / of_pairs * pairs / static_cast<double>(graph.nodes());
  }

  void add_twins() {
    using namespace filter::costs;
    const std::string unit = "pairs per node";
    add("filter::merging_pairs_dense_one_column", unit, merging_pairs_dense_one_column,
        pairs_of_merging(Storage::dense, 6, 1));
    add("filter::merging_pairs_dense", unit, merging_pairs_dense,
        pairs_of_merging(Storage::dense, 6, 64));
    add("filter::merging_pairs_short", unit, merging_pairs_short,
        pairs_of_merging(Storage::sparse, 3, 8));
    add("filter::merging_pairs_lists", unit, merging_pairs_lists,
        pairs_of_merging(Storage::sparse, 6, 64));
  }

  void add_blocks() {
    const Graph graph = erdos_renyi(3000, 4.0 / 3000, 1);
    double ratio = 0;
    try {
      ratio =
          product<float>(filter_on(graph, 8, Storage::dense, ProductForm::hop_blocks), 6) / 6 /
          (product<float>(filter_on(graph, 8, Storage::dense, ProductForm::hop_tiles), 32) / 32);
    } catch (const Error&) {
      return;  // this instruction set has no blocks
    }
    add("filter::block_column_per_tile_column", "ratio",
        filter::costs::block_column_per_tile_column, ratio);
  }

  void add_training() {
    constexpr int width = 64;
    const double flop = 1 / multiplication_rate(threads_, seconds_);
    const Graph graph = citation_network(2708, 1).graph;
    const NeighborhoodFilter filter = filter_on(graph, 4, Storage::sparse);
    add("nn::flop_of_lists", "dense operations", nn::costs::flop_of_lists,
        product<float>(filter, width) / filter.flops(width) / flop);
    const PolynomialFilter powers(graph, some_taps(4), Shift::gcn, threads_);
    const SignalsOf<float> x = SignalsOf<float>::Random(graph.nodes(), width);
    SignalsOf<float> y(graph.nodes(), width);
    add("nn::flop_of_shifts", "dense operations", nn::costs::flop_of_shifts,
        time([&] { powers.apply_to<float>(x, y); }) / powers.flops(width) / flop);
  }

  static constexpr int feature_width = 512;

  /// Features of Cora's size, of which this share is not 0.
  static SignalsOf<float> some_features(double share) {
    SignalsOf<float> x(2708, 1433);
    Random random(1);
    for (float& value : x.reshaped()) value = random.uniform() < share ? 1.0F : 0.0F;
    return x;
  }

  /// Seconds of X B and X' G, the products of an epoch without dropout.
  double feature_products(FeaturesOf<float> features) const {
    const nn::Input<float> input(std::move(features), 1, threads_);
    const auto rows = static_cast<Eigen::Index>(input.rows());
    const auto cols = static_cast<Eigen::Index>(input.cols());
    const SignalsOf<float> b = SignalsOf<float>::Random(cols, feature_width);
    const SignalsOf<float> g = SignalsOf<float>::Random(rows, feature_width);
    SignalsOf<float> of_b(rows, feature_width);
    SignalsOf<float> of_g(cols, feature_width);
    return time([&] {
      input.multiply({}, detail::view(b), detail::view(of_b), detail::Into::replace);
      input.multiply_transpose({}, detail::view(g), detail::view(of_g));
    });
  }

  void add_features() {
    constexpr double share_of_words = 0.0127;  // in Cora's features
    using Sparse = Eigen::SparseMatrix<float, Eigen::RowMajor, std::int64_t>;
    const Sparse words = some_features(share_of_words).sparseView();
    const double flops = 4 * static_cast<double>(words.nonZeros()) * feature_width;
    const double flop = 1 / multiplication_rate(threads_, seconds_);
    add("nn::flop_of_sparse", "dense operations", nn::costs::flop_of_sparse,
        feature_products(words) / flops / flop);

    const SignalsOf<float> x = some_features(tasks::costs::sparse_share);
    const double ratio = feature_products(x) / feature_products(Sparse(x.sparseView()));
    add("tasks::sparse_share", "share of entries", tasks::costs::sparse_share,
        tasks::costs::sparse_share * ratio);
  }

  void add_eigenvectors() {
    constexpr auto nodes = tasks::costs::eigenvector_nodes;
    const Eigen::MatrixXd half = Eigen::MatrixXd::Random(nodes, nodes);
    const Eigen::MatrixXd symmetric = half + half.transpose();
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
    // Their time grows with the cube of the nodes.
    add("tasks::eigenvector_nodes", "nodes", static_cast<double>(nodes),
        static_cast<double>(nodes) / std::cbrt(time([&] { solver.compute(symmetric); })));
  }

  /// What the times of a reproduction are estimated from, at the speed of `product_rate`.
  void add_reproduction() {
    using namespace experiments::costs;
    const double rate = multiplication_rate(threads_, seconds_);
    const double speed = rate / product_rate;
    add("experiments::product_rate", "operations per second", product_rate, rate);

    constexpr std::size_t graphs = 32;
    const double seconds = time([&] {
      parallel_for(graphs, threads_, [](std::size_t g) {
        experiments::measure_realisation(experiments::small_graphs[g % 2], "both", 6, g);
      });
    });
    add("experiments::of_realisation", "s", of_realisation, speed * seconds / graphs);

    const DenoiseCase signals = denoise_case_1(PaperSettings::code, SignalKind::ngf, 8, 1);
    DenoiseSettings fit = denoise_settings_1(PaperSettings::code, DenoiseArch::ngf, 1);
    fit.epochs = 100;
    fit.threads = threads_;
    const double products =
        epoch_flops(signals.graph, fit) * fit.epochs * static_cast<double>(signals.clean.cols());
    add("experiments::of_product", "s per operation", of_product,
        speed * time([&] { denoise(signals.graph, signals.noisy, &signals.clean, fit); }) /
            products);

    const Dataset dataset = citation_network(2708, 1);
    ClassifySettings training = recipe("paper");
    training.epochs = 50;
    training.threads = threads_;
    const double units = experiments::training_seconds(dataset, training, 1) / of_unit;
    add("experiments::of_unit", "s per node, layer and hidden unit", of_unit,
        speed * time([&] {
          classify(dataset, dataset.splits.at(0), training, runs_of(training, 1));
        }) / units);
  }

  int threads_;
  double seconds_;
  std::vector<Cost> costs_;
};

}  // namespace

std::vector<Cost> measure_costs(int threads, double seconds) {
  return CostBench(threads, seconds).run();
}

}  // namespace ngf::bench
