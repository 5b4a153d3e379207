#include "ngf/filter.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <atomic>
#include <cmath>
#include <limits>

#include "filter/reference.hpp"
#include "kernels/hop_blocks.hpp"
#include "kernels/target.hpp"
#include "ngf/components.hpp"
#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "ngf/random.hpp"
#include "ngf/spectrum.hpp"
#include "shells/plan.hpp"
#include "tests/support.hpp"

namespace ngf {
namespace {

using filter::reference_filter;
using filter::reference_shells;
using test::error_of;
using test::random_edges;

constexpr std::array all_normalizations{Normalization::none, Normalization::lmax,
                                        Normalization::symmetric, Normalization::row};
constexpr std::array all_shifts{Shift::adjacency, Shift::adjacency_lmax, Shift::laplacian,
                                Shift::normalized_laplacian, Shift::gcn};

Graph some_graph(NodeId nodes, bool directed, std::uint64_t seed = 1) {
  return build_graph(nodes, random_edges(nodes, std::size_t{nodes} * 3 / 2, seed),
                     {.directed = directed});
}

Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  Random random(seed);
  Matrix result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = random.normal();
  return result;
}

Eigen::MatrixXd plain_shift(const Graph& graph, Shift shift) {
  const auto nodes = static_cast<Eigen::Index>(graph.nodes());
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(nodes, nodes);
  for (NodeId u = 0; u < graph.nodes(); ++u) {
    for (std::size_t i = 0; i < graph.degree(u); ++i) {
      a(u, graph.neighbors(u)[i]) = graph.weighted() ? graph.weights_of(u)[i] : 1;
    }
  }
  if (shift == Shift::gcn) a += Eigen::MatrixXd::Identity(nodes, nodes);
  const Eigen::VectorXd degree = a.rowwise().sum();
  const Eigen::VectorXd root =
      degree.unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 0.0; });
  switch (shift) {
    case Shift::adjacency:
      return a;
    case Shift::adjacency_lmax:
      return a / filter::reference_singular_value(a);
    case Shift::laplacian:
      return Eigen::MatrixXd(degree.asDiagonal()) - a;
    case Shift::normalized_laplacian: {
      Eigen::MatrixXd result = -(root.asDiagonal() * a * root.asDiagonal());
      for (Eigen::Index u = 0; u < nodes; ++u) result(u, u) += degree[u] > 0 ? 1 : 0;
      return result;
    }
    case Shift::gcn:
      return root.asDiagonal() * a * root.asDiagonal();
  }
  return a;
}

std::vector<Eigen::MatrixXd> powers_of(const Eigen::MatrixXd& shift, std::size_t count) {
  std::vector<Eigen::MatrixXd> powers{Eigen::MatrixXd::Identity(shift.rows(), shift.cols())};
  while (powers.size() < count) powers.emplace_back(powers.back() * shift);
  return powers;
}

void expect_near(const Matrix& found, const Eigen::MatrixXd& expected, double tolerance) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.cols(), expected.cols());
  EXPECT_LE((found - expected).norm(), tolerance * (1 + expected.norm()));
}

/// Taps of a few groups of nodes.
Taps grouped_taps(NodeId nodes, std::size_t count, std::size_t groups) {
  Random random(9);
  std::vector<double> values(count * groups);
  for (double& value : values) value = random.normal();
  std::vector<std::uint32_t> group(nodes);
  for (NodeId u = 0; u < nodes; ++u) group[u] = static_cast<std::uint32_t>(random.below(groups));
  return {count, values, group};
}

template <typename Filter>
void expect_equal_to(const Filter& filter, const Eigen::MatrixXd& h) {
  for (const Eigen::Index width : {1, 2, 16, 37}) {
    const Matrix x = random_matrix(h.rows(), width, 3);
    expect_near(filter.apply(x), h * x, 1e-9);
    expect_near(filter.apply_transpose(x), h.transpose() * x, 1e-9);
    const MatrixF single = x.cast<float>();
    expect_near(filter.apply(single).template cast<double>(), h * x, 1e-5);
    expect_near(filter.apply_transpose(single).template cast<double>(), h.transpose() * x, 1e-5);
  }
}

