#include <algorithm>
#include <numeric>

#include "ngf/generate.hpp"
#include "ngf/sharded_filter.hpp"
#include "ngf/tasks/classify.hpp"
#include "tests/sharding_support.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using test::random_edges;
using test::run_team;

struct NamedGraph {
  std::string name;
  Graph graph;
};

/// Trees, twins, islands, isolated nodes, directions, and fewer nodes than ranks.
std::vector<NamedGraph> small_graphs() {
  std::vector<NamedGraph> graphs;
  graphs.push_back({"twins", test::graph_with_twins()});
  graphs.push_back({"sparse", build_graph(90, random_edges(90, 80, 3))});
  graphs.push_back({"directed", build_graph(70, random_edges(70, 150, 5), {.directed = true})});
  graphs.push_back({"dense", build_graph(40, random_edges(40, 300, 6))});
  std::vector<Edge> star;
  for (NodeId u = 1; u < 30; ++u) star.push_back({0, u});
  graphs.push_back({"star", build_graph(30, star)});
  graphs.push_back({"tiny", build_graph(3, std::vector<Edge>{{0, 1}})});
  graphs.push_back({"one node", build_graph(1, std::vector<Edge>{})});
  return graphs;
}

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Random random(seed);
  Matrix result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = random.normal();
  return result;
}

std::vector<double> as_vector(const Matrix& x) { return {x.data(), x.data() + x.size()}; }

