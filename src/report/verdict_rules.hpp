#pragma once

#include <fmt/format.h>

#include "ngf/report/verdicts.hpp"
#include "report/axis.hpp"
#include "report/result_rows.hpp"

namespace ngf::report {

/// A claim of the paper, which is tried case by case.
class Claim {
 public:
  /// `claim` is what the paper says, `measured` what the numbers of the cases are.
  Claim(std::string claim, std::string measured)
      : claim_(std::move(claim)), measured_(std::move(measured)) {}

  /// `numbers` names the case and what was measured.
  void add(bool holds, std::string numbers);
  /// Cases that are told together, such as the K of a data set: `held` of `tried` hold.
  void add(std::size_t held, std::size_t tried, std::string numbers);
  /// A case without which nothing of the claim is left.
  void need(bool holds, std::string numbers);

  Verdict verdict(const std::string& figure, const std::string& settings) const;

 private:
  std::string claim_;
  std::string measured_;
  std::vector<VerdictCase> cases_;
  std::size_t held_ = 0;
  std::size_t tried_ = 0;
  bool lost_ = false;
};

/// The verdicts on the claims. `settings` opens what they say of the numbers.
std::vector<Verdict> decide(const std::string& figure, const std::vector<Claim>& claims,
                            const std::string& settings = {});

/// A number in a sentence.
inline std::string said(double value) { return human_number(value, 3); }

/// At how many places one curve lies below another that has the same places.
std::size_t places_below(const Curve& curve, const Curve& other);
/// The first and the last value of a curve.
std::string from_to(const Curve& curve);

/// A rule for the claims on one table of the results.
using Rule = std::vector<Verdict>(const nlohmann::json& results);
Rule judge_table1, judge_fig1, judge_fig2a, judge_fig2b, judge_fig3a, judge_fig3b, judge_norms,
    judge_float_error, judge_condition, judge_shell_change, judge_constant_taps, judge_depth;

/// A value of the paper's Table 1 beside its name: nodes, features, classes, radius, diameter.
struct PaperDataset {
  const char* name;
  int nodes, features, classes, radius, diameter;
};
const std::vector<PaperDataset>& paper_datasets();

}  // namespace ngf::report