TEST(NeighborhoodFilter, EqualsExplicitMatricesInEveryForm) {
  const Taps taps{0.5, -1, 2, 0, 0.25, 1.5};
  for (const bool directed : {false, true}) {
    const Graph graph = some_graph(90, directed);
    for (const Normalization normalization : all_normalizations) {
      const auto shells = reference_shells(graph, taps.count(), normalization);
      const Taps grouped = grouped_taps(graph.nodes(), taps.count(), 3);
      for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
        FilterOptions options;
        options.normalization = normalization;
        options.shells.storage = storage;
        options.shells.threads = 1;
        expect_equal_to(NeighborhoodFilter(graph, taps, options), reference_filter(taps, shells));
        expect_equal_to(NeighborhoodFilter(graph, grouped, options),
                        reference_filter(grouped, shells));
      }
    }
  }
}

TEST(NeighborhoodFilter, AppliesIntoMemoryThatIsThere) {
  const Graph graph = some_graph(90, false);
  for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
    FilterOptions options;
    options.shells.storage = storage;
    const NeighborhoodFilter filter(graph, {1, 0.5, 0.25}, options);
    Matrix y = random_matrix(90, 256, 7);
    const Matrix before = y;
    const Matrix x = random_matrix(90, 256, 8);
    const Matrix expected =
        reference_filter(filter.taps(), reference_shells(graph, 3, Normalization::none)) * x;
    filter.apply_to<double>(x, y);
    EXPECT_EQ(y, filter.apply(x));
    expect_near(y, expected, 1e-9);
    // Columns of a matrix, and nothing beside them.
    for (const Eigen::Index width : {1, 3, 64}) {
      y = before;
      filter.apply_to<double>(x.middleCols(5, width), y.middleCols(9, width));
      expect_near(y.middleCols(9, width), expected.middleCols(5, width), 1e-9);
      EXPECT_EQ(y.leftCols(9), before.leftCols(9));
      EXPECT_EQ(y.rightCols(256 - 9 - width), before.rightCols(256 - 9 - width));
    }
  }
}

TEST(NeighborhoodFilter, TheSameOnEveryInstructionSet) {
  const Graph graph = some_graph(300, false);
  const Taps taps{1, 0.5, 0.25, 0.125, 1};
  const std::string before = kernels::current_target();
  for (const Normalization normalization : {Normalization::none, Normalization::symmetric}) {
    const auto h = reference_filter(taps, reference_shells(graph, taps.count(), normalization));
    for (const std::string& target : kernels::available_targets()) {
      kernels::use_target(target);
      for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
        FilterOptions options;
        options.normalization = normalization;
        options.shells.storage = storage;
        options.shells.threads = 1;
        expect_equal_to(NeighborhoodFilter(graph, taps, options), h);
      }
    }
  }
  kernels::use_target(before);
}

/// The gradients by definition: H' G and <G, A_k X>.
template <typename Real>
void expect_gradients_of(const NeighborhoodFilter& filter,
                         const std::vector<Eigen::MatrixXd>& shells, Eigen::Index width,
                         double tolerance) {
  const Taps& taps = filter.taps();
  const auto nodes = static_cast<Eigen::Index>(filter.nodes());
  const SignalsOf<Real> x = random_matrix(nodes, width, 3).cast<Real>();
  const SignalsOf<Real> g = random_matrix(nodes, width, 4).cast<Real>();
  const auto found = filter.gradients(x, g);
  const Eigen::MatrixXd by_output = g.template cast<double>();
  expect_near(found.input.template cast<double>(),
              reference_filter(taps, shells).transpose() * by_output, tolerance);
  for (std::size_t k = 0; k < taps.count(); ++k) {
    const Eigen::MatrixXd product = shells[k] * x.template cast<double>();
    std::vector<double> expected(taps.groups(), 0);
    for (NodeId u = 0; u < filter.nodes(); ++u) {
      expected[taps.group(u)] += by_output.row(u).dot(product.row(u));
    }
    for (std::size_t group = 0; group < taps.groups(); ++group) {
      EXPECT_NEAR(found.taps[group * taps.count() + k], expected[group],
                  tolerance * (1 + by_output.norm() * product.norm()));
    }
  }
}