double relative(const std::vector<double>& found, const std::vector<double>& expected) {
  double error = 0;
  double size = 0;
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    error = std::max(error, std::abs(found[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  return size > 0 ? error / size : error;
}

// ---- Rows of shells ----

/// Hops that are listed, by row.
std::vector<std::vector<NodeId>> listed(const Shells& shells, std::uint32_t hops) {
  std::vector<std::vector<NodeId>> result;
  for (NodeId u = shells.rows().begin; u < shells.rows().end; ++u) {
    for (std::uint32_t k = 0; k <= hops; ++k) result.push_back(shells.columns(u, k));
  }
  return result;
}

TEST(RowsOfShells, AreThoseOfAllShells) {
  for (const auto& [name, graph] : small_graphs()) {
    for (const int min_paths : {1, 2}) {
      for (const Storage storage : {Storage::sparse, Storage::dense}) {
        for (const Engine engine : {Engine::bits, Engine::queue}) {
          ShellOptions options{.hops = 4, .storage = storage, .engine = engine};
          options.min_paths = min_paths;
          options.threads = 1;
          const auto all = listed(build_shells(graph, options), options.hops);
          std::vector<std::vector<NodeId>> parts;
          for (NodeId part = 0; part < 3; ++part) {
            options.rows = {graph.nodes() * part / 3, graph.nodes() * (part + 1) / 3};
            const auto own = listed(build_shells(graph, options), options.hops);
            parts.insert(parts.end(), own.begin(), own.end());
          }
          EXPECT_EQ(parts, all) << name << ", " << storage_name(storage);
        }
      }
    }
  }
}

TEST(RowsOfShells, AreCountedAndStreamed) {
  for (const auto& [name, graph] : small_graphs()) {
    ShellOptions options{.hops = 3};
    auto all = shell_sizes(graph, options);
    all.resize(4, 0);
    std::vector<std::uint64_t> counted(4, 0);
    std::vector<std::uint64_t> streamed(4, 0);
    for (NodeId part = 0; part < 4; ++part) {
      options.rows = {graph.nodes() * part / 4, graph.nodes() * (part + 1) / 4};
      const auto own = shell_sizes(graph, options);
      for (std::size_t k = 0; k < own.size(); ++k) counted[k] += own[k];
      streamed[0] += options.rows.count();
      std::mutex mutex;
      stream_shells(graph, plan_shells(graph, options), [&](const ShellRows<NodeId>& rows) {
        const std::lock_guard lock(mutex);
        for (std::size_t i = 0; i < rows.rows.size(); ++i) {
          EXPECT_TRUE(options.rows.contains(rows.rows[i]));
          for (std::size_t k = 1; k <= 3; ++k) {
            streamed[k] += rows.ends[i * 3 + k - 1] - (k == 1 ? 0 : rows.ends[i * 3 + k - 2]);
          }
        }
      });
    }
    EXPECT_EQ(counted, all) << name;
    EXPECT_EQ(streamed, all) << name;
    options.rows = {};
    std::vector<std::uint64_t> in_parts(4, 0);
    for (std::size_t part = 0; part < 3; ++part) {
      const auto own = part_of_shell_sizes(graph, options, part, 3);
      for (std::size_t k = 0; k < own.size(); ++k) in_parts[k] += own[k];
    }
    EXPECT_EQ(in_parts, all) << name;
  }
}

// ---- Who gets which nodes ----

TEST(Arrange, DealsAllNodesOnce) {
  for (const auto& [name, graph] : small_graphs()) {
    for (const int ranks : {1, 2, 5, 40}) {
      const Arrangement arranged = arrange(graph, ranks, 3);
      std::vector<NodeId> order = arranged.order;
      std::sort(order.begin(), order.end());
      std::vector<NodeId> all(graph.nodes());
      std::iota(all.begin(), all.end(), NodeId{0});
      EXPECT_EQ(order, all) << name;
      EXPECT_EQ(arranged.begins.size(), static_cast<std::size_t>(ranks) + 1);
      EXPECT_TRUE(std::is_sorted(arranged.begins.begin(), arranged.begins.end()));
      EXPECT_EQ(arranged.begins.back(), graph.nodes());
    }
  }
}

TEST(Arrange, SharesWorkNotNodes) {
  // Nodes that reach a hundred others, and many more that reach nobody.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 100; ++u) {
    for (NodeId v = 0; v < u; ++v) edges.push_back({u, v});
  }
  const Arrangement arranged = arrange(build_graph(1000, edges), 2, 2);
  const bool hubs_first = arranged.order[0] < 100;
  const NodeId of_hubs = hubs_first ? arranged.begins[1] : 1000 - arranged.begins[1];
  EXPECT_LT(of_hubs, 300);
}

TEST(Renumber, KeepsTheGraph) {
  const Graph graph = build_graph(50, random_edges(50, 120, 9), {.directed = true});
  const Arrangement arranged = arrange(graph, 3, 2);
  const Graph other = renumber(graph, arranged.order);
  EXPECT_EQ(other.arcs(), graph.arcs());
  for (NodeId u = 0; u < 50; ++u) {
    for (const NodeId v : other.neighbors(u)) {
      const auto row = graph.neighbors(arranged.order[u]);
      EXPECT_TRUE(std::binary_search(row.begin(), row.end(), arranged.order[v]));
    }
  }
  EXPECT_THROW(renumber(graph, std::vector<NodeId>(50, 0)), Error);
  EXPECT_THROW(renumber(graph, std::vector<NodeId>(3, 0)), Error);
}

// ---- Teams ----

TEST(Communicator, AddsUpAndGathers) {
  for (const int ranks : {1, 2, 3, 5}) {
    run_team(ranks, [&](const std::shared_ptr<Communicator>& team) {
      std::vector<std::uint64_t> values(7);
      std::iota(values.begin(), values.end(), static_cast<std::uint64_t>(team->rank()));
      team->sum(std::span(values));
      for (std::uint64_t i = 0; i < 7; ++i) {
        const auto n = static_cast<std::uint64_t>(ranks);
        EXPECT_EQ(values[i], i * n + n * (n - 1) / 2);
      }
      EXPECT_EQ(team->of_first(team->rank() + 3), 3);
      EXPECT_EQ(team->largest(static_cast<std::uint64_t>(team->rank())),
                static_cast<std::uint64_t>(ranks - 1));
      EXPECT_EQ(team->of_first(std::string(static_cast<std::size_t>(team->rank()) + 2, 'x')), "xx");
      const auto texts = team->gather(std::string(static_cast<std::size_t>(team->rank()), 'a'));
      for (std::size_t q = 0; q < texts.size(); ++q) EXPECT_EQ(texts[q], std::string(q, 'a'));
    });
  }
}

/// A graph and signals as a team has them.
struct Dealt {
  Graph graph;
  std::shared_ptr<const Partition> partition;

  Dealt(const Graph& whole, const std::shared_ptr<Communicator>& team, std::uint32_t hops) {
    Arrangement arranged = arrange(whole, team->size(), hops);
    graph = renumber(whole, arranged.order);
    partition = std::make_shared<const Partition>(team, std::move(arranged));
  }

  template <typename Real>
  SignalsOf<Real> own(const Matrix& all) const {
    SignalsOf<Real> result(partition->own().count(), all.cols());
    for (NodeId row = 0; row < partition->own().count(); ++row) {
      result.row(row) = all.row(partition->old_number(partition->own().begin + row)).cast<Real>();
    }
    return result;
  }
  /// In the order of the whole graph.
  template <typename Real>
  Matrix all(const SignalsOf<Real>& own) const {
    const SignalsOf<Real> together = gathered<Real>(*partition, own);
    Matrix result(together.rows(), together.cols());
    for (NodeId u = 0; u < partition->nodes(); ++u) {
      result.row(partition->old_number(u)) = together.row(u).template cast<double>();
    }
    return result;
  }
  /// Groups, which nodes have by their old numbers.
  Taps taps(const Taps& of_whole) const {
    if (!of_whole.node_variant()) return of_whole;
    std::vector<std::uint32_t> group(partition->nodes());
    for (NodeId u = 0; u < partition->nodes(); ++u)
      group[u] = of_whole.group_of()[partition->old_number(u)];
    return {of_whole.count(), of_whole.values(), std::move(group)};
  }
};

/// All that a filter does, one number behind the other.
template <typename Real, typename Filter>
std::vector<double> whole_results(const Filter& filter, const Matrix& x, const Matrix& g) {
  std::vector<double> result =
      as_vector(filter.template apply<Real>(x.cast<Real>()).template cast<double>());
  const auto add = [&](const std::vector<double>& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  add(as_vector(filter.template apply_transpose<Real>(x.cast<Real>()).template cast<double>()));
  const auto gradients = filter.template gradients<Real>(x.cast<Real>(), g.cast<Real>());
  add(as_vector(gradients.input.template cast<double>()));
  add(gradients.taps);
  return result;
}

template <typename Real, typename Filter>
std::vector<double> dealt_results(const Filter& filter, const Dealt& dealt, const Matrix& x,
                                  const Matrix& g) {
  const auto own_x = dealt.own<Real>(x);
  std::vector<double> result = as_vector(dealt.all<Real>(filter.template apply<Real>(own_x)));
  const auto add = [&](const std::vector<double>& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  add(as_vector(dealt.all<Real>(filter.template apply_transpose<Real>(own_x))));
  const auto gradients = filter.template gradients<Real>(own_x, dealt.own<Real>(g));
  add(as_vector(dealt.all<Real>(gradients.input)));
  add(gradients.taps);
  return result;
}

std::vector<Taps> some_taps(NodeId nodes) {
  std::vector<std::uint32_t> group(nodes);
  for (NodeId u = 0; u < nodes; ++u) group[u] = u % 2;
  return {Taps{0.5, 1, -0.25, 0.125}, Taps(4, {1, 2, 3, 4, -1, 0.5, 0, 2}, group)};
}

TEST(TeamFilter, NeighborhoodIsThatOfOneProcess) {
  for (const auto& [name, graph] : small_graphs()) {
    for (const Taps& taps : some_taps(graph.nodes())) {
      for (const Normalization normalization : {Normalization::none, Normalization::lmax,
                                                Normalization::symmetric, Normalization::row}) {
        for (const Storage storage :
             {Storage::automatic, Storage::sparse, Storage::dense, Storage::stream}) {
          FilterOptions options;
          options.normalization = normalization;
          options.shells.storage = storage;
          options.shells.threads = 1;
          options.merging = storage == Storage::automatic ? Merging::automatic : Merging::always;
          const Eigen::Index width = storage == Storage::sparse ? 150 : 3;
          const Matrix x = random_matrix(graph.nodes(), width, 1);
          const Matrix g = random_matrix(graph.nodes(), width, 2);
          const auto expected =
              whole_results<double>(NeighborhoodFilter(graph, taps, options), x, g);
          for (const int ranks : {1, 2, 4}) {
            run_team(ranks, [&, &graph = graph,
                             &name = name](const std::shared_ptr<Communicator>& team) {
              const Dealt dealt(graph, team, 3);
              const ShardedNeighborhoodFilter filter(dealt.graph, dealt.taps(taps), options,
                                                     dealt.partition);
              EXPECT_EQ(filter.rows().count(), dealt.partition->own().count());
              EXPECT_LT(relative(dealt_results<double>(filter, dealt, x, g), expected), 1e-9)
                  << name << ", " << normalization_name(normalization) << ", "
                  << storage_name(storage) << ", " << ranks << " ranks";
              EXPECT_LT(relative(dealt_results<float>(filter, dealt, x, g), expected), 1e-5);
            });
          }
        }
      }
    }
  }
}

TEST(TeamFilter, OneColumnAndPairedRows) {
  const Graph graph = build_graph(300, random_edges(300, 900, 4));
  const Taps taps{1, 0.5, 0.25, 0.125, 0.1};
  for (const Storage storage : {Storage::sparse, Storage::dense}) {
    for (const Eigen::Index width : {1, 20}) {
      FilterOptions options;
      options.shells.storage = storage;
      options.shells.threads = 1;
      options.width = width;
      const Matrix x = random_matrix(graph.nodes(), width, 1);
      const auto expected = whole_results<float>(NeighborhoodFilter(graph, taps, options), x, x);
      run_team(3, [&](const std::shared_ptr<Communicator>& team) {
        const Dealt dealt(graph, team, 4);
        const ShardedNeighborhoodFilter filter(dealt.graph, taps, options, dealt.partition);
        EXPECT_LT(relative(dealt_results<float>(filter, dealt, x, x), expected), 1e-5);
        EXPECT_LT(filter.local().shells().rows().count(), graph.nodes() * 2 / 5);
      });
    }
  }
}

TEST(TeamFilter, PolynomialIsThatOfOneProcess) {
  for (const auto& [name, graph] : small_graphs()) {
    for (const Taps& taps : some_taps(graph.nodes())) {
      for (const Shift shift : {Shift::adjacency, Shift::adjacency_lmax, Shift::laplacian,
                                Shift::normalized_laplacian, Shift::gcn}) {
        const bool any = shift == Shift::adjacency || shift == Shift::adjacency_lmax;
        if (graph.directed() && !any) continue;
        const Matrix x = random_matrix(graph.nodes(), 4, 1);
        const Matrix g = random_matrix(graph.nodes(), 4, 2);
        const auto expected = whole_results<double>(PolynomialFilter(graph, taps, shift, 1), x, g);
        for (const int ranks : {1, 3, 4}) {
          run_team(ranks,
                   [&, &graph = graph, &name = name](const std::shared_ptr<Communicator>& team) {
                     const Dealt dealt(graph, team, 3);
                     const ShardedPolynomialFilter filter(dealt.graph, dealt.taps(taps), shift, 1,
                                                          dealt.partition);
                     EXPECT_LT(relative(dealt_results<double>(filter, dealt, x, g), expected), 1e-9)
                         << name << ", " << shift_name(shift) << ", " << ranks << " ranks";
                   });
        }
      }
    }
  }
}

TEST(TeamFilter, FitsTaps) {
  const Graph graph = test::graph_with_twins();
  const Taps taps{0.5, 1, -0.25, 0.125};
  const Matrix x = random_matrix(graph.nodes(), 2, 1);
  const Matrix y = NeighborhoodFilter(graph, taps).apply(x);
  run_team(2, [&](const std::shared_ptr<Communicator>& team) {
    const Dealt dealt(graph, team, 3);
    FilterOptions options;
    options.shells.threads = 1;
    const ShardedNeighborhoodFilter filter(dealt.graph, Taps{1, 1, 1, 1}, options, dealt.partition);
    const auto found = fit_taps(filter, dealt.own<double>(x), dealt.own<double>(y));
    EXPECT_LT(relative(found.taps, taps.values()), 1e-8);
  });
}

// ---- Training ----

Dataset small_dataset() {
  Dataset dataset;
  dataset.graph = test::graph_with_twins(90);
  Random random(11);
  MatrixF features(90, 12);
  for (Eigen::Index i = 0; i < features.size(); ++i) {
    features.data()[i] = static_cast<float>(random.uniform());
  }
  dataset.features = features;
  Split split;
  for (NodeId u = 0; u < 90; ++u) {
    dataset.labels.push_back(static_cast<std::int32_t>(u % 3));
    (u % 3 == 0 ? split.train : u % 2 == 0 ? split.validation : split.test).push_back(u);
  }
  // Three labels in all parts.
  for (NodeId u = 0; u < 90; ++u) dataset.labels[u] = static_cast<std::int32_t>(u / 3 % 3);
  dataset.splits.push_back(split);
  return dataset;
}

TEST(TeamTraining, TakesTheStepsOfOneProcess) {
  const Dataset dataset = small_dataset();
  for (const ModelKind model :
       {ModelKind::ngcnn, ModelKind::gcnn, ModelKind::gcn, ModelKind::sgc, ModelKind::mlp}) {
    for (const std::string variant : {"fixed", "learned", "bank"}) {
      const bool learn = variant == "learned";
      const bool bank = variant == "bank";
      if (variant != "fixed" && model != ModelKind::ngcnn && model != ModelKind::gcnn) continue;
      for (const double dropout : {0.0, 0.5}) {
        ClassifySettings settings;
        settings.model.model = model;
        settings.model.hidden = 8;
        settings.model.skip = learn;
        settings.model.learn_taps = learn;
        settings.model.bank = settings.model.pre = settings.model.post = bank;
        settings.model.residual = settings.model.jump = bank;
        settings.run.dropout = dropout;
        settings.epochs = 3;
        settings.threads = 1;
        const auto runs = runs_of(settings, 2);
        const auto expected = classify(dataset, dataset.splits[0], settings, runs);
        for (const int ranks : {1, 2, 3, 4}) {
          run_team(ranks, [&](const std::shared_ptr<Communicator>& team) {
            const Dealt dealt(dataset.graph, team, 2);
            const Dataset own = renumber(dataset, arrange(dataset.graph, ranks, 2).order);
            ClassifySettings with_team = settings;
            with_team.partition = dealt.partition;
            const auto found = classify(own, own.splits[0], with_team, runs);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t r = 0; r < found.size(); ++r) {
              for (std::size_t e = 0; e < 3; ++e) {
                EXPECT_NEAR(found[r].history[e].loss, expected[r].history[e].loss, 1e-5)
                    << model_name(model) << ", " << ranks << " ranks, dropout " << dropout;
              }
              EXPECT_NEAR(found[r].first_gradient, expected[r].first_gradient,
                          1e-5 * expected[r].first_gradient);
              EXPECT_EQ(found[r].test_score, expected[r].test_score);
            }
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace ngf
