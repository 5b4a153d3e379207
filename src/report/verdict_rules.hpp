#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ngf/report/verdicts.hpp"
#include "report/axis.hpp"
#include "report/result_rows.hpp"

namespace ngf::report {

/// The cases of a claim, and in which of them it holds.
class Cases {
 public:
  /// `numbers` names the case and what was measured.
  void add(bool holds, std::string numbers);
  /// A case without which nothing of the claim is left.
  void need(bool holds, std::string numbers);

  const std::vector<VerdictCase>& all() const { return all_; }
  Outcome outcome() const;
  /// "Holds in 2 of 3 cases."
  std::string text() const;

 private:
  std::size_t held() const;

  std::vector<VerdictCase> all_;
  bool lost_ = false;
};

/// Appends the verdict on a claim, unless no case of it was measured. `measured` says what the
/// numbers of its cases are.
void decide(std::vector<Verdict>& verdicts, std::string figure, std::string claim,
            const std::string& measured, const Cases& cases);

/// What may not count as reproduced, and why.
void limit_to_partly(Verdict& verdict, const std::string& reason);

/// A number in a sentence.
inline std::string said(double value) { return human_number(value, 3); }

/// At how many places one curve lies below another that has the same places.
std::size_t places_below(const Curve& curve, const Curve& other);
/// The first and the last value of a curve.
std::string from_to(const Curve& curve);

// The rules, one function a table of the results.
std::vector<Verdict> judge_table1(const nlohmann::json& results);
std::vector<Verdict> judge_fig1(const nlohmann::json& results);
std::vector<Verdict> judge_fig2a(const nlohmann::json& results);
std::vector<Verdict> judge_fig2b(const nlohmann::json& results);
std::vector<Verdict> judge_fig3a(const nlohmann::json& results);
std::vector<Verdict> judge_fig3b(const nlohmann::json& results);
std::vector<Verdict> judge_norms(const nlohmann::json& results);
std::vector<Verdict> judge_float_error(const nlohmann::json& results);
std::vector<Verdict> judge_shell_change(const nlohmann::json& results);
std::vector<Verdict> judge_constant_taps(const nlohmann::json& results);
std::vector<Verdict> judge_depth(const nlohmann::json& results);

/// A value of the paper's Table 1 beside its name: nodes, features, classes, radius, diameter.
struct PaperDataset {
  const char* name;
  int nodes, features, classes, radius, diameter;
};
const std::vector<PaperDataset>& paper_datasets();

}  // namespace ngf::report