TEST(NeighborhoodFilter, HopsEqualExplicitMatricesAtEveryWidthAndNumberOfTaps) {
  // A ring with a chord: 70 hops and more, so that tables of one, two and many vectors are needed.
  std::vector<Edge> edges{{0, 30}};
  constexpr NodeId nodes = 150;
  for (NodeId u = 0; u < nodes; ++u) edges.push_back({u, (u + 1) % nodes});
  for (const bool directed : {false, true}) {
    const Graph graph = build_graph(nodes, edges, {.directed = directed});
    for (const std::size_t count : {3U, 15U, 16U, 17U, 31U, 32U, 40U, 300U}) {
      for (const Normalization normalization : {Normalization::none, Normalization::symmetric}) {
        Random random(2);
        std::vector<double> values(count);
        for (double& value : values) value = random.normal();
        FilterOptions options;
        options.normalization = normalization;
        options.shells.storage = Storage::dense;
        options.shells.threads = 1;
        const NeighborhoodFilter filter(graph, Taps(values), options);
        const auto shells = reference_shells(graph, count, normalization);
        const Eigen::MatrixXd h = reference_filter(filter.taps(), shells);
        for (const Eigen::Index width : {1, 5, 6, 7, 13, 33, 64, 70}) {
          const Matrix x = random_matrix(nodes, width, 3);
          expect_near(filter.apply(x), h * x, 1e-9);
          const MatrixF single = x.cast<float>();
          expect_near(filter.apply(single).cast<double>(), h * x, 1e-5);
          expect_near(filter.apply_transpose(single).cast<double>(), h.transpose() * x, 1e-5);
        }
        expect_near(filter.apply_shell(2, Matrix(Matrix::Ones(nodes, 1))),
                    shells[2].rowwise().sum(), 1e-9);
        expect_gradients_of<float>(filter, shells, 7, 1e-5);
        expect_gradients_of<double>(filter, shells, 7, 1e-9);
      }
    }
  }
}

TEST(NeighborhoodFilter, GradientsInFloatEqualThoseOfExplicitMatrices) {
  for (const bool directed : {false, true}) {
    const Graph graph = some_graph(200, directed);
    for (const Normalization normalization : all_normalizations) {
      const auto shells = reference_shells(graph, 6, normalization);
      for (const Taps& taps : {Taps{1, -2, 0.5, 3, 0, 1}, grouped_taps(200, 6, 3)}) {
        FilterOptions options;
        options.normalization = normalization;
        options.shells.storage = Storage::dense;
        options.shells.threads = 1;
        const NeighborhoodFilter filter(graph, taps, options);
        for (const Eigen::Index width : {1, 16, 70}) {
          expect_gradients_of<float>(filter, shells, width, 1e-5);
        }
      }
    }
  }
}

TEST(NeighborhoodFilter, MergedTwinsChangeNothing) {
  const Graph graph = test::graph_with_twins();
  const NodeId nodes = graph.nodes();
  for (const std::size_t count : {1U, 2U, 3U, 6U}) {
    for (const Normalization normalization : all_normalizations) {
      const auto shells = reference_shells(graph, count, normalization);
      std::vector<double> values{0.5, -1, 2, 0.25, 0, 1.5};
      values.resize(count);
      for (const Taps& taps : {Taps(values), grouped_taps(nodes, count, 3)}) {
        for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
          FilterOptions options;
          options.normalization = normalization;
          options.shells.storage = storage;
          options.shells.threads = 1;
          options.merging = Merging::always;
          const NeighborhoodFilter filter(graph, taps, options);
          EXPECT_LT(filter.shells().nodes(), nodes);
          EXPECT_EQ(filter.nodes(), nodes);
          expect_equal_to(filter, reference_filter(taps, shells));
          expect_gradients_of<float>(filter, shells, 7, 1e-5);
          expect_gradients_of<double>(filter, shells, 7, 1e-9);
        }
      }
    }
  }
}

TEST(NeighborhoodFilter, TwinsThatNoPathJoinsHaveNothingFromEachOther) {
  // A star of three leaves, and three nodes alone.
  const Graph graph = build_graph(7, std::vector<Edge>{{0, 1}, {0, 2}, {0, 3}});
  const Taps taps{1, 2, 4, 8};
  const auto shells = reference_shells(graph, taps.count(), Normalization::none);
  FilterOptions options;
  options.merging = Merging::always;
  for (const Storage storage : {Storage::sparse, Storage::dense}) {
    options.shells.storage = storage;
    const NeighborhoodFilter filter(graph, taps, options);
    EXPECT_EQ(filter.shells().nodes(), 3U);
    expect_equal_to(filter, reference_filter(taps, shells));
  }
}

TEST(NeighborhoodFilter, TapsMayNotTellMergedTwinsApart) {
  const Graph graph = test::graph_with_twins();
  const Taps grouped = grouped_taps(graph.nodes(), 3, 4);
  FilterOptions options;
  options.merging = Merging::always;
  NeighborhoodFilter merged(graph, {1, 2, 3}, options);
  EXPECT_NE(error_of<Error>([&] { merged.set_taps(grouped); }).find("merged"), std::string::npos);
  // A filter that was planned for such taps takes others of the same groups.
  NeighborhoodFilter filter(graph, grouped, options);
  EXPECT_GT(filter.shells().nodes(), merged.shells().nodes());
  std::vector<double> others = grouped.values();
  for (double& value : others) value += 1;
  filter.set_taps({3, others, grouped.group_of()});
  expect_equal_to(filter,
                  reference_filter(filter.taps(), reference_shells(graph, 3, Normalization::none)));
}

