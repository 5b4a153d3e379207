// Cells as pure functions, on data sets small enough for all of them to be trained in a moment.

#include "ngf/experiments.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ngf/error.hpp"
#include "ngf/generate.hpp"
#include "tests/support.hpp"

namespace {

using namespace ngf::experiments;
using ngf::test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using Json = nlohmann::json;

Study small_study(int threads = 1, std::uint64_t seed = 1) {
  Study study;
  study.seed = seed;
  study.threads = threads;
  study.datasets = {{"citation", ngf::citation_network(150, 1)}};
  return study;
}

std::string run(const Figure& figure, const std::string& key) {
  const auto found = std::find_if(figure.cells.begin(), figure.cells.end(),
                                  [&](const Cell& cell) { return cell.key == key; });
  EXPECT_NE(found, figure.cells.end()) << key;
  return found == figure.cells.end() ? "[]" : found->run(nullptr);
}

Json rows_of(const Figure& figure, const std::string& key) { return Json::parse(run(figure, key)); }

// One of each kind that takes no longer than a moment.
const std::vector<std::pair<std::string, std::string>> samples{
    {"table1", "table1 citation"},
    {"fig1", "fig1 ws both K=5"},
    {"fig3a", "fig3a citation K=4 gf"},
    {"fig3a", "fig3a citation K=4 ngf"},
    {"fig3b", "fig3b K=3 both 8 % ngf recomputed"},
    {"fig3b", "fig3b K=3 both 8 % ngf cached"},
    {"claims", "claims norms er"},
    {"claims", "claims float_error ws"},
    {"claims", "claims condition ws"},
    {"claims", "claims shell_change ws both"},
    {"claims", "claims constant_taps ws"},
    {"claims", "claims depth sbm 4 layers ngf"}};

TEST(Experiments, CellsHaveNamesAndTimesOfTheirOwn) {
  const Study study = small_study();
  std::set<std::string> keys;
  std::size_t cells = 0;
  for (const std::string& name : figure_names()) {
    const Figure figure = make_figure(name, study);
    EXPECT_EQ(figure.name, name);
    EXPECT_FALSE(figure.cells.empty());
    for (const Cell& cell : figure.cells) {
      EXPECT_GT(cell.seconds, 0) << cell.key;
      EXPECT_TRUE(cell.key.starts_with(name)) << cell.key;
      keys.insert(cell.key);
      ++cells;
    }
  }
  EXPECT_EQ(keys.size(), cells);
}

TEST(Experiments, TheFullSizeHasThePapersPoints) {
  Study study = small_study();
  study.size = Size::full;
  EXPECT_EQ(fig1(study).cells.size(), 2 * 3 * 9);             // graphs, perturbations, K
  EXPECT_EQ(fig2a(study).cells.size(), 2 * 2 * 4);            // settings, inputs, architectures
  EXPECT_EQ(fig2b(study).cells.size(), 2 * 6 * 4);            // inputs, powers, architectures
  EXPECT_EQ(fig3a(study).cells.size(), 9 * 2);                // K, filters
  EXPECT_EQ(fig3b(study).cells.size(), 3 * (2 + 5 * 2 * 3));  // K; none, and five shares
}

TEST(Experiments, CellsAreTheSameOnAnyNumberOfThreadsInAnyOrder) {
  const Study one = small_study(1);
  const Study two = small_study(2);
  std::vector<std::string> forward;
  for (const auto& [figure, key] : samples) forward.push_back(run(make_figure(figure, one), key));
  for (std::size_t i = samples.size(); i-- > 0;) {
    const auto& [figure, key] = samples[i];
    EXPECT_EQ(run(make_figure(figure, two), key), forward[i]) << key;
  }
}

TEST(Experiments, TheSeedCounts) {
  const Study one = small_study(1, 1);
  const Study two = small_study(1, 2);
  const std::string key = "fig1 ws both K=5";
  EXPECT_NE(run(fig1(one), key), run(fig1(two), key));
}

TEST(Experiments, AsManyRunsAsAreAskedFor) {
  Study study = small_study();
  study.runs = 7;
  const Json of_k = rows_of(fig3a(study), "fig3a citation K=2 gf").at(0);
  EXPECT_EQ(of_k.at("runs"), 7);
  const Json perturbed = rows_of(fig3b(study), "fig3b K=3 both 8 % gf recomputed").at(0);
  EXPECT_EQ(perturbed.at("runs"), 7);
  EXPECT_EQ(perturbed.at("graphs"), 4);  // two runs on each, and one on the last
}

TEST(Figure3b, TellsOfTheSpreadOverGraphs) {
  const Study study = small_study();
  const Figure figure = fig3b(study);
  const Json row = rows_of(figure, "fig3b K=3 both 20 % gf recomputed").at(0);
  EXPECT_EQ(row.at("runs"), 2);
  EXPECT_EQ(row.at("graphs"), 2);  // one run on each, so that both spreads are the same
  EXPECT_GT(row.at("graph_std").get<double>(), 0);
  EXPECT_NEAR(row.at("graph_std").get<double>(), row.at("std").get<double>(), 1e-9);
  for (const char* key :
       {"fig3b K=3 both 20 % ngf cached", "fig3b K=3 destroy 0 % gf recomputed"}) {
    const Json unseen = rows_of(figure, key).at(0);
    EXPECT_EQ(unseen.at("runs"), 2);
    EXPECT_EQ(unseen.at("graphs"), 1);
    EXPECT_EQ(unseen.at("graph_std"), 0);
  }
}

TEST(Experiments, UnknownFiguresAndMissingDataSets) {
  EXPECT_THAT(error_of<ngf::Error>([] { make_figure("fig9", small_study()); }), HasSubstr("fig9"));
  EXPECT_THAT(error_of<ngf::Error>([] { make_figure("fig3a", Study()); }), HasSubstr("data set"));
}

TEST(Table1, MeasuresTheLargestComponent) {
  // 0 - 1 - 2 - 3 - 4, and 5 - 6
  Study study;
  ngf::Dataset dataset;
  dataset.graph =
      ngf::build_graph(7, std::vector<ngf::Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {5, 6}});
  dataset.features = ngf::MatrixF(7, 3);
  dataset.labels = {0, 1, 0, 1, 0, 1, 0};
  study.datasets = {{"path", dataset}};
  EXPECT_EQ(rows_of(table1(study), "table1 path"),
            Json::parse(R"([{"dataset": "path", "nodes": 7, "features": 3, "classes": 2,
                             "radius": 2, "diameter": 4}])"));
}

