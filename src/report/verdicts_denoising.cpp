// What the paper says of denoising: Figures 2a and 2b.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "report/verdict_rules.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

// The noise of Figure 2a, which is also the noisy signal's own error: what is above it is no
// denoising.
constexpr double noise_power = 0.1;
constexpr double paper_epochs = 1000;
// A network that fits the noise ends at this multiple of its smallest error, or above.
constexpr double rises_by = 1.1;
// Two errors are similar when neither is more than this multiple of the other.
constexpr double similar = 1.25;
// An error is clearly lower when it is at most this share of the other.
constexpr double clearly = 0.9;
// What the paper calls little and much noise in Figure 2b.
constexpr double low_noise = 0.1;
constexpr double high_noise = 0.2;

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

Claim rise_of(const Rows& rows) {
  Claim rise("The error falls, reaches a minimum, and rises again as the network fits the noise.",
             fmt::format("Smallest and last error, which should be {} % larger",
                         std::round((rises_by - 1) * 100)));
  for (const char* input : {"gf", "ngf"}) {
    for (const char* arch : architectures) {
      const Curve curve = epochs_of(rows, input, arch);
      if (curve.x.size() < 3) continue;
      const std::size_t at = curve.lowest();
      // A run that ends before the paper's, with an error that still falls, says nothing of this.
      if (at + 1 == curve.x.size() && curve.x.back() < paper_epochs) continue;
      rise.add(at > 0 && curve.y.back() >= rises_by * curve.y[at],
               fmt::format("{} on input {}: {} at epoch {}, {} at the end", spoken(arch),
                           spoken(input), said(curve.y[at]), curve.x[at], said(curve.y.back())));
    }
  }
  return rise;
}

/// Whether the architecture that is called like the input has the smallest error: rival by rival.
Claim winner_of(const Rows& rows, const std::string& input, std::string text) {
  Claim wins(std::move(text), fmt::format("Smallest errors on input {}", spoken(input)));
  const std::map<std::string, double> errors = smallest_errors(rows, input);
  if (!errors.contains(input)) return wins;
  for (const auto& [arch, error] : errors) {
    if (arch == input) continue;
    wins.add(errors.at(input) < error, fmt::format("against {}: {} and {}", spoken(arch),
                                                   said(errors.at(input)), said(error)));
  }
  return wins;
}