TEST(NeighborhoodFilter, TwinsAreMergedWhereThatSavesTime) {
  // A node of many leaves is as good as one with one leaf; few leaves are not worth the trouble.
  const auto nodes_of_shells = [](NodeId leaves, int min_paths) {
    std::vector<Edge> star;
    for (NodeId u = 1; u <= leaves; ++u) star.push_back({0, u});
    FilterOptions options;
    options.shells.min_paths = min_paths;
    return NeighborhoodFilter(build_graph(leaves + 1, star), {1, 1, 1}, options).shells().nodes();
  };
  EXPECT_EQ(nodes_of_shells(500, 1), 2);
  EXPECT_EQ(nodes_of_shells(500, 2), 501);
  EXPECT_EQ(nodes_of_shells(2, 1), 3);
}

TEST(NeighborhoodFilter, IsPlannedOnceAndCountsNoPairs) {
  const Graph graph = test::graph_with_twins(300);
  for (const Storage storage :
       {Storage::automatic, Storage::sparse, Storage::dense, Storage::stream}) {
    for (const Merging merging : {Merging::automatic, Merging::never, Merging::always}) {
      for (const Normalization normalization : {Normalization::none, Normalization::symmetric}) {
        FilterOptions options;
        options.normalization = normalization;
        options.merging = merging;
        options.shells.storage = storage;
        const std::uint64_t plans = shells::plans_made;
        const std::uint64_t scans = shells::pair_scans;
        const NeighborhoodFilter filter(graph, {1, 0.5, 0.25, 0.5}, options);
        const Matrix x = random_matrix(graph.nodes(), 3, 1);
        filter.gradients(x, filter.apply(x));
        EXPECT_EQ(shells::plans_made - plans, 1U);
        EXPECT_EQ(shells::pair_scans - scans, 0U);
        // The counters count.
        filter.shells().pairs();
        plan_filter(graph, {1, 0.5}, options);
        EXPECT_EQ(shells::plans_made - plans, 2U);
        EXPECT_EQ(shells::pair_scans - scans, 1U);
      }
    }
  }
}

template <typename Real>
void expect_same_on_threads(const Graph& graph, FilterOptions options, Eigen::Index width) {
  const SignalsOf<Real> x = random_matrix(graph.nodes(), width, 1).cast<Real>();
  const SignalsOf<Real> g = random_matrix(graph.nodes(), width, 2).cast<Real>();
  options.shells.threads = 1;
  const NeighborhoodFilter one(graph, {1, 2, 3, 4}, options);
  for (const int threads : {2, 3}) {
    options.shells.threads = threads;
    const NeighborhoodFilter more(graph, {1, 2, 3, 4}, options);
    EXPECT_EQ(more.apply(x), one.apply(x));
    EXPECT_EQ(more.gradients(x, g).taps, one.gradients(x, g).taps);
    EXPECT_EQ(more.gradients(x, g).input, one.gradients(x, g).input);
  }
}

TEST(NeighborhoodFilter, TheSameOnAnyNumberOfThreads) {
  const Graph graph = test::graph_with_twins(500);
  for (const Merging merging : {Merging::never, Merging::always}) {
    for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
      FilterOptions options;
      options.merging = merging;
      options.shells.storage = storage;
      for (const Eigen::Index width : {1, 5}) {
        expect_same_on_threads<double>(graph, options, width);
        expect_same_on_threads<float>(graph, options, width);
      }
    }
  }
}

/// So many columns a row that rows are gone through two by two; some nodes have none.
Graph graph_of_long_rows(bool directed) {
  return build_graph(170, random_edges(160, directed ? 640 : 480, 5), {.directed = directed});
}

TEST(NeighborhoodFilter, RowsTwoByTwoEqualExplicitMatrices) {
  const Taps taps{0.5, -1, 2, 0, 0.25};
  for (const bool directed : {false, true}) {
    const Graph graph = graph_of_long_rows(directed);
    for (const Normalization normalization : all_normalizations) {
      const auto shells = reference_shells(graph, taps.count(), normalization);
      for (const Taps& own : {taps, grouped_taps(graph.nodes(), taps.count(), 3)}) {
        FilterOptions options;
        options.normalization = normalization;
        options.shells.storage = Storage::sparse;
        const NeighborhoodFilter filter(graph, own, options);
        expect_equal_to(filter, reference_filter(own, shells));
        for (const Eigen::Index width : {2, 16, 37, 70}) {
          expect_gradients_of<double>(filter, shells, width, 1e-10);
          expect_gradients_of<float>(filter, shells, width, 1e-5);
        }
      }
    }
  }
}

