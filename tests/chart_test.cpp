#include "ngf/report/chart.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ngf/error.hpp"
#include "report/axis.hpp"
#include "report/xml_text.hpp"
#include "tests/support.hpp"

namespace {

using ngf::Chart;
using ngf::Error;
using ngf::Series;
using ngf::report::Axis;
using ngf::report::human_number;
using ngf::report::shortened;
using ngf::report::xml_text;
using ngf::test::error_of;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Whether every tag is closed in its turn, and no number is none.
void expect_sound(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find(' '));
    if (tag.back() == '/') continue;
    if (tag.front() != '/') {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(tag.substr(1), open.back());
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(count(svg, "nan") + count(svg, "inf"), 0U);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
}

Chart chart_of(std::vector<double> x, std::vector<double> y) {
  return {
      .title = "A title",
      .x_label = "x",
      .y_label = "y",
      .series = {{.name = "line", .x = std::move(x), .y = std::move(y), .low = {}, .high = {}}}};
}

std::vector<std::string> labels(const std::vector<double>& values, bool log, Axis::Ends ends,
                                int most = 6) {
  std::vector<std::string> result;
  const Axis axis(values, log, ends, most);
  for (const auto& tick : axis.ticks()) result.push_back(tick.label);
  return result;
}

TEST(Axis, RoundNumbers) {
  using enum Axis::Ends;
  EXPECT_THAT(labels({0.03, 0.97}, false, round),
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1"));
  EXPECT_THAT(labels({0, 200}, false, tight), ElementsAre("0", "50", "100", "150", "200"));
  EXPECT_THAT(labels({-0.3, 0.3}, false, round),
              ElementsAre("-0.3", "-0.2", "-0.1", "0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(labels({1, 10}, false, tight, 10),
              ElementsAre("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"));
  EXPECT_THAT(labels({0, 4e6}, false, round), ElementsAre("0", "10⁶", "2×10⁶", "3×10⁶", "4×10⁶"));
  EXPECT_THAT(labels({1e-3, 1e3}, true, tight),
              ElementsAre("0.001", "0.01", "0.1", "1", "10", "100", "1000"));
  EXPECT_THAT(labels({1, 30}, true, tight), ElementsAre("1", "2", "5", "10", "20"));
  EXPECT_THAT(labels({1e-250, 1e250}, true, tight),
              ElementsAre("10⁻²⁰⁰", "10⁻¹⁰⁰", "1", "10¹⁰⁰", "10²⁰⁰"));
}

TEST(Axis, AlwaysHasDistinctTicksInOrder) {
  const std::vector<std::vector<double>> ranges{{},
                                                {nan},
                                                {0},
                                                {1},
                                                {-1},
                                                {1e300},
                                                {5e-324},
                                                {0, 5e-324},
                                                {-1e308, 1e308},
                                                {1, 1 + 1e-15},
                                                {0.1, 0.3},
                                                {1e-9, 1},
                                                {99.5, 100.5},
                                                {1e6, 1e6 + 1},
                                                {3, 4},
                                                {2.1, 2.2},
                                                {1e-7, 3e-7},
                                                {-5, 1e5},
                                                {0, infinity, 3},
                                                {12345.678, 12345.679}};
  for (const auto& values : ranges) {
    for (const bool log : {false, true}) {
      for (const auto ends : {Axis::Ends::tight, Axis::Ends::round}) {
        for (const int most : {5, 8}) {
          const Axis axis(values, log, ends, most);
          SCOPED_TRACE(testing::PrintToString(values) + (log ? " log" : ""));
          ASSERT_THAT(axis.ticks().size(), Ge(2U));
          ASSERT_THAT(axis.ticks().size(), Le(static_cast<std::size_t>(most) + 2));
          for (std::size_t i = 1; i < axis.ticks().size(); ++i) {
            ASSERT_LT(axis.ticks()[i - 1].value, axis.ticks()[i].value);
            ASSERT_NE(axis.ticks()[i - 1].label, axis.ticks()[i].label);
          }
          for (const auto& tick : axis.ticks()) {
            ASSERT_THAT(axis.place(tick.value), testing::AllOf(Ge(0), Le(1)));
          }
        }
      }
    }
  }
}

TEST(Axis, PlacesGrow) {
  for (const bool log : {false, true}) {
    const Axis axis({0.5, 20}, log, Axis::Ends::tight, 6);
    EXPECT_EQ(axis.place(0.5), 0);
    EXPECT_EQ(axis.place(20), 1);
    EXPECT_EQ(axis.place(1e9), 1);
    EXPECT_EQ(axis.place(-1), 0);
    EXPECT_LT(axis.place(3), axis.place(4));
  }
  EXPECT_NEAR(Axis({1, 100}, true, Axis::Ends::tight, 6).place(10), 0.5, 1e-12);
}

TEST(Axis, Numbers) {
  EXPECT_EQ(human_number(0.05), "0.05");
  EXPECT_EQ(human_number(-0.8125), "-0.8125");
  EXPECT_EQ(human_number(123456), "123456");
  EXPECT_EQ(human_number(3e-7), "3×10⁻⁷");
  EXPECT_EQ(human_number(-1e12), "-10¹²");
  EXPECT_EQ(human_number(100, 1), "100");
  EXPECT_EQ(human_number(1.25e9), "1.25×10⁹");
}

TEST(XmlText, Escapes) {
  EXPECT_EQ(xml_text("a<b> & \"c\" 'd' é 😀\n"), "a&lt;b&gt; &amp; &quot;c&quot; 'd' é 😀\n");
  // Bytes, control characters, surrogates, overlong forms and non-characters that no XML may hold.
  for (const std::string bad : {"\xff", "\x01", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\x80",
                                "\xef\xbf\xbe", "\xf5\x80\x80\x80"}) {
    const std::string text = xml_text("a" + bad + "b");
    EXPECT_THAT(text, testing::MatchesRegex("a(\xEF\xBF\xBD)+b")) << text;
  }
  EXPECT_EQ(shortened("äöü", 3), "äöü");
  EXPECT_EQ(shortened("äöüß", 3), "äö…");
}

TEST(Chart, IsSoundWhateverItHolds) {
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> lines{
      {{}, {}},
      {{1}, {2}},
      {{1, 2, 3}, {5, 5, 5}},
      {{0, 0}, {0, 0}},
      {{1, 2, 3, 4}, {1, nan, infinity, 2}},
      {{nan, nan}, {1, 2}},
      {{-1e308, 0, 1e308}, {-1e308, 1e-300, 1e308}},
      {{1, 10, 100}, {1e-200, 1, 1e200}},
      {{-1, 0, 1}, {-1, 0, 1}}};
  for (const auto& [x, y] : lines) {
    for (const bool log_x : {false, true}) {
      for (const bool log_y : {false, true}) {
        Chart chart = chart_of(x, y);
        chart.log_x = log_x;
        chart.log_y = log_y;
        expect_sound(to_svg(chart));
        chart.series[0].low = y;
        chart.series[0].high = std::vector<double>(y.size(), nan);
        expect_sound(to_svg(chart));
      }
    }
  }
  expect_sound(to_svg(Chart{}));
  expect_sound(ngf::to_svg(std::span<const Chart>()));
}

TEST(Chart, BreaksLinesWhereANumberIsMissing) {
  const std::string svg = to_svg(chart_of({1, 2, 3, 4, 5}, {1, 2, nan, 3, 4}));
  const std::size_t at = svg.find("<path class=\"line\" d=\"", svg.find("series series-0"));
  const std::string path = svg.substr(at, svg.find("/>", at) - at);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2);
  EXPECT_EQ(count(svg, "class=\"point\""), 5U);  // four, and that of the legend
  // On a logarithmic axis zero is missing too.
  Chart chart = chart_of({1, 2, 3}, {1, 0, 2});
  chart.log_y = true;
  EXPECT_EQ(count(to_svg(chart), "<circle class=\"point\""), 3U);
}

TEST(Chart, TellsValuesOfFewPoints) {
  const std::string few = to_svg(chart_of({1, 2}, {0.25, 4}));
  EXPECT_THAT(few, HasSubstr("<title>line: 1, 0.25</title>"));
  const std::vector<double> many(1000, 1.0);
  const std::string line = to_svg(chart_of(many, many));
  EXPECT_EQ(count(line, "class=\"point\""), 0U);
  EXPECT_THAT(line, HasSubstr("<title>line</title>"));
  EXPECT_THAT(count(line, "<title>line: 1, 1</title>"), testing::AllOf(Ge(20U), Le(25U)));
}

TEST(Chart, LinesMayShareALook) {
  Chart chart = chart_of({1, 2}, {3, 4});
  chart.series.push_back(chart.series[0]);
  chart.series[1].look = 0;
  chart.series[1].dotted = true;
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_THAT(svg, HasSubstr("<g class=\"series series-1 colour-0\">"));
  EXPECT_EQ(count(svg, "<circle class=\"point\""), 6U);  // each two, and those of the legend
}

TEST(Chart, IsAsWideAsAsked) {
  Chart chart = chart_of({1, 2}, {3, 4});
  chart.width = 480;
  EXPECT_THAT(to_svg(chart), HasSubstr("viewBox=\"0 0 480 "));
  EXPECT_THAT(ngf::to_svg(std::vector<Chart>{chart, chart_of({1}, {2})}),
              HasSubstr("viewBox=\"0 0 720 "));
  chart.width = 100;
  EXPECT_THAT(error_of<Error>([&] { to_svg(chart); }), HasSubstr("100 wide"));
}

TEST(Chart, NamesItsParts) {
  Chart chart = chart_of({1, 2}, {3, 4});
  for (int i = 1; i < 20; ++i) chart.series.push_back(chart.series[0]);
  chart.series[3].dotted = true;
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(count(svg, fmt::format("<g class=\"series series-{} colour-{}\">", i, i % 7)), 1U);
    EXPECT_EQ(count(svg, fmt::format("<g class=\"key key-{} colour-{}\">", i, i % 7)), 1U);
    // In both colour schemes.
    EXPECT_EQ(count(svg, fmt::format(".colour-{} .line", i % 7)), 2U);
  }
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"1 5\""));
  EXPECT_EQ(count(svg, " id="), 0U);
}

