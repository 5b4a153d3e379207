// Figure 2a, test case 1: the error of denoised signals against epochs, as the median over the
// signals.
//
// The published figure was made with the settings of the code, so these are always run. Those of
// the text, signals of unit norm, stand beside them: with the code's learning rate decoders fail on
// them.

#include <fmt/format.h>

#include "experiments/common.hpp"

namespace ngf::experiments {

namespace of_fig2a {

namespace {

constexpr std::size_t quick_signals = 10;
constexpr std::size_t full_signals = 200;
constexpr std::uint32_t quick_epochs = 400;
constexpr std::uint32_t full_epochs = 1000;

std::vector<PaperSettings> settings_of(const Study& study) {
  if (study.settings == PaperSettings::code) return {PaperSettings::code};
  return {PaperSettings::code, PaperSettings::text};
}

struct Point {
  PaperSettings settings;
  SignalKind input;
  DenoiseArch arch;
};

DenoiseSettings fit_of(const Study& study, const Point& point) {
  return fit_for(study, denoise_settings_1(point.settings, point.arch, study.seed),
                 sized(study, quick_epochs, full_epochs));
}

std::size_t signals_of(const Study& study) { return sized(study, quick_signals, full_signals); }

std::vector<double> medians_by_epoch(const std::vector<DenoisedSignal>& signals) {
  std::vector<double> medians;
  for (std::size_t t = 0; t < signals.front().errors.size(); ++t) {
    std::vector<double> errors;
    for (const DenoisedSignal& own : signals) errors.push_back(own.errors[t]);
    medians.push_back(quantile(errors, 0.5));
  }
  return medians;
}

std::string run(const Study& study, const Point& point, Progress* progress) {
  const DenoiseCase data =
      denoise_case_1(point.settings, point.input, signals_of(study), study.seed);
  const DenoiseResult result =
      denoise(data.graph, data.noisy, &data.clean, fit_of(study, point), progress);
  const Row row{{"settings", settings_name(point.settings)},
                {"input", input_name(point.input)},
                {"arch", arch_name(point.arch)},
                {"signals", result.each.size()},
                {"median_error", medians_by_epoch(result.each)}};
  return Row::array({row}).dump();
}

}  // namespace

}  // namespace of_fig2a

Figure fig2a(const Study& study) {
  using namespace of_fig2a;
  Figure figure{"fig2a", "denoising: error against epochs", {}};
  for (const PaperSettings settings : settings_of(study)) {
    const Graph graph = denoise_case_1(settings, inputs[0], 1, study.seed).graph;
    for (const SignalKind input : inputs) {
      for (const DenoiseArch arch : architectures) {
        const Point point{settings, input, arch};
        Cell& cell = figure.cells.emplace_back();
        cell.key = fmt::format("fig2a {} {} {}", settings_name(settings), input_name(input),
                               arch_name(arch));
        count_products(cell, graph, fit_of(study, point), signals_of(study));
        cell.run = [&study, point](Progress* progress) { return run(study, point, progress); };
      }
    }
  }
  return figure;
}

}  // namespace ngf::experiments