TEST(NeighborhoodFilter, RowsTwoByTwoAreTheSameOnAnyNumberOfThreads) {
  FilterOptions options;
  options.shells.storage = Storage::sparse;
  // One panel, as many as there are threads, and others; the last with and without padding.
  for (const Eigen::Index width : {20, 128, 150, 192}) {
    expect_same_on_threads<float>(graph_of_long_rows(false), options, width);
  }
}

TEST(NeighborhoodFilter, RowsTwoByTwoAreTheSameOnEveryInstructionSet) {
  const Graph graph = graph_of_long_rows(false);
  const Taps taps{1, 0.5, 0.25, 0.125};
  FilterOptions options;
  options.shells.storage = Storage::sparse;
  const std::string before = kernels::current_target();
  for (const Normalization normalization : {Normalization::none, Normalization::symmetric}) {
    options.normalization = normalization;
    const auto shells = reference_shells(graph, taps.count(), normalization);
    for (const std::string& target : kernels::available_targets()) {
      kernels::use_target(target);
      const NeighborhoodFilter filter(graph, taps, options);
      expect_equal_to(filter, reference_filter(taps, shells));
      expect_gradients_of<float>(filter, shells, 70, 1e-5);
    }
  }
  kernels::use_target(before);
}

TEST(NeighborhoodFilter, LongRowsGoOneByOneWhereHopsAreManyOrMemoryIsShort) {
  // A ring, of 40 hops to each side.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 170; ++u) edges.push_back({u, (u + 1) % 170});
  const Graph ring = build_graph(170, edges);
  const Taps many(std::vector<double>(41, 0.5));
  const auto ring_shells = reference_shells(ring, many.count(), Normalization::symmetric);
  FilterOptions options;
  options.normalization = Normalization::symmetric;
  options.shells.storage = Storage::sparse;
  expect_equal_to(NeighborhoodFilter(ring, many, options), reference_filter(many, ring_shells));
  expect_gradients_of<float>(NeighborhoodFilter(ring, many, options), ring_shells, 37, 1e-5);
  // So many hops that their factors are not told apart one by one.
  FilterOptions of_hops = options;
  of_hops.shells.storage = Storage::dense;
  expect_equal_to(NeighborhoodFilter(ring, many, of_hops), reference_filter(many, ring_shells));
  // No more memory than the lists themselves take.
  const Graph graph = build_graph(5000, random_edges(5000, 20000, 7));
  const Taps taps{0.5, -1, 2, 0.25};
  const MatrixF x = random_matrix(5000, 20, 1).cast<float>();
  const NeighborhoodFilter rich(graph, taps, options);
  EXPECT_EQ(rich.form<float>(20), ProductForm::paired_lists);
  options.shells.memory = 1;
  // What is asked for is estimated at first, then counted.
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      const NeighborhoodFilter filter(graph, taps, options);
      EXPECT_GT(attempt, 0) << "lists in one byte";
    } catch (const MemoryExceeded& error) {
      options.shells.memory = error.needed();
    }
  }
  const NeighborhoodFilter poor(graph, taps, options);
  EXPECT_EQ(poor.form<float>(20), ProductForm::lists);
  expect_near(poor.apply(x).cast<double>(), rich.apply(x).cast<double>(), 1e-5);
}

TEST(NeighborhoodFilter, RowsTwoByTwoNeedNoNeighbors) {
  // Of shells that ask for two paths, the first is empty: all rows are alone.
  const Graph graph = graph_of_long_rows(false);
  FilterOptions options;
  options.shells.min_paths = 2;
  options.shells.storage = Storage::sparse;
  const NeighborhoodFilter lists(graph, {1, 0.5, 0.25, 0.125, 2}, options);
  options.shells.storage = Storage::dense;
  const NeighborhoodFilter hops(graph, {1, 0.5, 0.25, 0.125, 2}, options);
  const Matrix x = random_matrix(170, 20, 3);
  EXPECT_GT(lists.shells().pairs()[3], 0U);
  expect_near(lists.apply(x), hops.apply(x), 1e-12);
}

