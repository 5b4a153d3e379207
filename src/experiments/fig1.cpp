// Figure 1: |H' - H|^2 / |H|^2 against the number of taps K, in the Frobenius norm, for
// H = sum h_k A^k and H = sum h_k A_k with the same taps, A' being A perturbed.
//
// A realisation is a graph, taps and a perturbation. All K, and all perturbations, share graph and
// taps: a curve's points differ in K alone. The text gives neither sizes nor the perturbation, on
// which the answer depends, so all three kinds are shown.

#include <fmt/format.h>

#include "experiments/common.hpp"
#include "ngf/robustness.hpp"

namespace ngf::experiments {

namespace {

constexpr std::uint32_t least_taps = 2;
constexpr std::uint32_t most_taps = 10;
constexpr double percent = 10;
constexpr int quick_realisations = 25;
constexpr int full_realisations = 100;
constexpr std::uint64_t own_seeds = 1;
/// Of a realisation, and of each of its taps.
constexpr double work = 1.5e8;
constexpr double work_of_tap = 1e7;

struct Point {
  std::string_view graph;
  std::string_view perturbation;
  std::uint32_t taps;
};

std::string run(const Setup& setup, const Point& point, Progress* progress) {
  const int realisations = sized(setup, quick_realisations, full_realisations);
  std::vector<double> polynomial;
  std::vector<double> neighborhood;
  for (int r = 0; r < realisations; ++r) {
    throw_if_stopped(progress);
    const std::uint64_t seed = seed_of(setup, own_seeds, static_cast<std::uint64_t>(r));
    RobustnessOptions options;
    options.perturb = perturbation(point.perturbation, percent, seed);
    options.realisations = 1;
    options.filter.shells.threads = setup.threads;
    const Robustness measured =
        measure_robustness(small_graph(point.graph, seed), uniform_taps(point.taps, seed), options);
    polynomial.push_back(measured.polynomial.mean);
    neighborhood.push_back(measured.neighborhood.mean);
  }
  const Summary gf = summarize(polynomial);
  const Summary ngf = summarize(neighborhood);
  const Row row{{"graph", point.graph}, {"perturbation", point.perturbation},
                {"K", point.taps},      {"gf", gf.mean},
                {"ngf", ngf.mean},      {"gf_std", gf.std},
                {"ngf_std", ngf.std},   {"realisations", realisations}};
  return Row::array({row}).dump();
}

}  // namespace

Figure fig1(const Setup& setup) {
  Figure figure{"fig1", "error of perturbed filters against K", {}};
  for (const std::string_view graph : small_graphs) {
    for (const std::string_view kind : perturbations) {
      for (std::uint32_t taps = least_taps; taps <= most_taps; ++taps) {
        Cell& cell = figure.cells.emplace_back();
        cell.key = fmt::format("fig1 {} {} K={}", graph, kind, taps);
        cell.work =
            sized(setup, quick_realisations, full_realisations) * (work + taps * work_of_tap);
        cell.run = [&setup, point = Point{graph, kind, taps}](Progress* progress) {
          return run(setup, point, progress);
        };
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
