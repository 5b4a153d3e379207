// What the paper says of denoising: Figures 2a and 2b.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "report/verdict_rules.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

// The noise of Figure 2a, which is also the noisy signal's own error: what is above it is no
// denoising.
constexpr double noise_power = 0.1;
// A network that fits the noise ends at least so much above its smallest error.
constexpr double rises_by = 1.1;
// Two errors are similar when neither is more than so many times the other.
constexpr double similar = 1.25;
// An error is clearly lower when it is at most this share of the other.
constexpr double clearly = 0.9;
// What the paper calls little and much noise in Figure 2b.
constexpr double low_noise = 0.1;
constexpr double high_noise = 0.2;

std::string with_settings(const std::string& settings, const std::string& numbers) {
  return fmt::format("Settings of the {}. {}", settings, numbers);
}

Curve epochs_of(const Rows& rows, const std::string& input, const std::string& arch) {
  Curve curve;
  const Rows found = rows.where("input", input).where("arch", arch);
  if (found.empty()) return curve;
  double epoch = 0;
  for (const json& error : found.all()[0]->at("median_error")) {
    ++epoch;
    if (!error.is_number()) continue;
    curve.x.push_back(epoch);
    curve.y.push_back(error.get<double>());
  }
  return curve;
}

constexpr std::array<const char*, 4> architectures{"gf", "ngf", "gcn", "sgc"};

/// The smallest error of each architecture that was run.
std::map<std::string, double> smallest_errors(const Rows& rows, const std::string& input) {
  std::map<std::string, double> errors;
  for (const char* arch : architectures) {
    const Curve curve = epochs_of(rows, input, arch);
    if (!curve.x.empty()) errors[arch] = curve.y[curve.lowest()];
  }
  return errors;
}

/// Whether one architecture has the smallest error: rival by rival.
Cases best_of(const std::map<std::string, double>& errors, const std::string& best) {
  Cases cases;
  if (!errors.contains(best)) return cases;
  for (const auto& [arch, error] : errors) {
    if (arch == best) continue;
    cases.add(errors.at(best) < error, fmt::format("against {}: {} and {}", spoken(arch),
                                                   said(errors.at(best)), said(error)));
  }
  return cases;
}

void judge_rise(std::vector<Verdict>& verdicts, const std::string& settings, const Rows& rows) {
  Cases rise;
  for (const char* input : {"gf", "ngf"}) {
    for (const char* arch : architectures) {
      const Curve curve = epochs_of(rows, input, arch);
      if (curve.x.size() < 3) continue;
      const std::size_t at = curve.lowest();
      rise.add(at > 0 && curve.y.back() >= rises_by * curve.y[at],
               fmt::format("{} on input {}: {} at epoch {}, {} at the end", spoken(arch),
                           spoken(input), said(curve.y[at]), curve.x[at], said(curve.y.back())));
    }
  }
  decide(verdicts, "fig2a",
         "The error falls, reaches a minimum, and rises again as the network fits the noise.",
         with_settings(settings, fmt::format("Smallest and last error, which should be {} % larger",
                                             std::round((rises_by - 1) * 100))),
         rise);
}

void judge_winner(std::vector<Verdict>& verdicts, const std::string& settings, const Rows& rows,
                  const std::string& input) {
  decide(verdicts, "fig2a",
         input == "gf"
             ? "Signals made by a polynomial filter are denoised best by the architecture "
               "with a polynomial filter, ahead of GCN and SGC."
             : "Signals made by a neighbourhood filter are denoised best by the "
               "architecture with a neighbourhood filter.",
         with_settings(settings, fmt::format("Smallest errors on input {}", spoken(input))),
         best_of(smallest_errors(rows, input), input));
}

/// Whether NGF, and it alone, gets below the noise on all of these inputs.
Cases alone_below_noise(const Rows& rows, const std::vector<std::string>& inputs) {
  std::map<std::string, double> worst;
  for (const std::string& input : inputs) {
    for (const auto& [arch, error] : smallest_errors(rows, input)) {
      worst[arch] = std::max(worst[arch], error);
    }
  }
  Cases cases;
  for (const auto& [arch, error] : worst) {
    const std::string told = fmt::format("{}: {}", spoken(arch), said(error));
    if (arch == "ngf") {
      cases.need(error < noise_power, told);
    } else {
      cases.add(error >= noise_power, told);
    }
  }
  return cases;
}

/// The errors of two architectures at the noise powers that both have.
struct Pair {
  double noise, first, second;
};

