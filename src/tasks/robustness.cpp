#include "ngf/tasks/robustness.hpp"

#include <memory>
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

/// The filters of a graph and what they give for the probes, to compare perturbed ones with.
class Comparison {
 public:
  Comparison(const Graph& graph, const Taps& taps, const RobustnessOptions& options)
      : graph_(graph),
        taps_(taps),
        options_(options),
        exactly_(graph.nodes() <= most_nodes_exactly),
        x_(probes(graph.nodes(), exactly_, options.perturb.seed)) {
    // Shells of both graphs are compared node by node.
    options_.filter.merging = Merging::never;
    const auto signal_bytes = static_cast<std::uint64_t>(x_.size()) * sizeof(double);
    std::optional<detail::MemoryReserve> for_results(std::in_place, 4 * signal_bytes);
    // The filter on the perturbed graph takes as much again.
    filter_ = make_in_half(options.filter.shells.memory, [&](std::uint64_t half) {
      FilterOptions of_half = options_.filter;
      of_half.shells.memory = half;
      return std::make_unique<NeighborhoodFilter>(graph, taps, of_half, options.progress);
    });
    for_results.reset();
    neighborhood_ = filter_->apply(x_);
    polynomial_ = polynomial(graph);
    sizes_ = filter_->shells().pairs();
    sizes_.resize(taps.count(), 0);
  }

  bool exactly() const { return exactly_; }

  /// What one perturbed graph does.
  struct Errors {
    double polynomial;
    double neighborhood;
    std::vector<double> shell_change;
  };
  Errors errors(std::uint64_t round) const {
    PerturbOptions perturb_options = options_.perturb;
    perturb_options.seed += round;
    const Graph changed = perturb(graph_, perturb_options).graph;
    std::optional<detail::MemoryReserve> for_results(
        std::in_place, 2 * static_cast<std::uint64_t>(x_.size()) * sizeof(double));
    const NeighborhoodFilter after(changed, taps_, options_.filter, options_.progress);
    for_results.reset();
    Errors result{relative_error(polynomial(changed), polynomial_),
                  relative_error(after.apply(x_), neighborhood_),
                  std::vector<double>(taps_.count(), 0)};
    for (std::uint32_t k = 1; k < taps_.count(); ++k) {
      if (sizes_[k] == 0) continue;
      result.shell_change[k] =
          static_cast<double>(pairs_that_differ(after.shells(), filter_->shells(), k)) /
          static_cast<double>(sizes_[k]);
    }
    return result;
  }

 private:
  Matrix polynomial(const Graph& graph) const {
    const int threads = options_.filter.shells.threads;
    return PolynomialFilter(graph, taps_, options_.shift, threads).apply(x_);
  }

  const Graph& graph_;
  const Taps& taps_;
  RobustnessOptions options_;
  bool exactly_;
  Matrix x_;
  std::unique_ptr<NeighborhoodFilter> filter_;
  Matrix neighborhood_, polynomial_;
  std::vector<std::uint64_t> sizes_;  // of the shells
};

}  // namespace

Robustness measure_robustness(const Graph& graph, const Taps& taps,
                              const RobustnessOptions& options) {
  if (options.realisations < 1) fail("{} realisations; take at least 1", options.realisations);
  const Comparison comparison(graph, taps, options);
  Robustness result;
  result.estimated = !comparison.exactly();
  result.shell_change.assign(taps.count(), 0);
  const auto rounds = static_cast<std::uint64_t>(options.realisations);
  std::vector<double> polynomial(rounds, 0);
  std::vector<double> neighborhood(rounds, 0);
  Communicator* const ranks = options.ranks;
  const auto first = static_cast<std::uint64_t>(ranks == nullptr ? 0 : ranks->rank());
  const auto step = static_cast<std::uint64_t>(ranks == nullptr ? 1 : ranks->size());
  for (std::uint64_t round = first; round < rounds; round += step) {
    throw_if_stopped(options.progress);
    const Comparison::Errors errors = comparison.errors(round);
    polynomial[round] = errors.polynomial;
    neighborhood[round] = errors.neighborhood;
    for (std::uint32_t k = 1; k < taps.count(); ++k) {
      result.shell_change[k] += errors.shell_change[k] / static_cast<double>(rounds);
    }
    if (options.progress != nullptr) options.progress->report(round + 1, rounds);
  }
  if (ranks != nullptr) {
    // Each realisation has one process; the others add nothing to it.
    for (auto* const values : {&neighborhood, &polynomial, &result.shell_change}) {
      ranks->sum(std::span(*values));
    }
  }
  result.neighborhood = summarize(neighborhood);
  result.polynomial = summarize(polynomial);
  return result;
}

}  // namespace ngf
