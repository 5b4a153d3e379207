#include "nn/decoder.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ngf/generate.hpp"
#include "ngf/nn/loss.hpp"
#include "ngf/nn/network.hpp"
#include "tests/nn_support.hpp"

namespace ngf {
namespace {

using nn::Decoder;
using nn::DecoderFilter;
using test::some_graph;

LayerFilter shells_filter(const Graph& graph) {
  return LayerFilter(NeighborhoodFilter(graph, Taps({0.3, 0.5, 0.2})));
}

std::vector<double> random_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> result(count);
  for (double& value : result) value = 0.3 * random.normal();
  return result;
}

/// The decoder by its definition, with H as a matrix.
struct Plain {
  Matrix h;
  Matrix c;
  Eigen::VectorXd v;

  Plain(const LayerFilter& filter, const std::vector<double>& parameters, Eigen::Index features)
      : h(filter.apply(Matrix(Matrix::Identity(filter.nodes(), filter.nodes())))),
        c(Eigen::Map<const Matrix>(parameters.data(), h.rows(), features)),
        v(features) {
    for (Eigen::Index f = 0; f < features; ++f) {
      v[f] = (f < features - features / 2 ? 1 : -1) / std::sqrt(static_cast<double>(features));
    }
  }

  Eigen::VectorXd outputs() const { return (h * c).cwiseMax(0) * v; }
  Matrix gradient(const Eigen::VectorXd& by_outputs) const {
    const Matrix open = ((h * c).array() > 0).cast<double>();
    return h.transpose() * open.cwiseProduct(by_outputs * v.transpose());
  }
};

struct Case {
  std::string name;
  LayerFilter filter;
  nn::DecoderForm form;
};

/// All forms of H, of few nodes and of more than one block.
std::vector<Case> all_cases() {
  using enum nn::DecoderForm;
  std::vector<Case> cases;
  for (const NodeId nodes : {1U, 2U, 15U, 33U, 260U}) {
    const bool few = nodes < 15;
    cases.push_back({"shells of " + std::to_string(nodes), shells_filter(some_graph(nodes, false)),
                     few ? dense : sparse});
  }
  cases.push_back({"shells of a dense graph", shells_filter(erdos_renyi(50, 0.5, 1)), dense});
  cases.push_back({"arcs", shells_filter(some_graph(40, true)), sparse});
  const auto powers_of = [](const Graph& graph, Shift shift, const Taps& taps) {
    return LayerFilter(PolynomialFilter(graph, taps, shift));
  };
  const Taps taps{0.1, 0.6, 0.3};
  const Graph communities = stochastic_block_model(100, 5, 0.6, 0.02, 1);
  cases.push_back({"powers", powers_of(communities, Shift::adjacency, taps), powers});
  cases.push_back(
      {"four powers", powers_of(communities, Shift::adjacency_lmax, {0.1, 0.6, 0.3, 0.2}), powers});
  cases.push_back({"weighted powers", powers_of(communities, Shift::gcn, taps), powers});
  cases.push_back(
      {"powers of arcs", powers_of(some_graph(200, true), Shift::adjacency, taps), powers});
  cases.push_back({"one power", powers_of(communities, Shift::adjacency, {0.1, 0.6}), powers});
  cases.push_back({"powers of a dense graph",
                   powers_of(erdos_renyi(50, 0.5, 1), Shift::adjacency, taps), dense});
  const Graph path = grid(1, 700);
  cases.push_back({"powers on a path", powers_of(path, Shift::adjacency, taps), filter});
  cases.push_back({"shells of a path", shells_filter(path), filter});
  cases.push_back({"arcs of a path", shells_filter(as_directed(path)), filter});
  return cases;
}

TEST(Decoder, EqualsItsDefinition) {
  for (const Case& c : all_cases()) {
    for (const std::int64_t features : {1, 2, 16, 17, 33, 50}) {
      SCOPED_TRACE(c.name + ", " + std::to_string(features) + " features");
      const std::size_t nodes = c.filter.nodes();
      const auto start = random_numbers(nodes * static_cast<std::size_t>(features), 1);
      const auto slope = random_numbers(nodes, 2);
      const DecoderFilter<double> filter(c.filter, features);
      Decoder<double> decoder(filter, features, 1);
      decoder.set_parameters(start);
      const Plain plain(c.filter, start, features);
      const Eigen::VectorXd expected = plain.outputs();
      const auto found = decoder.forward();
      for (std::size_t u = 0; u < nodes; ++u) {
        ASSERT_NEAR(found[u], expected[static_cast<Eigen::Index>(u)], 1e-11);
      }
      const Matrix gradient =
          plain.gradient(Eigen::Map<const Eigen::VectorXd>(slope.data(), expected.size()));
      const auto found_gradient = decoder.gradient(slope);
      for (std::size_t i = 0; i < found_gradient.size(); ++i) {
        ASSERT_NEAR(found_gradient[i], gradient.data()[i], 1e-11);
      }
    }
  }
}

TEST(Decoder, ChoosesTheFormOfTheFilterByCost) {
  for (const Case& c : all_cases()) {
    EXPECT_EQ(DecoderFilter<float>(c.filter, 150).form(), c.form) << c.name;
  }
}

TEST(Decoder, GradientIsThatOfFiniteDifferences) {
  for (const Case& c : all_cases()) {
    if (c.filter.nodes() > 100) continue;
    SCOPED_TRACE(c.name);
    constexpr std::int64_t features = 5;
    const std::size_t nodes = c.filter.nodes();
    const auto target = random_numbers(nodes, 3);
    const DecoderFilter<double> filter(c.filter, features);
    Decoder<double> decoder(filter, features, 1);
    auto parameters = random_numbers(nodes * features, 4);
    std::vector<double> slope(nodes);
    const auto loss = [&] {
      decoder.set_parameters(parameters);
      const auto outputs = decoder.forward();
      double sum = 0;
      for (std::size_t u = 0; u < nodes; ++u) {
        slope[u] = 2 * (outputs[u] - target[u]);
        sum += (outputs[u] - target[u]) * (outputs[u] - target[u]);
      }
      return sum;
    };
    loss();
    const auto gradient = decoder.gradient(slope);
    constexpr double step = 1e-6;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double before = parameters[i];
      parameters[i] = before + step;
      const double above = loss();
      parameters[i] = before - step;
      const double below = loss();
      parameters[i] = before;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6) << "parameter " << i;
    }
  }
}

