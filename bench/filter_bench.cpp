// filter_bench DATA [NAME ...]: times neighbourhood filters on citation networks, and prints rows
// as JSON. DATA is the folder of real data sets.
//
// The task: Y = H X, with H = sum over k of h_k A_k, k up to K, and X of F columns, in float. Peers
// have H at hand, as a sparse matrix or a dense one; ngf has the shells and the taps.

#include <fmt/format.h>
#include <omp.h>

#include <Eigen/Sparse>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gemm.hpp"
#include "measure.hpp"
#include "ngf/error.hpp"
#include "ngf/filter.hpp"
#include "ngf/io/read.hpp"
#include "ngf/random.hpp"

namespace {

using ngf::Graph;
using ngf::NeighborhoodFilter;
using ngf::NodeId;
using ngf::Storage;
using Signals = ngf::SignalsOf<float>;
using SparseFilter = Eigen::SparseMatrix<float, Eigen::RowMajor>;

/// What takes longer for one product is left out.
constexpr double longest = 20;

ngf::Taps taps_up_to(std::uint32_t hops) {
  std::vector<double> taps{1};
  for (std::uint32_t k = 1; k <= hops; ++k) taps.push_back(-0.8 * taps.back());
  return ngf::Taps(std::move(taps));
}

SparseFilter sparse_filter(const ngf::Shells& shells, const ngf::Taps& taps) {
  const NodeId nodes = shells.nodes();
  SparseFilter result(nodes, nodes);
  std::vector<Eigen::Triplet<float>> row;
  for (NodeId u = 0; u < nodes; ++u) {
    result.startVec(u);
    row.clear();
    for (std::uint32_t k = 0; k < taps.count(); ++k) {
      for (const NodeId v : shells.columns(u, k)) {
        row.emplace_back(0, static_cast<int>(v), static_cast<float>(taps(u, k)));
      }
    }
    std::sort(row.begin(), row.end(),
              [](const auto& a, const auto& b) { return a.col() < b.col(); });
    for (const auto& entry : row) {
      result.insertBack(u, entry.col()) = entry.value();
    }
  }
  result.finalize();
  return result;
}

Signals random_signals(NodeId nodes, int width) {
  ngf::Random random(1);
  Signals x(nodes, width);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.normal());
  return x;
}

/// One way to compute Y, into `y`.
struct Contender {
  std::string name;
  std::function<void(const Signals& x, Signals& y)> apply;
  double bytes = 0;  ///< that hold the filter
  std::string note;
};

class Bench {
 public:
  explicit Bench(nlohmann::ordered_json& rows)
      : rows_(rows), gemms_(ngf::bench::gemms(omp_get_max_threads())) {}

  void run(const std::string& name, const Graph& graph, std::uint32_t hops) {
    const ngf::Taps taps = taps_up_to(hops - 1);
    std::vector<Contender> contenders;
    std::vector<NeighborhoodFilter> filters;
    for (const Storage storage : {Storage::automatic, Storage::sparse, Storage::dense}) {
      ngf::FilterOptions options;
      options.shells.storage = storage;
      filters.emplace_back(graph, taps, options);
    }
    for (std::size_t i = 0; i < filters.size(); ++i) {
      const NeighborhoodFilter& filter = filters[i];
      const std::string form(ngf::storage_name(filter.shells().storage()));
      contenders.push_back({i == 0 ? "ngf" : "ngf, " + form,
                            [&filter](const Signals& x, Signals& y) { y = filter.apply(x); },
                            static_cast<double>(filter.shells().bytes()), i == 0 ? form : ""});
    }
    const auto pairs = filters[1].shells().pairs();
    double entries = 0;
    for (const std::uint64_t count : pairs) entries += static_cast<double>(count);
    const SparseFilter sparse = sparse_filter(filters[1].shells(), taps);
    contenders.push_back({"Eigen", [&](const Signals& x, Signals& y) { y.noalias() = sparse * x; },
                          8 * entries, ""});
    std::optional<Signals> dense;
    if (entries > 0.05 * graph.nodes() * graph.nodes()) {
      dense = Signals(sparse);
      const int nodes = static_cast<int>(graph.nodes());
      for (const auto& gemm : gemms_) {
        contenders.push_back({gemm.name,
                              [&gemm, &dense, nodes](const Signals& x, Signals& y) {
                                gemm.multiply(nodes, static_cast<int>(x.cols()), nodes,
                                              dense->data(), x.data(), y.data());
                              },
                              4.0 * nodes * nodes, ""});
      }
    }
    const double density = entries / graph.nodes() / graph.nodes();
    for (const int width : {1, 16, 64, 512}) {
      compare(fmt::format("{}, K={}, F={}", name, hops, width), sparse,
              random_signals(graph.nodes(), width), contenders, density);
    }
  }

 private:
  void compare(const std::string& task, const SparseFilter& sparse, const Signals& x,
               const std::vector<Contender>& contenders, double density) {
    fmt::print(stderr, "{}\n", task);
    const ngf::SignalsOf<double> expected = sparse.cast<double>() * x.cast<double>();
    std::vector<const Contender*> fast;
    std::vector<std::function<void()>> bodies;
    Signals y(x.rows(), x.cols());
    for (const Contender& contender : contenders) {
      const double seconds = ngf::bench::seconds_of([&] { contender.apply(x, y); });
      const double error =
          (y.cast<double>() - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
      if (!(error <= 1e-5)) {
        throw ngf::Error(fmt::format("{}: {} is off by {:.1e}", task, contender.name, error));
      }
      if (seconds > longest) continue;
      fast.push_back(&contender);
      bodies.emplace_back([&] { contender.apply(x, y); });
    }
    const auto best = ngf::bench::best_seconds(bodies, 0.3);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      rows_.push_back({{"name", fmt::format("{}: {}", task, fast[i]->name)},
                       {"seconds", best[i]},
                       {"ratio", best[i] / best[0]},
                       {"gflops", 2 * density * static_cast<double>(x.rows()) *
                                      static_cast<double>(x.size()) / best[i] / 1e9},
                       {"megabytes", fast[i]->bytes / 1e6},
                       {"density", density},
                       {"note", fast[i]->note}});
    }
  }

  nlohmann::ordered_json& rows_;
  std::vector<ngf::bench::Gemm> gemms_;
};

void run(const std::filesystem::path& data, const std::vector<std::string>& wanted) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Bench bench(rows);
  for (const std::string name : {"cora", "citeseer", "pubmed"}) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    const Graph graph =
        ngf::io::read_graph(data / "planetoid" / ("ind." + name + ".graph")).dataset.graph;
    for (const std::uint32_t hops : {3U, 5U, 10U}) {
      if (name == "pubmed" && hops == 10) continue;
      bench.run(name, graph, hops);
    }
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"rows", rows}}.dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: filter_bench DATA [NAME ...]\n", stderr);
    return 2;
  }
  try {
    run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "filter_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
