#include "ngf/tasks/robustness.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/fail.hpp"
#include "base/memory.hpp"
#include "ngf/random.hpp"

namespace ngf {

namespace {

constexpr NodeId most_nodes_exactly = 2000;
constexpr Eigen::Index probe_count = 64;

/// Signals X with E |M X|^2 = c |M|^2 for every matrix M: the identity, or normal numbers.
Matrix probes(NodeId nodes, bool exactly, std::uint64_t seed) {
  if (exactly) return Matrix::Identity(nodes, nodes);
  Random random(seed);
  Matrix result(nodes, probe_count);
  for (Eigen::Index i = 0; i < result.size(); ++i) result.data()[i] = random.normal();
  return result;
}

/// |a - b|^2 / |b|^2, and 0 when both are nothing.
double relative_error(const Matrix& a, const Matrix& b) {
  const double size = b.squaredNorm();
  const double error = (a - b).squaredNorm();
  return size > 0 ? error / size : error;
}

Spread spread_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Spread result;
  for (const double value : values) result.mean += value / count;
  for (const double value : values) result.std += std::pow(value - result.mean, 2);
  result.std = values.size() > 1 ? std::sqrt(result.std / (count - 1)) : 0;
  return result;
}

/// Pairs that are in one of the shells of `hop` alone.
std::uint64_t pairs_that_differ(const Shells& a, const Shells& b, std::uint32_t hop) {
  std::uint64_t count = 0;
  std::vector<NodeId> difference;
  for (NodeId u = 0; u < a.nodes(); ++u) {
    const auto of_a = a.columns(u, hop);
    const auto of_b = b.columns(u, hop);
    difference.clear();
    std::set_symmetric_difference(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                                  std::back_inserter(difference));
    count += difference.size();
  }
  return count;
}

}  // namespace

Robustness measure_robustness(const Graph& graph, const Taps& taps,
                              const RobustnessOptions& options) {
  if (options.realisations < 1)
    detail::fail("{} realisations; take at least 1", options.realisations);
  const int threads = options.filter.shells.threads;
  const bool exactly = graph.nodes() <= most_nodes_exactly;
  const Matrix x = probes(graph.nodes(), exactly, options.perturb.seed);
  // Shells of both graphs are compared node by node.
  FilterOptions filter_options = options.filter;
  filter_options.merging = Merging::never;
  const std::uint64_t memory = options.filter.shells.memory;
  const auto signal_bytes = static_cast<std::uint64_t>(x.size()) * sizeof(double);
  std::optional<detail::MemoryReserve> for_results(std::in_place, 4 * signal_bytes);
  // The filter on the perturbed graph takes as much again.
  const auto neighborhood = detail::make_in_half(memory, [&](std::uint64_t half) {
    FilterOptions of_half = filter_options;
    of_half.shells.memory = half;
    return NeighborhoodFilter(graph, taps, of_half, options.progress);
  });
  for_results.reset();
  const Matrix neighborhood_before = neighborhood.apply(x);
  const Matrix polynomial_before = PolynomialFilter(graph, taps, options.shift, threads).apply(x);
  std::vector<std::uint64_t> sizes = neighborhood.shells().pairs();
  sizes.resize(taps.count(), 0);

  Robustness result;
  result.estimated = !exactly;
  result.shell_change.assign(taps.count(), 0);
  const auto rounds = static_cast<std::uint64_t>(options.realisations);
  std::vector<double> polynomial_errors(rounds, 0);
  std::vector<double> neighborhood_errors(rounds, 0);
  const auto first =
      static_cast<std::uint64_t>(options.ranks == nullptr ? 0 : options.ranks->rank());
  const auto step =
      static_cast<std::uint64_t>(options.ranks == nullptr ? 1 : options.ranks->size());
  for (std::uint64_t round = first; round < rounds; round += step) {
    throw_if_stopped(options.progress);
    PerturbOptions perturb_options = options.perturb;
    perturb_options.seed += round;
    const Graph changed = perturb(graph, perturb_options).graph;
    for_results.emplace(2 * signal_bytes);
    const NeighborhoodFilter after(changed, taps, filter_options, options.progress);
    for_results.reset();
    neighborhood_errors[round] = relative_error(after.apply(x), neighborhood_before);
    polynomial_errors[round] = relative_error(
        PolynomialFilter(changed, taps, options.shift, threads).apply(x), polynomial_before);
    for (std::uint32_t k = 1; k < taps.count(); ++k) {
      if (sizes[k] == 0) continue;
      result.shell_change[k] +=
          static_cast<double>(pairs_that_differ(after.shells(), neighborhood.shells(), k)) /
          static_cast<double>(sizes[k]) / static_cast<double>(rounds);
    }
    if (options.progress != nullptr) options.progress->report(round + 1, rounds);
  }
  if (options.ranks != nullptr) {
    // Each realisation has one process; the others add nothing to it.
    for (auto* const values : {&neighborhood_errors, &polynomial_errors, &result.shell_change}) {
      options.ranks->sum(std::span(*values));
    }
  }
  result.neighborhood = spread_of(neighborhood_errors);
  result.polynomial = spread_of(polynomial_errors);
  return result;
}

}  // namespace ngf
