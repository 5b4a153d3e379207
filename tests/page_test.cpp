#include "ngf/report/page.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ngf/error.hpp"
#include "ngf/report/figures.hpp"
#include "ngf/report/verdicts.hpp"
#include "tests/page_sample.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Error;
using ngf::FigureCharts;
using ngf::Outcome;
using ngf::Verdict;
using ngf::test::error_of;
using ngf::test::json;
using ngf::test::sample_provenance;
using ngf::test::sample_results;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string page_of(const json& results) {
  return ngf::reproduction_page(results.dump(), sample_provenance().dump());
}

json& table(json& results, const std::string& name) {
  const std::string prefix = "claims_";
  return name.starts_with(prefix) ? results["claims"][name.substr(prefix.size())] : results[name];
}

/// Sets a number of all rows that have these values.
void set(json& rows, const json& values, const std::string& key, const json& number) {
  for (json& row : rows) {
    bool wanted = true;
    for (const auto& [name, value] : values.items()) wanted = wanted && row[name] == value;
    if (wanted) row[key] = number;
  }
}

Verdict find(const std::vector<Verdict>& verdicts, const std::string& figure,
             const std::string& claim) {
  for (const Verdict& verdict : verdicts) {
    if (verdict.figure == figure && verdict.claim.find(claim) != std::string::npos) return verdict;
  }
  ADD_FAILURE() << figure << ": no verdict on '" << claim << "'";
  return {};
}

TEST(Figures, HaveTheirChartsInThePapersOrder) {
  const std::vector<FigureCharts> figures = ngf::figure_charts(sample_results());
  std::vector<std::string> names;
  std::vector<std::size_t> charts;
  for (const FigureCharts& figure : figures) {
    names.push_back(figure.name);
    charts.push_back(figure.charts.size());
  }
  EXPECT_THAT(names, ElementsAre("table1", "fig1", "fig2a", "fig2b", "fig3a", "fig3b",
                                 "claims_norms", "claims_float_error", "claims_condition",
                                 "claims_shell_change", "claims_constant_taps", "claims_depth"));
  EXPECT_THAT(charts, ElementsAre(0, 6, 2, 2, 3, 2, 2, 4, 2, 2, 0, 4));
}

TEST(Figures, DrawWhatTheRowsSay) {
  const std::vector<FigureCharts> figures = ngf::figure_charts({{"fig1",
                                                                 {{{"graph", "ws"},
                                                                   {"perturbation", "both"},
                                                                   {"K", 3},
                                                                   {"gf", 0.5},
                                                                   {"ngf", 0.25},
                                                                   {"gf_std", 0.1},
                                                                   {"ngf_std", 0.05}},
                                                                  {{"graph", "ws"},
                                                                   {"perturbation", "both"},
                                                                   {"K", 2},
                                                                   {"gf", 0.125},
                                                                   {"ngf", nullptr},
                                                                   {"gf_std", 0.0},
                                                                   {"ngf_std", nullptr}}}}});
  ASSERT_EQ(figures.size(), 1U);
  ASSERT_EQ(figures[0].charts.size(), 1U);
  const ngf::Chart& chart = figures[0].charts[0];
  EXPECT_TRUE(chart.log_y);
  EXPECT_EQ(chart.title, "Small world, created and destroyed");
  EXPECT_THAT(chart.series[0].x, ElementsAre(2, 3));
  EXPECT_THAT(chart.series[0].y, ElementsAre(0.125, 0.5));
  EXPECT_THAT(chart.series[0].low, ElementsAre(0.125, 0.4));
  EXPECT_THAT(chart.series[1].y, ElementsAre(testing::IsNan(), 0.25));
}

TEST(Figures, ShowCachedDistancesDottedAndLikeTheRecomputedOnes) {
  for (const FigureCharts& figure : ngf::figure_charts(sample_results())) {
    if (figure.name != "fig3b") continue;
    const ngf::Chart& chart = figure.charts[0];
    ASSERT_EQ(chart.series.size(), 9U);
    EXPECT_EQ(chart.series[0].name, "GCNN, K = 3");
    EXPECT_EQ(chart.series[3].name, "NGCNN, K = 3");
    EXPECT_EQ(chart.series[6].name, "cached, K = 3");
    EXPECT_TRUE(chart.series[6].dotted);
    EXPECT_EQ(chart.series[6].look, chart.series[3].look);
    EXPECT_FALSE(chart.series[3].dotted);
    EXPECT_NE(chart.series[0].look, chart.series[3].look);
    EXPECT_NEAR(chart.series[3].high[2] - chart.series[3].y[2], 0.5, 1e-12);  // over the graphs
  }
}

