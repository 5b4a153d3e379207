#include "ngf/report/verdicts.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/fail.hpp"
#include "base/names.hpp"
#include "report/verdict_rules.hpp"

namespace ngf {

namespace report {

void Claim::add(bool holds, std::string numbers) { add(holds ? 1 : 0, 1, std::move(numbers)); }

void Claim::add(std::size_t held, std::size_t tried, std::string numbers) {
  held_ += held;
  tried_ += tried;
  cases_.push_back({held == tried, std::move(numbers)});
}

void Claim::need(bool holds, std::string numbers) {
  if (!holds) lost_ = true;
  add(holds, std::move(numbers));
}

Verdict Claim::verdict(const std::string& figure, const std::string& settings) const {
  if (tried_ == 0) return {figure, claim_, {}, {}, {}, Outcome::not_tested};
  const std::string outcome = tried_ > 1   ? fmt::format("Holds in {} of {} cases.", held_, tried_)
                              : held_ == 1 ? "Holds."
                                           : "Does not hold.";
  return {figure,
          claim_,
          fmt::format("{}{}. {}", settings, measured_, outcome),
          cases_,
          {},
          held_ == tried_               ? Outcome::reproduced
          : lost_ || 2 * held_ < tried_ ? Outcome::not_reproduced
                                        : Outcome::partly};
}

std::vector<Verdict> decide(const std::string& figure, const std::vector<Claim>& claims,
                            const std::string& settings) {
  std::vector<Verdict> verdicts;
  for (const Claim& claim : claims) verdicts.push_back(claim.verdict(figure, settings));
  return verdicts;
}

std::size_t places_below(const Curve& curve, const Curve& other) {
  return std::inner_product(curve.y.begin(), curve.y.end(), other.y.begin(), std::size_t{0},
                            std::plus<>(), std::less<>());
}

std::string from_to(const Curve& curve) {
  return fmt::format("{} to {}", said(curve.y.front()), said(curve.y.back()));
}

}  // namespace report

std::string_view outcome_name(Outcome outcome) {
  return detail::name_in({"reproduced", "partly", "not", "untested"}, outcome);
}

std::vector<Verdict> judge(const nlohmann::json& results) try {
  using namespace report;
  std::vector<Verdict> verdicts;
  for (const auto rule :
       {judge_table1, judge_fig1, judge_fig2a, judge_fig2b, judge_fig3a, judge_fig3b, judge_norms,
        judge_float_error, judge_condition, judge_shell_change, judge_constant_taps, judge_depth}) {
    std::ranges::move(rule(results), std::back_inserter(verdicts));
  }
  for (Verdict& verdict : verdicts) {
    if (verdict.outcome != Outcome::not_tested || !verdict.remark.empty()) continue;
    verdict.remark = Rows(results, verdict.figure).empty() ? "Not run." : "No case of it was run.";
  }
  return verdicts;
} catch (const nlohmann::json::exception& broken) {
  fail("the results: {}", broken.what());
}

}  // namespace ngf
