#include "ngf/tasks/denoise_cases.hpp"

#include <cmath>

#include "base/streams.hpp"
#include "ngf/components.hpp"
#include "ngf/generate.hpp"
#include "tasks/baselines.hpp"

namespace ngf {

namespace {

constexpr std::uint64_t case_nodes = 256;

Graph connected_communities(std::uint64_t blocks, double p, std::uint64_t seed) {
  constexpr double q = 0.0075;
  // Draws of one seed do not meet those of the next.
  constexpr std::uint64_t draws = 1000;
  for (std::uint64_t i = 0;; ++i) {
    Graph graph = stochastic_block_model(case_nodes, blocks, p, q, seed * draws + i);
    if (connected_components(graph).size.size() == 1) return graph;
  }
}

Matrix diffused(const Graph& graph, SignalKind kind, std::size_t signals, std::uint64_t seed) {
  Matrix b(static_cast<Eigen::Index>(case_nodes), static_cast<Eigen::Index>(signals));
  for (Eigen::Index s = 0; s < b.cols(); ++s) {
    Random random = random_for(seed, Use::denoise_signals, static_cast<std::uint64_t>(s));
    for (Eigen::Index u = 0; u < b.rows(); ++u) b(u, s) = random.normal();
  }
  if (kind == SignalKind::gf) return PolynomialFilter(graph, paper_taps()).apply(b);
  return NeighborhoodFilter(graph, paper_taps()).apply(b);
}

}  // namespace

std::string_view settings_name(PaperSettings settings) {
  return settings == PaperSettings::text ? "text" : "code";
}

std::vector<double> paper_taps() { return {0.13318287, 0.63933657, 0.22748056}; }

Matrix with_noise(const Matrix& clean, double power, std::uint64_t seed) {
  Matrix noisy = clean;
  for (Eigen::Index s = 0; s < clean.cols(); ++s) {
    Random random = random_for(seed, Use::denoise_noise, static_cast<std::uint64_t>(s));
    const double deviation =
        std::sqrt(power / static_cast<double>(clean.rows())) * clean.col(s).norm();
    for (Eigen::Index u = 0; u < clean.rows(); ++u) noisy(u, s) += deviation * random.normal();
  }
  return noisy;
}

DenoiseCase denoise_case_1(PaperSettings settings, SignalKind kind, std::size_t signals,
                           std::uint64_t seed) {
  constexpr double power = 0.1;
  const bool text = settings == PaperSettings::text;
  DenoiseCase result;
  result.graph = connected_communities(8, text ? 0.3 : 0.75, seed);
  result.clean = diffused(result.graph, kind, signals, seed);
  if (text) result.clean.colwise().normalize();
  result.noisy = with_noise(result.clean, power, seed);
  return result;
}

DenoiseCase denoise_case_2(PaperSettings settings, SignalKind kind, double noise_power,
                           std::size_t signals, std::uint64_t seed) {
  DenoiseCase result;
  result.graph = connected_communities(4, 0.3, seed);
  result.clean = diffused(result.graph, kind, signals, seed);
  if (settings == PaperSettings::code) {
    for (Eigen::Index s = 0; s < result.clean.cols(); ++s) {
      result.clean.col(s) = tasks::neighbor_median(result.graph, result.clean.col(s));
    }
  }
  result.clean.colwise().normalize();
  result.noisy = with_noise(result.clean, noise_power, seed);
  return result;
}

DenoiseSettings denoise_settings_1(PaperSettings settings, DenoiseArch arch, std::uint64_t seed) {
  DenoiseSettings result;
  result.arch = arch;
  result.taps = paper_taps();
  result.inputs = case_nodes;
  if (settings == PaperSettings::text) result.input_deviation = 1;
  result.rescale = false;
  result.stop = StopRule::oracle;
  result.seed = seed;
  return result;
}

DenoiseSettings denoise_settings_2(PaperSettings settings, DenoiseArch arch, std::uint64_t seed) {
  DenoiseSettings result = denoise_settings_1(settings, arch, seed);
  result.layers = 3;
  result.hidden = 64;
  result.inputs = 64;
  result.lr = 0.001;
  return result;
}

}  // namespace ngf