TEST(Verdicts, AreReproducedWhereAllClaimsHold) {
  const std::vector<Verdict> verdicts = ngf::judge(sample_results());
  EXPECT_EQ(verdicts.size(), 36U);
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.outcome, Outcome::reproduced) << verdict.claim << "\n" << verdict.measured;
    EXPECT_FALSE(verdict.cases.empty());
    for (const auto& one : verdict.cases) {
      EXPECT_THAT(one.numbers, testing::ContainsRegex("[0-9]"));
    }
  }
}

struct Doctored {
  std::string figure, claim;
  json rows;
  std::string key;
  json number;
};

/// For every rule, numbers under which its claim fails.
std::vector<Doctored> doctored() {
  const json all = json::object();
  const json rising = json::array({0.6, 0.7, 0.8, 0.9});
  const json loud = json::array({0.9, 0.8, 0.85, 0.95});
  const auto input = [](const char* made, const char* arch) {
    return json{{"input", made}, {"arch", arch}};
  };
  const auto taps = [](const char* filter, int K) { return json{{"filter", filter}, {"K", K}}; };
  const json gf{{"filter", "gf"}};
  return {
      {"table1", "nodes, features", all, "nodes", 1},
      {"table1", "radius", all, "diameter", 1},
      {"fig1", "grows rapidly", all, "gf", 0.1},
      {"fig1", "levels off", {{"K", 10}}, "ngf", 0.5},
      {"fig1", "move less", all, "ngf", 1e9},
      {"fig2a", "rises again", all, "median_error", rising},
      {"fig2a", "ahead of GCN and SGC", input("gf", "gf"), "median_error", loud},
      {"fig2a", "best by the architecture with a neighbourhood filter", input("ngf", "ngf"),
       "median_error", loud},
      {"fig2a", "Only the architecture", input("ngf", "ngf"), "median_error", loud},
      {"fig2a", "both kinds of signals", input("gf", "ngf"), "median_error", loud},
      {"fig2b", "behave alike", input("gf", "ngf"), "median_error", 9},
      {"fig2b", "much noise", input("gf", "gcn"), "median_error", 9},
      {"fig2b", "clearly beats GF", input("ngf", "ngf"), "median_error", 9},
      {"fig2b", "little noise", input("ngf", "gcn"), "median_error", 0.001},
      {"fig2b", "small margin", input("ngf", "gcn"), "median_error", 9},
      {"fig3a", "With K = 2", taps("ngf", 2), "mean", 30},
      {"fig3a", "With many taps", gf, "mean", 99},
      {"fig3a", "NGCNN improves", taps("ngf", 2), "mean", 99},
      {"fig3a", "more slowly", taps("ngf", 2), "mean", 99},
      {"fig3a", "clearest on Citeseer", {{"dataset", "citeseer"}, {"filter", "gf"}}, "mean", 70},
      {"fig3b", "all tested settings", gf, "mean", 99},
      {"fig3b",
       "about constant",
       {{"filter", "ngf"}, {"distances", "recomputed"}, {"percent", 0}},
       "mean",
       30},
      {"fig3b", "accuracy falls", gf, "mean", 50},
      {"fig3b", "more robust", gf, "mean", 50},
      {"claims_norms", "powers A^k", all, "power", 7},
      {"claims_norms", "need not grow", {{"k", 10}}, "shell", 1000},
      {"claims_float_error", "are prone", all, "gf", 1e-8},
      {"claims_float_error", "are not prone", all, "ngf", 1e-3},
      {"claims_condition", "numerically ill-defined", all, "gf", 100},
      {"claims_condition", "not so for neighbourhood", all, "ngf", 100},
      {"claims_shell_change", "less the larger k", {{"k", 6}}, "change", 0.9},
      {"claims_constant_taps", "constant taps", all, "error", 1e-15},
      {"claims_depth", "deeper networks", gf, "mean", 99},
      {"claims_depth", "no limiting factor", {{"filter", "ngf"}, {"layers", 16}}, "mean", 60},
      {"claims_depth", "explode or vanish", gf, "gradient_norm", 1},
      {"claims_depth", "calmer", gf, "gradient_norm", 1},
  };
}