std::vector<Pair> pairs(const Rows& rows, const std::string& input, const std::string& first,
                        const std::string& second) {
  const auto curve = [&](const std::string& arch) {
    return rows.where("input", input).where("arch", arch).curve("noise_power", "median_error");
  };
  const Curve a = curve(first);
  const Curve b = curve(second);
  std::vector<Pair> result;
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    const auto same = std::find(b.x.begin(), b.x.end(), a.x[i]);
    if (same != b.x.end()) {
      result.push_back({a.x[i], a.y[i], b.y[static_cast<std::size_t>(same - b.x.begin())]});
    }
  }
  return result;
}

std::string told(const Pair& pair) {
  return fmt::format("noise {}: {} against {}", pair.noise, said(pair.first), said(pair.second));
}

void judge_polynomial_input(std::vector<Verdict>& verdicts, const std::string& settings,
                            const Rows& rows) {
  Cases alike;
  for (const Pair& pair : pairs(rows, "gf", "ngf", "gf")) {
    const double ratio = pair.first / pair.second;
    alike.add(ratio <= similar && ratio >= 1 / similar, told(pair));
  }
  decide(verdicts, "fig2b", "On signals made by a polynomial filter, NGF and GF behave alike.",
         with_settings(settings, fmt::format("NGF's error against GF's, each noise power, which "
                                             "should be within a factor of {}",
                                             similar)),
         alike);
  Cases ahead;
  for (const char* rival : {"gf", "ngf"}) {
    for (const Pair& pair : pairs(rows, "gf", "gcn", rival)) {
      if (pair.noise < high_noise) continue;
      ahead.add(pair.first < pair.second, fmt::format("{} ({})", told(pair), spoken(rival)));
    }
  }
  decide(verdicts, "fig2b",
         "On signals made by a polynomial filter, GCN is ahead of both where there is much noise.",
         with_settings(settings, fmt::format("GCN's error against theirs at noise of {} and more",
                                             high_noise)),
         ahead);
}

void judge_neighborhood_input(std::vector<Verdict>& verdicts, const std::string& settings,
                              const Rows& rows) {
  Cases lower;
  for (const Pair& pair : pairs(rows, "ngf", "ngf", "gf")) {
    lower.add(pair.first <= clearly * pair.second, told(pair));
  }
  decide(verdicts, "fig2b",
         "On signals made by a neighbourhood filter, NGF clearly beats GF at every noise power.",
         with_settings(settings, fmt::format("NGF's error against GF's, of which it should be {} % "
                                             "or less",
                                             clearly * 100)),
         lower);
  Cases quiet;
  Cases loud;
  for (const Pair& pair : pairs(rows, "ngf", "ngf", "gcn")) {
    if (pair.noise <= low_noise) quiet.add(pair.first < pair.second, told(pair));
    if (pair.noise > high_noise) {
      loud.add(pair.second < pair.first && pair.first <= similar * pair.second, told(pair));
    }
  }
  decide(verdicts, "fig2b",
         "On signals made by a neighbourhood filter, NGF beats GCN where there is little noise.",
         with_settings(settings,
                       fmt::format("NGF's error against GCN's at noise of {} and less", low_noise)),
         quiet);
  decide(
      verdicts, "fig2b",
      "On signals made by a neighbourhood filter, GCN is ahead by a small margin where the noise "
      "power is above 0.2.",
      with_settings(settings, fmt::format("NGF's error against GCN's at noise above {}, which "
                                          "should be lower, by a factor of {} at most",
                                          high_noise, similar)),
      loud);
}

}  // namespace

std::vector<Verdict> judge_fig2a(const json& results) {
  std::vector<Verdict> verdicts;
  for (const auto& [names, rows] : Rows(results, "fig2a").split({"settings"})) {
    const std::string& settings = names[0];
    judge_rise(verdicts, settings, rows);
    judge_winner(verdicts, settings, rows, "gf");
    judge_winner(verdicts, settings, rows, "ngf");
    decide(verdicts, "fig2a",
           "Only the architecture with a neighbourhood filter can denoise signals made by one.",
           with_settings(settings, fmt::format("Smallest errors on input NGF, where {} is the "
                                               "noisy signal's own",
                                               noise_power)),
           alone_below_noise(rows, {"ngf"}));
    decide(verdicts, "fig2a",
           "The architecture with a neighbourhood filter is the only one that denoises both kinds "
           "of signals.",
           with_settings(settings, fmt::format("Smallest errors on the worse of both inputs, where "
                                               "{} is the noisy signal's own",
                                               noise_power)),
           alone_below_noise(rows, {"gf", "ngf"}));
  }
  return verdicts;
}

std::vector<Verdict> judge_fig2b(const json& results) {
  std::vector<Verdict> verdicts;
  for (const auto& [names, rows] : Rows(results, "fig2b").split({"settings"})) {
    judge_polynomial_input(verdicts, names[0], rows);
    judge_neighborhood_input(verdicts, names[0], rows);
  }
  return verdicts;
}

}  // namespace ngf::report
