#pragma once

#include <cstdint>
#include <vector>

#include "ngf/graph.hpp"
#include "ngf/nn/network.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf::test {

inline Graph some_graph(NodeId nodes, bool directed, std::uint64_t seed = 1) {
  return build_graph(nodes, random_edges(nodes, std::size_t{nodes} * 3 / 2, seed),
                     {.directed = directed});
}

/// Features that are 0 but for a share.
template <typename Real>
SignalsOf<Real> random_features(Eigen::Index rows, Eigen::Index columns, double share,
                                std::uint64_t seed) {
  Random random(seed);
  SignalsOf<Real> result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const double value = random.normal();
    result.data()[i] = random.chance(share) ? static_cast<Real>(value) : Real{0};
  }
  return result;
}

template <typename Real>
FeaturesOf<Real> as_sparse(const SignalsOf<Real>& dense) {
  return std::variant_alternative_t<1, FeaturesOf<Real>>(dense.sparseView());
}

inline std::vector<std::int32_t> random_labels(NodeId nodes, std::uint64_t classes,
                                               std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> labels(nodes);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(random.below(classes));
  return labels;
}

/// Numbers of a run are drawn by its own seed, so that it has them in any batch.
template <typename Real>
void draw_parameters(Network<Real>& network, const std::vector<std::uint64_t>& seeds) {
  const ParameterLayout& layout = network.layout();
  for (std::size_t r = 0; r < seeds.size(); ++r) {
    Random random(seeds[r]);
    for (const ParameterBlock& block : layout.blocks()) {
      for (std::size_t i = 0; i < block.rows; ++i) {
        for (std::size_t f = 0; f < block.cols; ++f) {
          network.parameters()[block.offset + (i * layout.runs() + r) * block.cols + f] =
              static_cast<Real>(0.5 * random.normal());
        }
      }
    }
  }
}

/// The numbers of one run, of parameters or of their gradient.
template <typename Real>
std::vector<Real> of_run(const ParameterLayout& layout, std::span<const Real> all, std::size_t r) {
  std::vector<Real> result;
  for (const ParameterBlock& block : layout.blocks()) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(
                                           block.offset + (i * layout.runs() + r) * block.cols);
      result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(block.cols));
    }
  }
  return result;
}

}  // namespace ngf::test