TEST(Verdicts, FlipWhenTheNumbersAreDoctored) {
  std::set<std::string> tried;
  for (const Doctored& doctored : doctored()) {
    json results = sample_results();
    const Verdict before = find(ngf::judge(results), doctored.figure, doctored.claim);
    set(table(results, doctored.figure), doctored.rows, doctored.key, doctored.number);
    const Verdict after = find(ngf::judge(results), doctored.figure, doctored.claim);
    EXPECT_EQ(before.outcome, Outcome::reproduced) << before.measured;
    EXPECT_EQ(after.outcome, Outcome::not_reproduced) << after.claim << "\n" << after.measured;
    EXPECT_NE(before.measured, after.measured);
    tried.insert(after.claim);
  }
  for (const Verdict& verdict : ngf::judge(sample_results())) {
    EXPECT_TRUE(tried.contains(verdict.claim)) << verdict.claim;
  }
}

TEST(Verdicts, ArePartlyWhereHalfOfTheCasesHold) {
  const auto growth = [](const json& results) {
    return find(ngf::judge(results), "fig1", "grows rapidly");
  };
  json results = sample_results();
  set(results["fig1"], {{"graph", "er"}}, "gf", 0.1);
  EXPECT_EQ(growth(results).outcome, Outcome::partly);
  EXPECT_THAT(growth(results).measured, HasSubstr("Holds in 3 of 6 cases."));
  set(results["fig1"], {{"graph", "ws"}, {"perturbation", "both"}}, "gf", 0.1);
  EXPECT_EQ(growth(results).outcome, Outcome::not_reproduced);
}

TEST(Verdicts, AskWhetherOthersDenoiseToo) {
  json results = sample_results();
  set(results["fig2a"], {{"input", "ngf"}, {"arch", "gf"}}, "median_error", {0.9, 0.09, 0.1});
  EXPECT_EQ(find(ngf::judge(results), "fig2a", "Only the architecture").outcome, Outcome::partly);
}

TEST(Verdicts, ConstantTapsNeedConnectedGraphsAndEnoughTaps) {
  json results = sample_results();
  set(results["claims"]["constant_taps"], {{"K", 12}}, "K", 10);
  // Ten taps reach nine hops, and the perturbed graph's diameter is ten.
  const Verdict short_of_taps = find(ngf::judge(results), "claims_constant_taps", "constant");
  EXPECT_EQ(short_of_taps.outcome, Outcome::not_tested);
  EXPECT_EQ(short_of_taps.remark, "No case of it was run.");
  results["claims"]["constant_taps"][0]["K"] = 11;
  EXPECT_EQ(find(ngf::judge(results), "claims_constant_taps", "constant").outcome,
            Outcome::reproduced);
}

TEST(Verdicts, AGradientThatIsNoNumberHasExploded) {
  json results = sample_results();
  set(results["claims"]["depth"], {{"filter", "ngf"}, {"layers", 16}}, "gradient_norm", nullptr);
  EXPECT_EQ(find(ngf::judge(results), "claims_depth", "calmer").outcome, Outcome::not_reproduced);
}

TEST(Verdicts, CountEveryK) {
  json results = sample_results();
  // Citeseer's best K does not make up for the others.
  for (int K = 3; K < 10; ++K) {
    set(results["fig3a"], {{"dataset", "citeseer"}, {"filter", "ngf"}, {"K", K}}, "mean", 60);
  }
  const Verdict above = find(ngf::judge(results), "fig3a", "With many taps");
  EXPECT_EQ(above.outcome, Outcome::partly);
  EXPECT_THAT(above.measured, HasSubstr("Holds in 17 of 24 cases."));
  EXPECT_THAT(above.cases.at(1).numbers, HasSubstr("Citeseer: at 1 of 8 K"));
  set(results["fig1"], {{"K", 10}}, "ngf", 1e9);
  EXPECT_THAT(find(ngf::judge(results), "fig1", "move less").measured,
              HasSubstr("Holds in 42 of 48 cases."));
}

TEST(Verdicts, NothingIsTestedOnAStandIn) {
  // Even where it contradicts the paper.
  json results = sample_results(true);
  set(results["fig3a"], {{"filter", "ngf"}}, "mean", 1);
  set(results["fig3b"], {{"filter", "ngf"}}, "mean", 1);
  set(results["claims"]["depth"], {{"filter", "ngf"}, {"dataset", "citation"}}, "mean", 1);
  for (const Verdict& verdict : ngf::judge(results)) {
    if (verdict.figure == "table1" || verdict.figure.starts_with("fig3")) {
      EXPECT_EQ(verdict.outcome, Outcome::not_tested) << verdict.claim;
      EXPECT_TRUE(verdict.cases.empty());
      EXPECT_THAT(verdict.remark,
                  testing::ContainsRegex("Not tested on .*Citeseer.*: the data was not found."));
    }
    if (verdict.figure == "claims_depth") {  // our own block model is left
      EXPECT_EQ(verdict.outcome, Outcome::partly) << verdict.claim;
      EXPECT_EQ(verdict.remark, "Not tested on Cora: the data was not found.");
    }
  }
}