/// Some steps towards a target.
template <typename Real>
std::vector<Real> outputs_after(const LayerFilter& h, std::int64_t features, int threads,
                                const nn::DecoderStep& step, int steps) {
  const std::size_t nodes = h.nodes();
  const DecoderFilter<Real> filter(h, features);
  Decoder<Real> decoder(filter, features, threads);
  const auto start = random_numbers(nodes * static_cast<std::size_t>(features), 5);
  const auto target = random_numbers(nodes, 6);
  decoder.set_parameters(std::vector<Real>(start.begin(), start.end()));
  std::span<const Real> outputs = decoder.forward();
  std::vector<Real> slope(nodes);
  for (int i = 0; i < steps; ++i) {
    for (std::size_t u = 0; u < nodes; ++u) slope[u] = outputs[u] - static_cast<Real>(target[u]);
    outputs = decoder.step(slope, step);
  }
  return {outputs.begin(), outputs.end()};
}

TEST(Decoder, StepsAreThoseOfThePlainOptimisers) {
  constexpr std::int64_t features = 20;
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const std::size_t nodes = c.filter.nodes();
    const auto target = random_numbers(nodes, 6);
    const auto start = random_numbers(nodes * features, 5);
    const Eigen::Map<const Eigen::VectorXd> y(target.data(), static_cast<Eigen::Index>(nodes));
    Plain adam(c.filter, start, features);
    Plain descent = adam;
    Matrix mean = Matrix::Zero(adam.c.rows(), adam.c.cols());
    Matrix square = mean;
    constexpr int steps = 4;
    for (int t = 1; t <= steps; ++t) {
      const Matrix g = adam.gradient(adam.outputs() - y);
      mean = 0.9 * mean + 0.1 * g;
      square = 0.999 * square + 0.001 * g.cwiseAbs2();
      adam.c.array() -= 0.01 * (mean.array() / (1 - std::pow(0.9, t))) /
                        ((square.array() / (1 - std::pow(0.999, t))).sqrt() + 1e-8);
      descent.c -= 0.02 * descent.gradient(descent.outputs() - y);
    }
    const auto expect_outputs = [&](const Plain& plain, const nn::DecoderStep& step) {
      const auto found = outputs_after<double>(c.filter, features, 1, step, steps);
      const Eigen::VectorXd expected = plain.outputs();
      for (std::size_t u = 0; u < nodes; ++u) {
        ASSERT_NEAR(found[u], expected[static_cast<Eigen::Index>(u)], 1e-9);
      }
    };
    expect_outputs(adam, {OptimizerKind::adam, 0.01});
    expect_outputs(descent, {OptimizerKind::sgd, 0.02});
  }
}

