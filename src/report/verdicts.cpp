#include "ngf/report/verdicts.hpp"

#include <fmt/ranges.h>

#include <array>
#include <iterator>
#include <utility>

#include "detail/fail.hpp"
#include "report/verdict_rules.hpp"

namespace ngf {

namespace report {

void Cases::add(bool holds, std::string told) {
  (holds ? held_ : failed_).push_back(std::move(told));
}

void Cases::need(bool holds, std::string told) {
  if (!holds) lost_ = true;
  add(holds, std::move(told));
}

Outcome Cases::outcome() const {
  if (failed_.empty()) return Outcome::reproduced;
  if (lost_ || held_.size() < failed_.size()) return Outcome::not_reproduced;
  return Outcome::partly;
}

std::string Cases::text() const {
  const std::size_t all = held_.size() + failed_.size();
  if (all == 1)
    return fmt::format("{}: {}.", failed_.empty() ? "Holds" : "Does not hold",
                       failed_.empty() ? held_[0] : failed_[0]);
  if (failed_.empty())
    return fmt::format("Holds in all {} cases: {}.", all, fmt::join(held_, "; "));
  if (held_.empty())
    return fmt::format("Holds in none of {} cases: {}.", all, fmt::join(failed_, "; "));
  return fmt::format("Holds in {} of {} cases: {}. Does not hold: {}.", held_.size(), all,
                     fmt::join(held_, "; "), fmt::join(failed_, "; "));
}

void decide(std::vector<Verdict>& verdicts, std::string figure, std::string claim,
            const std::string& numbers, const Cases& cases) {
  if (cases.empty()) return;
  verdicts.push_back(
      {std::move(figure), std::move(claim), numbers + ". " + cases.text(), cases.outcome()});
}

void limit_to_partly(Verdict& verdict, const std::string& reason) {
  if (verdict.outcome == Outcome::reproduced) verdict.outcome = Outcome::partly;
  verdict.measured += " " + reason;
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
