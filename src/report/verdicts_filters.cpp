// What the paper says of the filters themselves: Figure 1, and its claims on norms, numerical
// errors, shells and constant taps.

#include <algorithm>
#include <cmath>

#include "report/verdict_rules.hpp"

namespace ngf::report {

using nlohmann::json;

namespace {

// An error that "increases rapidly" is at the largest K at least this multiple of that at the
// smallest.
constexpr double grows_by = 2;
// An error that levels off grows by at most this share over the upper half of the K.
constexpr double level = 0.1;
// Powers whose norms grow exponentially multiply them at each step by at least this.
constexpr double power_grows_by = 1.5;
// A filter without a numerical problem has at most this share of the other's float error.
constexpr double much_less = 0.5;

// A problem whose condition number is at least this has no digits left in float, and one below the
// other loses at most one.
constexpr double ill_conditioned = 1e7;
constexpr double well_conditioned = 10;

/// The index of the first x in the upper half of a curve.
std::size_t middle(const Curve& curve) {
  const double half = (curve.x.front() + curve.x.back()) / 2;
  return static_cast<std::size_t>(std::lower_bound(curve.x.begin(), curve.x.end(), half) -
                                  curve.x.begin());
}

std::string case_name(const std::vector<std::string>& names) {
  return spoken(names[0]) + ", " + spoken(names[1]);
}

}  // namespace

std::vector<Verdict> judge_fig1(const json& results) {
  Claim growth(
      "The error of polynomial filters (GF) grows rapidly with the number of taps K, on both kinds "
      "of graphs.",
      fmt::format("GF's error at the smallest and at the largest K, which should grow at least "
                  "{}-fold",
                  grows_by));
  Claim levelling(
      "The error of neighbourhood filters (NGF) levels off, as farther shells differ less.",
      fmt::format("NGF's error half way and at the largest K, which should grow by at most {} %",
                  level * 100));
  Claim below("With many taps neighbourhood filters move less than polynomial ones.",
              "K above the smallest at which NGF's error is lower; NGF's and GF's at the largest");
  for (const auto& [names, part] : Rows(results, "fig1").split({"graph", "perturbation"})) {
    const Curve gf = part.curve("K", "gf");
    const Curve ngf = part.curve("K", "ngf");
    const std::string name = case_name(names);
    if (gf.x.size() >= 2) {
      growth.add(gf.y.back() >= grows_by * gf.y.front(), name + ": " + from_to(gf));
    }
    if (ngf.x.size() >= 3) {
      const double half_way = ngf.y[middle(ngf)];
      levelling.add(ngf.y.back() <= (1 + level) * half_way,
                    fmt::format("{}: {} to {}", name, said(half_way), said(ngf.y.back())));
    }
    if (gf.x.size() >= 2 && gf.x == ngf.x) {
      // With two taps both filters are the same.
      const std::size_t lower = places_below({.x = {}, .y = {ngf.y.begin() + 1, ngf.y.end()}},
                                             {.x = {}, .y = {gf.y.begin() + 1, gf.y.end()}});
      below.add(lower, gf.x.size() - 1,
                fmt::format("{}: {} of {}; {} against {}", name, lower, gf.x.size() - 1,
                            said(ngf.y.back()), said(gf.y.back())));
    }
  }
  return decide("fig1", {growth, levelling, below});
}

std::vector<Verdict> judge_norms(const json& results) {
  Claim powers("The powers A^k grow exponentially with k.",
               fmt::format("Norm of the first and of the last power, which should grow {}-fold a "
                           "step",
                           power_grows_by));
  Claim shells(
      "The norms of the k-hop matrices need not grow with k, and beyond the diameter they are "
      "zero.",
      "Norm of the largest and of the last shell, which should be smaller");
  for (const auto& [names, part] : Rows(results, "claims_norms").split({"graph"})) {
    const Curve power = part.curve("k", "power");
    const Curve shell = part.curve("k", "shell");
    if (power.x.size() < 2 || shell.x.size() < 2) continue;
    const double steps = power.x.back() - power.x.front();
    const double factor = std::pow(power.y.back() / power.y.front(), 1 / steps);
    powers.add(factor >= power_grows_by, fmt::format("{}: {}, {}-fold a step", spoken(names[0]),
                                                     from_to(power), said(factor)));
    const double largest = *std::max_element(shell.y.begin(), shell.y.end());
    shells.add(shell.y.back() < largest,
               fmt::format("{}: {} at most, {} at the end", spoken(names[0]), said(largest),
                           said(shell.y.back())));
  }
  return decide("claims_norms", {powers, shells});
}

std::vector<Verdict> judge_float_error(const json& results) {
  Claim growth("Polynomial filters are prone to numerical errors when they have many taps.",
               fmt::format("GF's relative error in float at the smallest and at the largest K, "
                           "which should grow at least {}-fold",
                           grows_by));
  Claim less("Neighbourhood filters are not prone to numerical errors.",
             fmt::format("NGF's relative error in float against GF's at the largest K, of which it "
                         "should be {} % or less",
                         much_less * 100));
  for (const auto& [names, part] : Rows(results, "claims_float_error").split({"graph", "taps"})) {
    const Curve gf = part.curve("K", "gf");
    const Curve ngf = part.curve("K", "ngf");
    if (gf.x.size() < 2 || ngf.x.empty()) continue;
    const std::string name = case_name(names);
    growth.add(gf.y.back() >= grows_by * gf.y.front(), name + ": " + from_to(gf));
    less.add(ngf.y.back() <= much_less * gf.y.back(),
             fmt::format("{}: {} against {}", name, said(ngf.y.back()), said(gf.y.back())));
  }
  return decide("claims_float_error", {growth, less});
}

std::vector<Verdict> judge_condition(const json& results) {
  Claim powers("With many taps a polynomial filter is numerically ill-defined.",
               fmt::format("Condition number of finding its taps at the smallest and at the "
                           "largest K, which should reach {}",
                           said(ill_conditioned)));
  Claim shells("This is not so for neighbourhood filters.",
               fmt::format("Condition number of finding their taps at the smallest and at the "
                           "largest K, which should stay below {} at each K",
                           said(well_conditioned)));
  for (const auto& [names, part] : Rows(results, "claims_condition").split({"graph"})) {
    const Curve gf = part.curve("K", "gf");
    const Curve ngf = part.curve("K", "ngf");
    if (gf.x.size() < 2 || ngf.x.size() < 2) continue;
    powers.add(gf.y.back() >= ill_conditioned, spoken(names[0]) + ": " + from_to(gf));
    const auto calm = std::ranges::count_if(ngf.y, [](double c) { return c < well_conditioned; });
    shells.add(static_cast<std::size_t>(calm), ngf.y.size(),
               spoken(names[0]) + ": " + from_to(ngf));
  }
  return decide("claims_condition", {powers, shells});
}

std::vector<Verdict> judge_shell_change(const json& results) {
  Claim falling(
      "Perturbation changes a k-hop matrix less the larger k is, because paths are redundant.",
      "Pairs that changed for each pair, in the first and in the last shell, which should be less");
  const Rows rows(results, "claims_shell_change");
  for (const auto& [names, part] : rows.split({"graph", "perturbation"})) {
    const Curve change = part.curve("k", "change");
    if (change.x.size() < 2) continue;
    falling.add(change.y.back() < change.y.front(), case_name(names) + ": " + from_to(change));
  }
  return decide("claims_shell_change", {falling});
}

std::vector<Verdict> judge_constant_taps(const json& results) {
  Claim zero(
      "With constant taps, K - 1 no smaller than the diameters and connected graphs, the "
      "neighbourhood filter does not change at all when edges do.",
      "Relative error of the filter, which should be exactly 0");
  for (const json* row : Rows(results, "claims_constant_taps").all()) {
    // A diameter that is null is that of a graph in pieces, for which the paper claims nothing.
    const auto reach = [&](const char* key) {
      const json& diameter = row->at(key);
      return diameter.is_number() && row->at("K").get<double>() - 1 >= diameter.get<double>();
    };
    if (!reach("diameter") || !reach("diameter_after")) continue;
    const json& error = row->at("error");
    const bool number = error.is_number();
    zero.add(number && error.get<double>() == 0,
             fmt::format("{}, K = {}: {}", spoken(row->at("graph")), row->at("K").get<double>(),
                         number ? said(error.get<double>()) : "no number"));
  }
  return decide("claims_constant_taps", {zero});
}

}  // namespace ngf::report
