// denoise_study WHAT [--signals S] [--epochs T] [--settings text|code] [--seed S]: the errors that
// docs/blind-stopping.md tells of, as JSON.
//
//   rules    each stopping rule beside the oracle, Tikhonov and the median, on cases 1 and 2
//   harm     the blind rule on signals without structure

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "measure.hpp"
#include "ngf/random.hpp"
#include "ngf/summary.hpp"
#include "ngf/tasks/denoise_cases.hpp"

namespace {

using Json = nlohmann::ordered_json;
using namespace ngf;

struct Study {
  std::string what;
  std::size_t signals = 20;
  std::uint32_t epochs = 300;
  std::string settings = "code";
  std::uint64_t seed = 1;

  PaperSettings paper() const {
    return settings == "text" ? PaperSettings::text : PaperSettings::code;
  }
};

constexpr std::array kinds{SignalKind::gf, SignalKind::ngf};

std::string kind_name(SignalKind kind) { return kind == SignalKind::gf ? "gf" : "ngf"; }

double median_of(const std::vector<double>& values) { return quantile(values, 0.5); }

/// One way to denoise, beside the oracle's.
Json row_of(const std::string& data, const std::string& name, const DenoiseResult& result,
            double seconds) {
  std::vector<double> errors;
  std::vector<double> noisy;
  std::vector<double> ratios;
  std::vector<double> epochs;
  std::vector<double> explained;
  std::size_t left_alone = 0;
  for (const DenoisedSignal& own : result.each) {
    errors.push_back(*own.error);
    noisy.push_back(*own.error_noisy);
    epochs.push_back(own.epochs);
    if (own.error_oracle) ratios.push_back(*own.error / *own.error_oracle);
    explained.push_back(own.explained);
    left_alone += own.left_alone ? 1 : 0;
  }
  Json row{{"data", data},
           {"rule", name},
           {"median_error", median_of(errors)},
           {"median_noise", median_of(noisy)},
           {"median_epoch", median_of(epochs)},
           {"left_alone", left_alone},
           {"median_explained", median_of(explained)},
           {"seconds", seconds}};
  if (!ratios.empty()) {
    row["ratio_to_oracle"] = {{"median", median_of(ratios)}, {"p90", quantile(ratios, 0.9)}};
  }
  fmt::print(stderr, "{:28} {:12} error {:.4f}  of noise {:.3f}  epoch {:4}  alone {}  {}\n", data,
             name, median_of(errors), median_of(errors) / median_of(noisy), median_of(epochs),
             left_alone, ratios.empty() ? "" : fmt::format("of oracle {:.3f}", median_of(ratios)));
  return row;
}

/// All rules on one set of signals.
void compare_rules(const Study& study, const std::string& name, const DenoiseCase& data,
                   DenoiseSettings settings, const std::vector<std::uint32_t>& fixed, Json& rows) {
  settings.epochs = study.epochs;
  const auto run = [&](const std::string& rule) {
    DenoiseResult result;
    const double seconds =
        bench::seconds_of([&] { result = denoise(data.graph, data.noisy, &data.clean, settings); });
    rows.push_back(row_of(name, rule, result, seconds));
    return result;
  };
  settings.stop = StopRule::oracle;
  const DenoiseResult oracle = run("oracle");
  // A fixed number of epochs is read off the oracle's record.
  for (const std::uint32_t epochs : fixed) {
    if (epochs > study.epochs) continue;
    DenoiseResult result = oracle;
    for (DenoisedSignal& own : result.each) {
      own.error = own.errors[epochs - 1];
      own.epochs = epochs;
    }
    rows.push_back(row_of(name, fmt::format("epochs:{}", epochs), result, 0));
  }
  for (const StopRule rule : {StopRule::blind, StopRule::sure, StopRule::variance}) {
    settings.stop = rule;
    run(std::string(stop_name(rule)));
  }
  for (const DenoiseArch arch : {DenoiseArch::tikhonov, DenoiseArch::median}) {
    settings.arch = arch;
    run(std::string(arch_name(arch)));
  }
}

Json run_rules(const Study& study) {
  Json rows = Json::array();
  for (const SignalKind kind : kinds) {
    const DenoiseArch arch = kind == SignalKind::gf ? DenoiseArch::gf : DenoiseArch::ngf;
    compare_rules(study, fmt::format("case 1, {} {}", study.settings, kind_name(kind)),
                  denoise_case_1(study.paper(), kind, study.signals, study.seed),
                  denoise_settings_1(study.paper(), arch, study.seed), {50, 100, 200}, rows);
  }
  for (const SignalKind kind : kinds) {
    const DenoiseArch arch = kind == SignalKind::gf ? DenoiseArch::gf : DenoiseArch::ngf;
    compare_rules(study, fmt::format("case 2, {} {}", study.settings, kind_name(kind)),
                  denoise_case_2(study.paper(), kind, 0.1, study.signals, study.seed),
                  denoise_settings_2(study.paper(), arch, study.seed), {50, 100, 200}, rows);
  }
  return rows;
}

/// Signals that are independent of the graph: white noise, and signals of case 1 with their values
/// permuted over the nodes.
Json run_harm(const Study& study) {
  Json rows = Json::array();
  DenoiseCase data = denoise_case_1(study.paper(), SignalKind::gf, study.signals, study.seed);
  DenoiseCase shuffled = data;
  Random random(study.seed, 77);
  for (Eigen::Index s = 0; s < data.clean.cols(); ++s) {
    for (Eigen::Index u = 0; u < data.clean.rows(); ++u) data.clean(u, s) = random.normal();
    for (Eigen::Index u = data.clean.rows() - 1; u > 0; --u) {
      const auto v = static_cast<Eigen::Index>(random.below(static_cast<std::uint64_t>(u) + 1));
      std::swap(shuffled.clean(u, s), shuffled.clean(v, s));
    }
  }
  for (const double power : {0.025, 0.1, 0.25}) {
    data.noisy = with_noise(data.clean, power, study.seed);
    shuffled.noisy = with_noise(shuffled.clean, power, study.seed);
    for (const DenoiseArch arch : {DenoiseArch::gf, DenoiseArch::ngf, DenoiseArch::tikhonov}) {
      DenoiseSettings settings = denoise_settings_1(study.paper(), arch, study.seed);
      settings.stop = StopRule::blind;
      settings.rescale = true;
      settings.epochs = study.epochs;
      const std::array<std::pair<const char*, const DenoiseCase*>, 2> both{
          {{"white", &data}, {"shuffled", &shuffled}}};
      for (const auto& [name, own] : both) {
        const DenoiseResult result = denoise(own->graph, own->noisy, &own->clean, settings);
        double worst = 0;
        std::vector<double> explained;
        for (const DenoisedSignal& one : result.each) {
          worst = std::max(worst, *one.error / *one.error_noisy);
          explained.push_back(one.explained);
        }
        Json row = row_of(fmt::format("{}, power {}", name, power), std::string(arch_name(arch)),
                          result, 0);
        row["worst_of_noise"] = worst;
        row["most_explained"] = *std::max_element(explained.begin(), explained.end());
        fmt::print(stderr, "    worst {:.3f} of the noise, explained at most {:.3f}\n", worst,
                   *std::max_element(explained.begin(), explained.end()));
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

Json run(const Study& study) {
  if (study.what == "rules") return run_rules(study);
  return run_harm(study);
}

}  // namespace

int main(int argc, char** argv) {
  Study study;
  CLI::App program("Errors of denoising, by architecture and stopping rule");
  program.add_option("WHAT", study.what)->required()->check(CLI::IsMember({"rules", "harm"}));
  program.add_option("--signals", study.signals)->check(CLI::Range(1, 100000));
  program.add_option("--epochs", study.epochs)->check(CLI::Range(1, 1000000));
  program.add_option("--settings", study.settings)->check(CLI::IsMember({"text", "code"}));
  program.add_option("--seed", study.seed);
  try {
    program.parse(argc, argv);
    fmt::print("{}\n", run(study).dump());
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "denoise_study: {}\n", error.what());
    return 1;
  }
  return 0;
}