TEST(NeighborhoodFilter, LongListsGoTileByTile) {
  // So many nodes that signals are cut into tiles, and hundreds of columns a row; but the last have
  // no neighbours, and so no columns in the first tiles.
  constexpr NodeId nodes = 6800;
  constexpr NodeId joined = 6600;
  const Taps taps{0.5, -1, 2};
  for (const bool directed : {false, true}) {
    const Graph graph = build_graph(nodes, random_edges(joined, directed ? 132000 : 66000, 7),
                                    {.directed = directed});
    FilterOptions options;
    options.normalization = Normalization::symmetric;
    options.merging = Merging::never;
    options.shells.storage = Storage::dense;
    const NeighborhoodFilter hops(graph, taps, options);
    options.shells.storage = Storage::sparse;
    const NeighborhoodFilter lists(graph, taps, options);
    const MatrixF x = random_matrix(nodes, 70, 1).cast<float>();
    const MatrixF g = random_matrix(nodes, 70, 2).cast<float>();
    const MatrixF all = lists.apply(x);
    for (const Eigen::Index columns : {1, 2, 16, 20, 70}) {
      const MatrixF some = x.leftCols(columns);
      const MatrixF some_g = g.leftCols(columns);
      const MatrixF y = lists.apply(some);
      expect_near(y.cast<double>(), hops.apply(some).cast<double>(), 1e-5);
      if (columns > 1) {
        EXPECT_EQ(y, all.leftCols(columns)) << columns;
      }
      const auto gradients = lists.gradients(some, some_g);
      const auto expected = hops.gradients(some, some_g);
      expect_near(gradients.input.cast<double>(), expected.input.cast<double>(), 1e-5);
      for (std::size_t k = 0; k < taps.count(); ++k) {
        EXPECT_NEAR(gradients.taps[k], expected.taps[k], 1e-4 * std::abs(expected.taps[k]) + 1e-2);
      }
    }
  }
}

TEST(NeighborhoodFilter, StorageDependsOnTheWidthThatIsExpected) {
  // A ring, 2 * 15 + 1 of whose 200 nodes are within 15 hops: 15.5 %.
  std::vector<Edge> edges;
  for (NodeId u = 0; u < 200; ++u) edges.push_back({u, (u + 1) % 200});
  const Graph graph = build_graph(200, edges);
  const Taps taps(std::vector<double>(16, 1.0));
  const auto storage = [&](std::int64_t width) {
    FilterOptions options;
    options.width = width;
    return plan_filter(graph, taps, options).shells.storage;
  };
  EXPECT_EQ(storage(0), Storage::sparse);
  EXPECT_EQ(storage(64), Storage::sparse);
  EXPECT_EQ(storage(1), kernels::hop_block_kernels() != nullptr ? Storage::dense : Storage::sparse);
}

TEST(NeighborhoodFilter, ConstantTapsThatCoverTheDiameterSumUpTheComponent) {
  const Graph graph = some_graph(120, false, 4);
  const Components components = connected_components(graph);
  const Taps taps(std::vector<double>(100, 0.5));
  const Matrix x = random_matrix(120, 3, 1);
  Matrix sums = Matrix::Zero(120, 3);
  for (NodeId u = 0; u < 120; ++u) {
    for (NodeId v = 0; v < 120; ++v) {
      if (components.label[u] == components.label[v]) sums.row(u) += 0.5 * x.row(v);
    }
  }
  expect_near(NeighborhoodFilter(graph, taps).apply(x), sums, 1e-10);
}

TEST(NeighborhoodFilter, WithTwoTapsIsTheClassicalFilter) {
  const Graph graph = some_graph(200, false);
  const Matrix x = random_matrix(200, 4, 1);
  expect_near(NeighborhoodFilter(graph, {2, 3}).apply(x), PolynomialFilter(graph, {2, 3}).apply(x),
              1e-12);
}

TEST(NeighborhoodFilter, AnEmptyShellDoesNothing) {
  // A triangle: nobody is two hops away.
  const Graph graph = build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}});
  const Matrix x = random_matrix(3, 2, 1);
  for (const Normalization normalization : all_normalizations) {
    FilterOptions options;
    options.normalization = normalization;
    expect_near(NeighborhoodFilter(graph, {1, 1, 5, 7}, options).apply(x),
                NeighborhoodFilter(graph, {1, 1}, options).apply(x), 1e-12);
  }
}

