#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ngf {

enum class Outcome { reproduced, partly, not_reproduced, not_tested };

/// "reproduced", "partly", "not" or "untested".
std::string_view outcome_name(Outcome outcome);

/// One case of a claim, such as one data set.
struct VerdictCase {
  bool holds = false;
  std::string numbers;  ///< "Cora: 80.2 against 75.0"
};

/// One claim of the paper against our numbers.
struct Verdict {
  std::string figure;    ///< as FigureCharts::name
  std::string claim;     ///< what the paper says, in our words
  std::string measured;  ///< which numbers the cases have, and in how many the claim holds
  std::vector<VerdictCase> cases;  ///< none where the claim was not tested
  std::string remark;              ///< what else there is to say, such as why it was not tested
  Outcome outcome = Outcome::not_tested;
};

/// A verdict for every claim of the paper, from the numbers of a results file of `ngf reproduce`
/// alone, in the order of the figures. Throws Error for results that are none.
///
/// Each claim is tried case by case, such as data set by data set and K by K: it is reproduced
/// where it holds in all cases, partly where it holds in at least half of them. It is not tested
/// where its figure was not run, or the paper's data set is not there: a synthetic one is no case.
std::vector<Verdict> judge(const nlohmann::json& results);

}  // namespace ngf