TEST(Verdicts, ADataSetThatIsMissingIsNamed) {
  json results = sample_results();
  for (json& row : results["fig3a"]) {
    if (row["dataset"] == "pubmed") row["dataset"] = "citation";
  }
  const Verdict above = find(ngf::judge(results), "fig3a", "With many taps");
  EXPECT_EQ(above.outcome, Outcome::partly);
  EXPECT_THAT(above.measured, HasSubstr("Holds in 16 of 16 cases."));
  EXPECT_EQ(above.remark, "Not tested on Pubmed: the data was not found.");
}

TEST(Verdicts, WhatWasNotRunIsNotTested) {
  const std::vector<Verdict> none = ngf::judge(json::object());
  EXPECT_EQ(none.size(), ngf::judge(sample_results()).size());
  for (const Verdict& verdict : none) {
    EXPECT_EQ(verdict.outcome, Outcome::not_tested);
    EXPECT_EQ(verdict.remark, "Not run.");
  }
  for (const Verdict& verdict : ngf::judge({{"fig2b", sample_results()["fig2b"]}})) {
    EXPECT_EQ(verdict.outcome == Outcome::not_tested, verdict.figure != "fig2b");
  }
  // Two points are no curve that could level off, and one is none at all.
  json results{{"fig1", sample_results()["fig1"]}};
  auto& rows = results["fig1"];
  rows.erase(std::remove_if(rows.begin(), rows.end(), [](const json& row) { return row["K"] > 2; }),
             rows.end());
  for (const Verdict& verdict : ngf::judge(results)) {
    EXPECT_EQ(verdict.outcome, Outcome::not_tested);
    EXPECT_EQ(verdict.remark, verdict.figure == "fig1" ? "No case of it was run." : "Not run.");
  }
}

TEST(Verdicts, TheSettingsOfTheCodeDecideFigure2a) {
  json results{{"fig2a", sample_results()["fig2a"]}};
  const std::size_t one = ngf::judge(results).size();
  for (json row : json(results["fig2a"])) {
    row["settings"] = "code";
    results["fig2a"].push_back(row);
  }
  set(results["fig2a"], {{"settings", "text"}}, "median_error", {0.7, 0.8, 0.9});
  EXPECT_EQ(ngf::judge(results).size(), one);
  const Verdict rise = find(ngf::judge(results), "fig2a", "rises again");
  EXPECT_EQ(rise.outcome, Outcome::reproduced);
  EXPECT_THAT(rise.measured, testing::StartsWith("Settings of the code."));
  EXPECT_EQ(rise.remark, "With the settings of the text it holds in 0 of 8 cases.");
}

TEST(Verdicts, AnErrorThatStillFallsInAShortRunIsNoCase) {
  json results = sample_results();
  const auto rise = [&](std::size_t epochs) {
    std::vector<double> falling;
    for (std::size_t t = 0; t < epochs; ++t) falling.push_back(1 / (1 + static_cast<double>(t)));
    set(results["fig2a"], {{"arch", "sgc"}}, "median_error", falling);
    return find(ngf::judge(results), "fig2a", "rises again").measured;
  };
  EXPECT_THAT(rise(999), HasSubstr("Holds in 6 of 6 cases."));
  EXPECT_THAT(rise(1000), HasSubstr("Holds in 6 of 8 cases."));
}

TEST(Verdicts, CountSettingsOnTheirOwn) {
  json results{{"fig2b", sample_results()["fig2b"]}};
  const std::size_t one = ngf::judge(results).size();
  for (json row : json(results["fig2b"])) {
    row["settings"] = "code";
    results["fig2b"].push_back(row);
  }
  EXPECT_EQ(ngf::judge(results).size(), one + 5);
}