/// Whether NGF, and it alone, gets below the noise on all of these inputs.
Claim alone_below_noise(const Rows& rows, const std::vector<std::string>& inputs, std::string text,
                        std::string_view which) {
  Claim alone(std::move(text), fmt::format("Smallest errors on {}, where {} is the noisy signal's "
                                           "own",
                                           which, noise_power));
  std::map<std::string, double> worst;
  for (const std::string& input : inputs) {
    for (const auto& [arch, error] : smallest_errors(rows, input)) {
      worst[arch] = std::max(worst[arch], error);
    }
  }
  for (const auto& [arch, error] : worst) {
    const std::string told = fmt::format("{}: {}", spoken(arch), said(error));
    if (arch == "ngf") {
      alone.need(error < noise_power, told);
    } else {
      alone.add(error >= noise_power, told);
    }
  }
  return alone;
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

std::vector<Claim> on_polynomial_input(const Rows& rows) {
  Claim alike("On signals made by a polynomial filter, NGF and GF behave alike.",
              fmt::format("NGF's error against GF's, each noise power, which should be within a "
                          "factor of {}",
                          similar));
  for (const Pair& pair : pairs(rows, "gf", "ngf", "gf")) {
    const double ratio = pair.first / pair.second;
    alike.add(ratio <= similar && ratio >= 1 / similar, told(pair));
  }
  Claim ahead(
      "On signals made by a polynomial filter, GCN is ahead of both where there is much noise.",
      fmt::format("GCN's error against theirs at noise of {} and more", high_noise));
  for (const char* rival : {"gf", "ngf"}) {
    for (const Pair& pair : pairs(rows, "gf", "gcn", rival)) {
      if (pair.noise < high_noise) continue;
      ahead.add(pair.first < pair.second, fmt::format("{} ({})", told(pair), spoken(rival)));
    }
  }
  return {alike, ahead};
}

std::vector<Claim> on_neighborhood_input(const Rows& rows) {
  Claim lower(
      "On signals made by a neighbourhood filter, NGF clearly beats GF at every noise power.",
      fmt::format("NGF's error against GF's, of which it should be {} % or less", clearly * 100));
  for (const Pair& pair : pairs(rows, "ngf", "ngf", "gf")) {
    lower.add(pair.first <= clearly * pair.second, told(pair));
  }
  Claim quiet(
      "On signals made by a neighbourhood filter, NGF beats GCN where there is little noise.",
      fmt::format("NGF's error against GCN's at noise of {} and less", low_noise));
  Claim loud(
      "On signals made by a neighbourhood filter, GCN is ahead by a small margin where the noise "
      "power is above 0.2.",
      fmt::format("NGF's error against GCN's at noise above {}, which should be lower, by a factor "
                  "of {} at most",
                  high_noise, similar));
  for (const Pair& pair : pairs(rows, "ngf", "ngf", "gcn")) {
    if (pair.noise <= low_noise) quiet.add(pair.first < pair.second, told(pair));
    if (pair.noise > high_noise) {
      loud.add(pair.second < pair.first && pair.first <= similar * pair.second, told(pair));
    }
  }
  return {lower, quiet, loud};
}

std::vector<Claim> on_epochs(const Rows& rows) {
  return {rise_of(rows),
          winner_of(rows, "gf",
                    "Signals made by a polynomial filter are denoised best by the architecture "
                    "with a polynomial filter, ahead of GCN and SGC."),
          winner_of(rows, "ngf",
                    "Signals made by a neighbourhood filter are denoised best by the architecture "
                    "with a neighbourhood filter."),
          alone_below_noise(
              rows, {"ngf"},
              "Only the architecture with a neighbourhood filter can denoise signals made by one.",
              "input NGF"),
          alone_below_noise(rows, {"gf", "ngf"},
                            "The architecture with a neighbourhood filter is the only one that "
                            "denoises both kinds of signals.",
                            "the worse of both inputs")};
}

std::vector<Claim> on_noise_powers(const Rows& rows) {
  std::vector<Claim> claims = on_polynomial_input(rows);
  std::ranges::move(on_neighborhood_input(rows), std::back_inserter(claims));
  return claims;
}

std::vector<Verdict> with_settings(const char* figure, const std::vector<Claim>& claims,
                                   const std::string& settings) {
  return decide(figure, claims, fmt::format("Settings of the {}. ", settings));
}

}  // namespace

/// The published figure was made with the settings of the code, so these decide where they were
/// run; the others are a remark.
std::vector<Verdict> judge_fig2a(const json& results) {
  const Rows rows(results, "fig2a");
  const auto parts = rows.split({"settings"});
  if (parts.empty()) return decide("fig2a", on_epochs(rows));
  const auto code = std::ranges::find(parts, std::vector<std::string>{"code"},
                                      &std::pair<std::vector<std::string>, Rows>::first);
  const auto& decisive = code == parts.end() ? parts.front() : *code;
  std::vector<Verdict> verdicts =
      with_settings("fig2a", on_epochs(decisive.second), decisive.first[0]);
  for (const auto& part : parts) {
    if (&part == &decisive) continue;
    const std::vector<Verdict> others =
        with_settings("fig2a", on_epochs(part.second), part.first[0]);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto held = std::ranges::count(others[i].cases, true, &VerdictCase::holds);
      verdicts[i].remark = fmt::format("With the settings of the {} it holds in {} of {} cases.",
                                       part.first[0], held, others[i].cases.size());
    }
  }
  return verdicts;
}

std::vector<Verdict> judge_fig2b(const json& results) {
  const Rows rows(results, "fig2b");
  if (rows.empty()) return decide("fig2b", on_noise_powers(rows));
  std::vector<Verdict> verdicts;
  for (const auto& [names, part] : rows.split({"settings"})) {
    std::ranges::move(with_settings("fig2b", on_noise_powers(part), names[0]),
                      std::back_inserter(verdicts));
  }
  return verdicts;
}

}  // namespace ngf::report
