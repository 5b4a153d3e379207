// Figure 2b, test case 2: the error of denoised signals against the power of the noise. Of each
// signal the least error over the epochs; of these the median.

#include <fmt/format.h>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace of_fig2b {

namespace {

constexpr std::size_t quick_signals = 4;
constexpr std::size_t full_signals = 50;
constexpr std::array noise_powers{0.025, 0.05, 0.1, 0.15, 0.2, 0.25};
constexpr std::array quick_noise_powers{0.025, 0.1, 0.25};
/// The least error comes late at this rate of learning, so that epochs are not saved.
constexpr std::uint32_t epochs = 1000;

std::vector<double> powers_of(const Study& study) {
  if (study.size == Size::quick) return {quick_noise_powers.begin(), quick_noise_powers.end()};
  return {noise_powers.begin(), noise_powers.end()};
}

struct Point {
  SignalKind input;
  double noise_power;
  DenoiseArch arch;
};

std::size_t signals_of(const Study& study) { return sized(study, quick_signals, full_signals); }

DenoiseSettings fit_of(const Study& study, DenoiseArch arch) {
  return fit_for(study, denoise_settings_2(study.settings, arch, study.seed), epochs);
}

std::string run(const Study& study, const Point& point, Progress* progress) {
  const DenoiseCase data =
      denoise_case_2(study.settings, point.input, point.noise_power, signals_of(study), study.seed);
  const DenoiseResult result =
      denoise(data.graph, data.noisy, &data.clean, fit_of(study, point.arch), progress);
  std::vector<double> errors;
  for (const DenoisedSignal& own : result.each) errors.push_back(own.error_oracle.value());
  const Row row{{"settings", settings_name(study.settings)},
                {"input", input_name(point.input)},
                {"arch", arch_name(point.arch)},
                {"noise_power", point.noise_power},
                {"median_error", quantile(errors, 0.5)},
                {"signals", errors.size()}};
  return Row::array({row}).dump();
}

}  // namespace

}  // namespace of_fig2b

Figure fig2b(const Study& study) {
  using namespace of_fig2b;
  Figure figure{"fig2b", "denoising: error against noise", {}};
  const Graph graph =
      denoise_case_2(study.settings, inputs[0], noise_powers[0], 1, study.seed).graph;
  for (const SignalKind input : inputs) {
    for (const double power : powers_of(study)) {
      for (const DenoiseArch arch : architectures) {
        Cell& cell = figure.cells.emplace_back();
        cell.key = fmt::format("fig2b {} {} {}", input_name(input), power, arch_name(arch));
        count_products(cell, graph, fit_of(study, arch), signals_of(study));
        cell.run = [&study, point = Point{input, power, arch}](Progress* progress) {
          return run(study, point, progress);
        };
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
