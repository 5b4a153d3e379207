#include "ngf/report/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/fail.hpp"
#include "report/verdict_rules.hpp"

namespace ngf {

namespace report {

void Cases::add(bool holds, std::string numbers) { all_.push_back({holds, std::move(numbers)}); }

void Cases::need(bool holds, std::string numbers) {
  if (!holds) lost_ = true;
  add(holds, std::move(numbers));
}

std::size_t Cases::held() const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const VerdictCase& one) { return one.holds; }));
}

Outcome Cases::outcome() const {
  if (held() == all_.size()) return Outcome::reproduced;
  return lost_ || 2 * held() < all_.size() ? Outcome::not_reproduced : Outcome::partly;
}

std::string Cases::text() const {
  if (all_.size() == 1) return held() == 1 ? "Holds." : "Does not hold.";
  return fmt::format("Holds in {} of {} cases.", held(), all_.size());
}

void decide(std::vector<Verdict>& verdicts, std::string figure, std::string claim,
            const std::string& measured, const Cases& cases) {
  if (cases.all().empty()) return;
  verdicts.push_back({std::move(figure),
                      std::move(claim),
                      measured + ". " + cases.text(),
                      cases.all(),
                      {},
                      cases.outcome()});
}

void limit_to_partly(Verdict& verdict, const std::string& reason) {
  if (verdict.outcome == Outcome::reproduced) verdict.outcome = Outcome::partly;
  verdict.remark += (verdict.remark.empty() ? "" : " ") + reason;
}

std::size_t places_below(const Curve& curve, const Curve& other) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < curve.y.size(); ++i) {
    if (curve.y[i] < other.y[i]) ++count;
  }
  return count;
}

std::string from_to(const Curve& curve) {
  return fmt::format("{} to {}", said(curve.y.front()), said(curve.y.back()));
}

}  // namespace report

namespace {

/// What a rule finds, with what is wrong with the results as an Error.
template <typename Rule>
std::vector<Verdict> read(const Rule& rule, const nlohmann::json& results) {
  try {
    return rule(results);
  } catch (const nlohmann::json::exception& broken) {
    detail::fail("the results: {}", broken.what());
  }
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  constexpr std::array<std::string_view, 3> names{"reproduced", "partly", "not"};
  return names.at(static_cast<std::size_t>(outcome));
}

std::vector<Verdict> judge(const nlohmann::json& results) {
  using namespace report;
  std::vector<Verdict> verdicts;
  for (const auto rule :
       {judge_table1, judge_fig1, judge_fig2a, judge_fig2b, judge_fig3a, judge_fig3b, judge_norms,
        judge_float_error, judge_shell_change, judge_constant_taps, judge_depth}) {
    std::vector<Verdict> found = read(rule, results);
    std::move(found.begin(), found.end(), std::back_inserter(verdicts));
  }
  return verdicts;
}

}  // namespace ngf
