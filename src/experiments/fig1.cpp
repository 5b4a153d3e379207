// Figure 1: |H' - H|^2 / |H|^2 against the number of taps K, in the Frobenius norm, for
// H = sum h_k A^k and H = sum h_k A_k with the same taps, A' being A perturbed.
//
// A realisation is a graph, taps and a perturbation. All K, and all perturbations, share graph and
// taps: a curve's points differ in K alone. The text gives neither sizes nor the perturbation, on
// which the answer depends, so all three kinds are shown.

#include <fmt/format.h>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace of_fig1 {

namespace {

constexpr std::uint32_t least_taps = 2;
constexpr std::uint32_t most_taps = 10;
constexpr std::uint64_t own_seeds = 1;

struct Point {
  std::string_view graph;
  std::string_view perturbation;
  std::uint32_t taps;
};

std::string run(const Study& study, const Point& point, Progress* progress) {
  const auto realisations = static_cast<std::size_t>(realisations_of(study));
  std::vector<double> polynomial(realisations);
  std::vector<double> neighborhood(realisations);
  for_each_realisation(study, progress, [&](std::size_t r) {
    const Robustness measured = measure_realisation(point.graph, point.perturbation, point.taps,
                                                    seed_of(study, own_seeds, r));
    polynomial[r] = measured.polynomial.mean;
    neighborhood[r] = measured.neighborhood.mean;
  });
  const Summary gf = summarize(polynomial);
  const Summary ngf = summarize(neighborhood);
  const Row row{{"graph", point.graph}, {"perturbation", point.perturbation},
                {"K", point.taps},      {"gf", gf.mean},
                {"ngf", ngf.mean},      {"gf_std", gf.std},
                {"ngf_std", ngf.std},   {"realisations", realisations}};
  return Row::array({row}).dump();
}

}  // namespace

}  // namespace of_fig1

Figure fig1(const Study& study) {
  using namespace of_fig1;
  Figure figure{"fig1", "error of perturbed filters against K", {}};
  for (const std::string_view graph : small_graphs) {
    for (const std::string_view kind : perturbations) {
      for (std::uint32_t taps = least_taps; taps <= most_taps; ++taps) {
        Cell& cell = figure.cells.emplace_back();
        cell.key = fmt::format("fig1 {} {} K={}", graph, kind, taps);
        cell.seconds = realisations_of(study) * costs::of_realisation;
        cell.run = [&study, point = Point{graph, kind, taps}](Progress* progress) {
          return run(study, point, progress);
        };
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