TEST(Chart, KeepsTheLegendOffTheLines) {
  Chart chart = chart_of({1, 2}, {3, 4});
  for (int i = 1; i < 12; ++i) chart.series.push_back(chart.series[0]);
  chart.series[5].name = std::string(500, 'W');
  const std::string svg = to_svg(chart);
  // The legend's lowest line is above the vertical axis, the first path of the class axis's second.
  double lowest = 0;
  for (std::size_t at = svg.find("class=\"key "); at != std::string::npos;
       at = svg.find("class=\"key ", at + 1)) {
    const std::size_t y = svg.find(' ', svg.find("d=\"M", at)) + 1;
    lowest = std::max(lowest, std::stod(svg.substr(y)));
  }
  const std::size_t grid = svg.find("M", svg.find("class=\"axis\""));
  const std::size_t vertical = svg.find("M", grid + 1);
  const double top = std::stod(svg.substr(svg.find(' ', vertical) + 1));
  EXPECT_GT(lowest, 0);
  EXPECT_LT(lowest + 8, top);
}

TEST(Chart, EscapesTexts) {
  Chart chart = chart_of({1}, {2});
  chart.title = "a < b & c";
  chart.series[0].name = "</g>\x01";
  const std::string svg = to_svg(chart);
  expect_sound(svg);
  EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
  EXPECT_THAT(svg, HasSubstr("&lt;/g&gt;\xEF\xBF\xBD"));
}

TEST(Chart, StacksSeveral) {
  const Chart one = chart_of({1, 2}, {3, 4});
  const std::string svg = ngf::to_svg(std::vector<Chart>{one, one});
  expect_sound(svg);
  EXPECT_EQ(count(svg, "<style>"), 1U);
  EXPECT_EQ(count(svg, "<g class=\"chart\""), 2U);
  EXPECT_EQ(svg, ngf::to_svg(std::vector<Chart>{one, one}));
}

TEST(Chart, RefusesListsOfUnequalLength) {
  EXPECT_THAT(error_of<Error>([] { to_svg(chart_of({1, 2}, {3})); }), HasSubstr("series 'line'"));
  Chart chart = chart_of({1}, {2});
  chart.series[0].low = {1};
  EXPECT_THAT(error_of<Error>([&] { to_svg(chart); }), HasSubstr("band"));
  chart.series[0].high = {3};
  EXPECT_EQ(error_of<Error>([&] { to_svg(chart); }), "");
}

}  // namespace