TEST(Figure1, BothFiltersAreOneWithTwoTaps) {
  // A^0 and A^1 are the first two shells.
  const Study study = small_study();
  for (const std::string key : {"fig1 er create K=2", "fig1 ws destroy K=2"}) {
    const Json row = rows_of(fig1(study), key).at(0);
    EXPECT_GT(row.at("gf").get<double>(), 0);
    EXPECT_NEAR(row.at("gf").get<double>(), row.at("ngf").get<double>(), 1e-12);
  }
}

TEST(Figure2a, BeginsWithTheSettingsOfThePublishedFigure) {
  Study study = small_study();
  EXPECT_EQ(fig2a(study).cells.front().key, "fig2a code gf gf");
  EXPECT_EQ(fig2a(study).cells.back().key, "fig2a text ngf sgc");
  study.settings = ngf::PaperSettings::code;
  EXPECT_EQ(fig2a(study).cells.size(), 2 * 4);
  for (const Cell& cell : fig2a(study).cells) EXPECT_THAT(cell.key, HasSubstr("code"));
}

TEST(Figure3b, CachedDistancesAreThoseOfTheUnperturbedGraph) {
  Study study = small_study();
  study.datasets[0].dataset = ngf::citation_network(600, 1);
  const Json recomputed = rows_of(fig3b(study), "fig3b K=3 destroy 20 % ngf recomputed").at(0);
  const Json cached = rows_of(fig3b(study), "fig3b K=3 destroy 20 % ngf cached").at(0);
  EXPECT_EQ(recomputed.at("distances"), "recomputed");
  EXPECT_EQ(cached.at("distances"), "cached");
  EXPECT_NE(recomputed.at("mean"), cached.at("mean"));
}

TEST(Figure3b, NothingPerturbedIsEveryCurvesFirstPoint) {
  const Study study = small_study();
  const Json rows = rows_of(fig3b(study), "fig3b K=3 destroy 0 % ngf recomputed");
  ASSERT_EQ(rows.size(), 4);  // destroy and both, recomputed and cached
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("percent"), 0);
    EXPECT_EQ(row.at("mean"), rows.at(0).at("mean"));
  }
  EXPECT_EQ(rows_of(fig3b(study), "fig3b K=3 destroy 0 % gf recomputed").size(), 2);
}