TEST(PolynomialFilter, EqualsExplicitMatrices) {
  const Taps taps{0.5, -1, 2, 0.25};
  for (const bool directed : {false, true}) {
    Graph plain = some_graph(120, directed);
    std::vector<double> weights(plain.arcs());
    for (NodeId u = 0; u < plain.nodes(); ++u) {
      for (std::size_t i = 0; i < plain.degree(u); ++i) {
        // The same both ways.
        weights[plain.offsets()[u] + i] = 0.1 + (u + plain.neighbors(u)[i]) % 7;
      }
    }
    const Graph weighted({plain.offsets().begin(), plain.offsets().end()},
                         {plain.targets().begin(), plain.targets().end()}, weights, directed);
    for (const Graph* graph : std::initializer_list<const Graph*>{&plain, &weighted}) {
      for (const Shift shift : all_shifts) {
        if (directed && shift != Shift::adjacency && shift != Shift::adjacency_lmax) {
          EXPECT_NE(error_of<Error>([&] { PolynomialFilter(*graph, taps, shift); }), "");
          continue;
        }
        const auto powers = powers_of(plain_shift(*graph, shift), taps.count());
        expect_equal_to(PolynomialFilter(*graph, taps, shift, 1), reference_filter(taps, powers));
        const Taps grouped = grouped_taps(graph->nodes(), taps.count(), 4);
        expect_equal_to(PolynomialFilter(*graph, grouped, shift, 1),
                        reference_filter(grouped, powers));
      }
    }
  }
}

/// Compares the gradients with central differences of the loss <G, H X>.
template <typename Filter>
void expect_gradients(Filter filter) {
  const auto nodes = static_cast<Eigen::Index>(filter.nodes());
  const Matrix g = random_matrix(nodes, 3, 5);
  Matrix x = random_matrix(nodes, 3, 6);
  const auto loss = [&] { return filter.apply(x).cwiseProduct(g).sum(); };
  const auto found = filter.gradients(x, g);
  constexpr double step = 1e-4;
  for (const Eigen::Index i : {0, 7, 20}) {
    const double before = x.data()[i];
    x.data()[i] = before + step;
    const double above = loss();
    x.data()[i] = before - step;
    const double below = loss();
    x.data()[i] = before;
    EXPECT_NEAR(found.input.data()[i], (above - below) / (2 * step), 1e-6);
  }
  const Taps taps = filter.taps();
  for (std::size_t i = 0; i < taps.values().size(); ++i) {
    const auto loss_at = [&](double change) {
      std::vector<double> values = taps.values();
      values[i] += change;
      filter.set_taps(taps.node_variant() ? Taps(taps.count(), values, taps.group_of())
                                          : Taps(values));
      return loss();
    };
    const double slope = (loss_at(step) - loss_at(-step)) / (2 * step);
    EXPECT_NEAR(found.taps[i], slope, 1e-6 * (1 + std::abs(slope)));
    filter.set_taps(taps);
  }
}

TEST(Filters, GradientsEqualDifferences) {
  for (const bool directed : {false, true}) {
    const Graph graph = some_graph(60, directed);
    for (const Taps& taps : {Taps{1, -2, 0.5, 3}, grouped_taps(60, 4, 3)}) {
      for (const Normalization normalization : all_normalizations) {
        for (const Storage storage : {Storage::sparse, Storage::dense, Storage::stream}) {
          FilterOptions options;
          options.normalization = normalization;
          options.shells.storage = storage;
          options.shells.threads = 1;
          expect_gradients(NeighborhoodFilter(graph, taps, options));
        }
      }
      expect_gradients(PolynomialFilter(graph, taps, Shift::adjacency_lmax, 1));
      if (!directed) expect_gradients(PolynomialFilter(graph, taps, Shift::gcn, 1));
    }
  }
}

TEST(PolynomialFilter, StopsWhenAsked) {
  // Agrees to go on for a number of questions, then asks to stop.
  struct Patience : Progress {
    explicit Patience(int questions) : left(questions) {}
    bool stop_requested() const override { return --left < 0; }
    mutable std::atomic<int> left;
  };
  constexpr int enough = 1'000'000;
  const Graph graph = some_graph(300, true);
  const Matrix x = random_matrix(300, 2048, 1);
  const Matrix g = random_matrix(300, 2048, 2);
  for (const Taps& taps : {Taps{1, 0.5, 0.25, 0.125}, grouped_taps(300, 3, 4)}) {
    for (const int threads : {1, 3}) {
      Patience patience(enough);
      const PolynomialFilter filter(graph, taps, Shift::adjacency, threads);
      EXPECT_EQ(filter.apply(x, &patience), filter.apply(x));
      EXPECT_EQ(filter.apply_transpose(x, &patience), filter.apply_transpose(x));
      EXPECT_EQ(filter.gradients(x, g, &patience).input, filter.gradients(x, g).input);
      EXPECT_EQ(filter.gradients(x, g, &patience).taps, filter.gradients(x, g).taps);
      EXPECT_LT(patience.left, enough);
      // One pass over 300 rows of 2048 columns asks 10 times.
      for (const int questions : {0, 1, 10}) {
        patience.left = questions;
        EXPECT_THROW(filter.apply(x, &patience), Interrupted);
        patience.left = questions;
        EXPECT_THROW(filter.apply_transpose(x, &patience), Interrupted);
        patience.left = questions;
        EXPECT_THROW(filter.gradients(x, g, &patience), Interrupted);
      }
    }
  }
  Patience none(0);
  EXPECT_THROW(PolynomialFilter(graph, {1, 1}, Shift::adjacency_lmax, 0, &none), Interrupted);
}