TEST(Page, HoldsEveryFigureAndWhereItComesFrom) {
  const std::string page = page_of(sample_results());
  for (const FigureCharts& figure : ngf::figure_charts(sample_results())) {
    EXPECT_THAT(page, HasSubstr("<section id=\"" + figure.name + "\">"));
    EXPECT_THAT(page, HasSubstr("<a href=\"#" + figure.name + "\">"));
    EXPECT_THAT(page, HasSubstr("<a href=\"" + figure.name + ".csv\">"));
  }
  for (const char* part :
       {"src/experiments/fig1.cpp", "src/experiments/claims.cpp", "cached", "diameter of 3 or 4",
        "0.0.0-sample", "paper: 19717", "51 %", "means of 5 runs; 64 features",
        "means of 5 runs on 1 to 3 graphs; 64 features"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_EQ(page, page_of(sample_results()));
}

TEST(Page, LoadsNothingFromElsewhere) {
  const std::string page = page_of(sample_results());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* part : {"src=", "@import", "url(", "https:"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
}

TEST(Page, ShowsWhatWasRunAlone) {
  const json results{
      {"settings", "code"}, {"seed", 7}, {"size", "full"}, {"fig1", sample_results()["fig1"]}};
  const std::string page = page_of(results);
  EXPECT_THAT(page, HasSubstr("id=\"fig1\""));
  EXPECT_THAT(page, Not(HasSubstr("id=\"fig2a\"")));
  EXPECT_THAT(page, HasSubstr("<li class=\"untested\"><b>33</b>not tested</li>"));
  EXPECT_THAT(page, HasSubstr("<li><code>ngf reproduce claims</code>: The powers"));
  EXPECT_THAT(page, HasSubstr("<b>full</b>"));
  EXPECT_THAT(page, Not(HasSubstr("id=\"stand-in\"")));
}

TEST(Page, SaysHowToFetchDataSetsThatAreMissing) {
  const std::string page = page_of(sample_results(true));
  EXPECT_THAT(page, HasSubstr("id=\"stand-in\""));
  EXPECT_THAT(page, HasSubstr("ngf data get planetoid:cora\n"));
  EXPECT_THAT(page, HasSubstr("<li class=\"untested\"><b>11</b>not tested</li>"));
  EXPECT_THAT(page, HasSubstr("<p class=\"badge untested\">not tested</p>"));
  EXPECT_THAT(page, Not(HasSubstr("id=\"not-run\"")));
}

TEST(Page, MarksValuesThatAreNotThePapers) {
  json results = sample_results();
  EXPECT_THAT(page_of(results), Not(HasSubstr("class=\"differs\"")));
  results["table1"][0]["diameter"] = 20;
  EXPECT_THAT(page_of(results), HasSubstr("<td class=\"differs\">20<small>paper: 19</small></td>"));
}

TEST(Page, EscapesTexts) {
  json results = sample_results();
  const std::string name = "<script>alert(1)</script>&\"";
  results["settings"] = name;
  set(results["fig3a"], {{"dataset", "cora"}}, "dataset", name);
  results["table1"][0]["dataset"] = name;
  set(results["claims"]["constant_taps"], json::object(), "graph", name);
  set(results["fig2a"], json::object(), "settings", name);
  const std::string page = page_of(results);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;"));
  EXPECT_THAT(page, HasSubstr("made up for tests &lt;&amp;&gt;"));
}

TEST(Page, RefusesWhatIsNoResult) {
  const auto refusal = [](const std::string& results) {
    return error_of<Error>([&] { ngf::reproduction_page(results, "{}"); });
  };
  EXPECT_EQ(refusal("{}"), "");
  EXPECT_THAT(refusal("{"), HasSubstr("results.json is no JSON object"));
  EXPECT_THAT(refusal("[]"), HasSubstr("results.json is no JSON object"));
  EXPECT_THAT(refusal(R"({"fig1": 3})"), HasSubstr("fig1 is no list"));
  EXPECT_THAT(refusal(R"({"fig1": [3]})"), HasSubstr("fig1"));
  EXPECT_THAT(refusal(R"({"claims": 3})"), HasSubstr("claims"));
  EXPECT_THAT(refusal(R"({"fig1": [{"graph": "er", "perturbation": "both"}]})"), HasSubstr("'K'"));
  EXPECT_THAT(refusal(R"({"fig3a": [{"dataset": "cora", "filter": "gf", "K": "x", "mean": 1}]})"),
              HasSubstr("no number"));
  EXPECT_NE(refusal(R"({"fig2a": [{"settings": "text", "input": "gf", "arch": "gf"}]})"), "");
  EXPECT_NE(refusal(R"({"claims": {"constant_taps": [{"K": 3}]}})"), "");
  EXPECT_NE(refusal(R"({"stand_in": 3})"), "");
  EXPECT_NE(error_of<Error>([] { ngf::reproduction_page("{}", "3"); }), "");
}

}  // namespace