TEST(Claims, EqualTapsLeaveNoErrorOnceTheyReachEverybody) {
  const Study study = small_study();
  for (const std::string graph : {"er", "ws"}) {
    bool reached = false;
    for (const Json& row : rows_of(claims(study), "claims constant_taps " + graph)) {
      const int farthest =
          std::max(row.at("diameter").get<int>(), row.at("diameter_after").get<int>());
      if (row.at("K").get<int>() - 1 >= farthest) {
        EXPECT_EQ(row.at("error").get<double>(), 0) << row;
        reached = true;
      } else {
        EXPECT_GT(row.at("error").get<double>(), 0) << row;
      }
    }
    EXPECT_TRUE(reached);
  }
}

TEST(Claims, NormsBeginAlikeAndPart) {
  const Json rows = rows_of(claims(small_study()), "claims norms er");
  EXPECT_EQ(rows.at(0).at("power"), 10);  // the identity of 100 nodes
  EXPECT_EQ(rows.at(0).at("shell"), 10);
  EXPECT_NEAR(rows.at(1).at("power").get<double>(), rows.at(1).at("shell").get<double>(), 1e-9);
  EXPECT_GT(rows.at(10).at("power").get<double>(), 1e6);
  EXPECT_LT(rows.at(10).at("shell").get<double>(), 100);
}

TEST(Claims, FloatErrorsAreOfTapsOfOneSignAndOfBoth) {
  const Json rows = rows_of(claims(small_study()), "claims float_error er");
  ASSERT_EQ(rows.size(), 2 * 19);  // K = 2 to 20
  EXPECT_EQ(rows.at(0).at("taps"), "positive");
  EXPECT_EQ(rows.at(19).at("taps"), "mixed");
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("realisations"), 10);
    EXPECT_GT(row.at("gf").get<double>(), 1e-9);
    EXPECT_LT(row.at("gf").get<double>(), 1e-4);
  }
}

TEST(Claims, TheConditionOfTwoTapsIsThatOfTheirAngle) {
  for (const std::string graph : {"er", "ws"}) {
    const Json rows = rows_of(claims(small_study()), "claims condition " + graph);
    ASSERT_EQ(rows.size(), 19);
    // The first two powers are the first two shells, and nearly at right angles.
    EXPECT_NEAR(rows.at(0).at("gf").get<double>(), rows.at(0).at("ngf").get<double>(), 1e-9);
    EXPECT_GE(rows.at(0).at("gf").get<double>(), 1);
    EXPECT_LT(rows.at(0).at("gf").get<double>(), 1.5);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_GT(rows.at(i).at("gf"), rows.at(i - 1).at("gf"));
    }
  }
}

TEST(Claims, DepthTellsOfGradients) {
  const Json row = rows_of(claims(small_study()), "claims depth sbm 2 layers gf").at(0);
  EXPECT_GT(row.at("gradient_norm").get<double>(), 0);
  EXPECT_GT(row.at("mean").get<double>(), 50);  // of eight classes
}

// ---- Texts ----

TEST(Results, HaveARowALineAndPartsByName) {
  Figure plain{"fig1", "", {}};
  plain.cells.resize(2);
  Figure parts{"claims", "", {}};
  parts.cells.resize(3);
  parts.cells[0].part = parts.cells[1].part = "norms";
  parts.cells[2].part = "depth";
  const std::string text =
      results_text(Study(), true,
                   {{&plain, {R"([{"K":2},{"K":3}])", R"([{"K":4}])"}},
                    {&parts, {R"([{"k":0}])", R"([{"k":1}])", R"([{"layers":2}])"}}});
  EXPECT_EQ(Json::parse(text), Json::parse(R"({
      "settings": "text", "seed": 1, "size": "quick", "stand_in": true,
      "fig1": [{"K": 2}, {"K": 3}, {"K": 4}],
      "claims": {"norms": [{"k": 0}, {"k": 1}], "depth": [{"layers": 2}]}})"));
  EXPECT_THAT(text, HasSubstr("\n    {\"K\":3},\n"));
}

TEST(Results, BecomeTables) {
  const std::vector<NamedText> tables = csv_tables(R"({
      "seed": 1,
      "fig1": [{"graph": "er", "gf": 0.5}, {"graph": "ws", "gf": 2}],
      "fig2a": [{"arch": "gf", "median_error": [0.5, 0.25]}],
      "claims": {"norms": [{"k": 0}]}})");
  std::vector<std::string> texts;
  texts.reserve(tables.size());
  for (const NamedText& table : tables) texts.push_back(table.name + "\n" + table.text);
  EXPECT_THAT(texts, ElementsAre("fig1.csv\ngraph,gf\ner,0.5\nws,2\n",
                                 "fig2a.csv\narch,epoch,median_error\ngf,1,0.5\ngf,2,0.25\n",
                                 "claims_norms.csv\nk\n0\n"));
}

}  // namespace