TEST(Decoder, IsTheSameOnAnyNumberOfThreads) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.name);
    const auto one = outputs_after<float>(c.filter, 50, 1, {}, 5);
    EXPECT_EQ(one, outputs_after<float>(c.filter, 50, 2, {}, 5));
    EXPECT_EQ(one, outputs_after<float>(c.filter, 50, 3, {}, 5));
  }
}

// ---- Networks whose last layer is linear ----

TEST(LinearOutput, NetworkEqualsItsDefinitionAndItsGradientFiniteDifferences) {
  constexpr NodeId nodes = 20;
  const Graph graph = some_graph(nodes, false);
  for (const bool learn_taps : {false, true}) {
    ModelSettings settings;
    settings.model = ModelKind::gcnn;
    settings.shift = Shift::adjacency;
    settings.taps = {0.2, 0.5, 0.1};
    settings.layers = 3;
    settings.hidden = 4;
    settings.linear_output = true;
    settings.learn_taps = learn_taps;
    LayerFilter filter(settings, graph, {.threads = 1});
    const Matrix x = test::random_features<double>(nodes, 3, 1, 2);
    Network<double> network(settings, filter, x, 1, {.threads = 1});
    test::draw_parameters(network, {1});
    const auto value = [&](ParameterBlock::Kind kind, std::size_t layer) -> Matrix {
      const ParameterBlock& block = *network.layout().find(kind, layer);
      return Eigen::Map<const Matrix>(network.parameters().data() + block.offset,
                                      static_cast<Eigen::Index>(block.rows),
                                      static_cast<Eigen::Index>(block.cols));
    };
    using Kind = ParameterBlock::Kind;
    EXPECT_EQ(network.layout().find(Kind::bias, 2), nullptr);
    EXPECT_EQ(network.layout().find(Kind::taps, 2), nullptr);
    Matrix outputs = x;
    for (std::size_t l = 0; l < 2; ++l) {
      if (learn_taps) {
        const Matrix taps = value(Kind::taps, l);
        filter.set_taps(std::vector<double>(taps.data(), taps.data() + taps.size()));
      }
      outputs = filter.apply(Matrix(outputs * value(Kind::weight, l)));
      outputs.rowwise() += Eigen::RowVectorXd(value(Kind::bias, l));
      outputs = outputs.cwiseMax(0);
    }
    outputs *= value(Kind::weight, 2);
    EXPECT_TRUE(network.forward().isApprox(outputs, 1e-12));

    const Matrix targets = test::random_features<double>(nodes, 1, 1, 3);
    network.backward(2 * (network.forward() - targets));
    const std::vector<double> gradient(network.gradient().begin(), network.gradient().end());
    const auto loss = [&] { return (network.forward() - targets).squaredNorm(); };
    constexpr double step = 1e-6;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      double& parameter = network.parameters()[i];
      const double before = parameter;
      parameter = before + step;
      const double above = loss();
      parameter = before - step;
      const double below = loss();
      parameter = before;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * step), 1e-6) << "parameter " << i;
    }
  }
}

}  // namespace
}  // namespace ngf
