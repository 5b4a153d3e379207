#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ngf {

enum class Outcome { reproduced, partly, not_reproduced };

/// "reproduced", "partly" or "not".
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
  std::vector<VerdictCase> cases;
  std::string remark;  ///< what else there is to say; may be empty
  Outcome outcome = Outcome::not_reproduced;
};

/// A verdict for every claim that a results file of `ngf reproduce` can test, from its numbers
/// alone, in the order of the figures. Throws Error for results that are none.
///
/// Each claim is tried case by case, such as data set by data set: it is reproduced where it holds
/// in all cases, partly where it holds in at least half of them.
std::vector<Verdict> judge(const nlohmann::json& results);

}  // namespace ngf