TEST(Filters, RefuseWhatDoesNotMatch) {
  const Graph graph = some_graph(50, false);
  const NeighborhoodFilter filter(graph, {1, 2});
  EXPECT_NE(error_of<Error>([&] { filter.apply(Matrix(Matrix::Ones(49, 2))); }), "");
  EXPECT_NE(error_of<Error>([&] { NeighborhoodFilter(graph, Taps()); }), "");
  EXPECT_NE(error_of<Error>([&] { NeighborhoodFilter(graph, grouped_taps(49, 2, 2)); }), "");
  const Matrix x = Matrix::Ones(50, 2);
  const Matrix wider = Matrix::Ones(50, 3);
  const PolynomialFilter polynomial(graph, {1, 2});
  EXPECT_NE(error_of<Error>([&] { filter.gradients(x, wider); }), "");
  EXPECT_NE(error_of<Error>([&] { polynomial.gradients(x, wider); }), "");
  EXPECT_NE(error_of<Error>([&] { Taps(2, {1, 2, 3}, {}); }), "");
  EXPECT_NE(error_of<Error>([&] { Taps(2, {1, 2, 3, 4}, {0, 1, 2}); }), "");
}

TEST(Filters, FittedTapsAreThoseOfNoiselessData) {
  const Graph graph = watts_strogatz(400, 4, 0.1, 1);
  const Taps taps{1, 0.7, -0.4, 0.3, 0.2, -0.1, 0.05, 0.4, -0.2, 0.1, 0.3};
  const Matrix x = random_matrix(400, 3, 1);
  const NeighborhoodFilter neighborhood(graph, taps);
  const FittedTaps found = fit_taps(neighborhood, x, neighborhood.apply(x));
  EXPECT_LT(found.residual, 1e-20);
  for (std::size_t k = 0; k < taps.count(); ++k) EXPECT_NEAR(found.taps[k], taps(0, k), 1e-5);
  const PolynomialFilter polynomial(graph, taps, Shift::adjacency_lmax);
  const FittedTaps classical = fit_taps(polynomial, x, polynomial.apply(x));
  for (std::size_t k = 0; k < taps.count(); ++k) EXPECT_NEAR(classical.taps[k], taps(0, k), 1e-5);
}

TEST(Filters, StandardErrorsOfFittedTapsTellHowFarTheyAreOff) {
  const Graph graph = watts_strogatz(500, 4, 0.1, 1);
  const Taps taps{1, 0.5, -0.25};
  FilterOptions options;
  options.shells.threads = 1;
  const NeighborhoodFilter filter(graph, taps, options);
  const Matrix x = random_matrix(500, 2, 1);
  double squares = 0;
  constexpr std::uint64_t trials = 200;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const Matrix y = filter.apply(x) + 0.3 * random_matrix(500, 2, 100 + trial);
    const FittedTaps found = fit_taps(filter, x, y);
    for (std::size_t k = 0; k < 3; ++k) {
      squares += std::pow((found.taps[k] - taps(0, k)) / found.standard_errors[k], 2);
    }
  }
  EXPECT_NEAR(squares / (3 * trials), 1, 0.15);
}

TEST(Spectrum, LargestEigenvalueEqualsTheDenseOne) {
  for (const NodeId nodes : {1U, 2U, 3U, 10U, 120U}) {
    const Graph graph = some_graph(nodes, false);
    const Eigen::MatrixXd a = plain_shift(graph, Shift::adjacency);
    const ShiftOperator shift(graph, Shift::adjacency);
    const auto found = largest_eigenvalue(
        nodes, [&](const auto& x, auto& y) { y = shift.apply(SignalsOf<double>(x)); });
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> dense(a);
    EXPECT_NEAR(found.value, std::max(0.0, dense.eigenvalues().maxCoeff()), 1e-5);
  }
}

}  // namespace
}  // namespace ngf
