#include "ngf/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "ngf/report/figures.hpp"
#include "ngf/report/verdicts.hpp"
#include "report/axis.hpp"
#include "report/page_assets.hpp"
#include "report/result_rows.hpp"
#include "report/verdict_rules.hpp"
#include "report/xml_text.hpp"

namespace ngf {

namespace {

using nlohmann::json;
using report::human_number;
using report::Rows;
using report::spoken;
using report::xml_text;

constexpr std::array outcomes{Outcome::reproduced, Outcome::partly, Outcome::not_reproduced,
                              Outcome::not_tested};

json parse(const std::string& text, const char* name) {
  json value = json::parse(text, nullptr, false);
  if (!value.is_object()) detail::fail("{} is no JSON object", name);
  return value;
}

/// A value as text; nothing where it is absent.
std::string value_text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string() : report::value_text(*found);
}

std::size_t count(const std::vector<Verdict>& verdicts, Outcome outcome) {
  return static_cast<std::size_t>(std::ranges::count(verdicts, outcome, &Verdict::outcome));
}

std::vector<Verdict> verdicts_of(const std::vector<Verdict>& all, const std::string& figure) {
  std::vector<Verdict> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Verdict& verdict) { return verdict.figure == figure; });
  return found;
}

std::string outcome_words(Outcome outcome) {
  if (outcome == Outcome::not_tested) return "not tested";
  return outcome == Outcome::not_reproduced ? "not reproduced" : std::string(outcome_name(outcome));
}

// ---- The head of the page ----

std::string stand_in_notice() {
  std::string lines;
  for (const auto& dataset : report::paper_datasets()) {
    lines += fmt::format("ngf data get planetoid:{}\n", dataset.name);
  }
  return fmt::format(
      "<div class=\"notice\" id=\"stand-in\">\n<p>Not all of the data sets Cora, Citeseer and "
      "Pubmed were found, so a synthetic citation network stands in for what is missing. What is "
      "measured on it says nothing about the paper's data sets, so claims about these count as not "
      "tested. These lines fetch them; then run <code>ngf reproduce</code> "
      "again:</p>\n<pre><code>{}</code></pre>\n</div>\n",
      lines);
}

std::string summary(const json& results, const std::vector<Verdict>& verdicts) {
  const bool quick = value_text(results, "size") == "quick";
  std::string html = fmt::format(
      "<p>A {} run with the settings of the paper's <b>{}</b>{}, seed <b>{}</b>. {}</p>\n",
      quick ? "<b>quick</b>" : "<b>full</b>", xml_text(value_text(results, "settings")),
      Rows(results, "fig2a").split({"settings"}).size() > 1
          ? " (Figure 2a: with those of its code first)"
          : "",
      xml_text(value_text(results, "seed")),
      quick ? "A quick run has fewer signals, runs and values of K than the paper, and narrower "
              "networks, so its numbers scatter more; a full run has the paper's sizes."
            : "It has the paper's sizes.");
  html += "<ul class=\"counts\" aria-label=\"Verdicts\">\n";
  for (const Outcome outcome : outcomes) {
    html += fmt::format("<li class=\"{}\"><b>{}</b>{}</li>\n", outcome_name(outcome),
                        count(verdicts, outcome), outcome_words(outcome));
  }
  html += fmt::format(
      "</ul>\n<p>Each of {} claims of the paper is tried case by case, and its verdict computed "
      "from the numbers alone: it is <b class=\"reproduced\">reproduced</b> where it holds in all "
      "cases, <b class=\"partly\">partly</b> where it holds in at least half of them, and <b "
      "class=\"not\">not</b> otherwise. A claim is <b class=\"untested\">not tested</b> where "
      "its figure was not run, or the paper's data set was not found.</p>\n",
      verdicts.size());
  if (results.value("stand_in", false)) html += stand_in_notice();
  return html;
}

/// One mark a verdict.
std::string tally(const std::vector<Verdict>& verdicts) {
  constexpr std::array<std::string_view, 4> marks{"●", "◐", "○", "–"};
  std::string html;
  for (const Verdict& verdict : verdicts) {
    html += fmt::format("<span class=\"{}\">{}</span>", outcome_name(verdict.outcome),
                        marks.at(static_cast<std::size_t>(verdict.outcome)));
  }
  std::string words;
  for (const Outcome outcome : outcomes) {
    const std::size_t number = count(verdicts, outcome);
    if (number == 0) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", number, outcome_words(outcome));
  }
  return fmt::format(R"(<span class="tally" role="img" aria-label="{0}" title="{0}">{1}</span>)",
                     words, html);
}

std::string contents(const std::vector<FigureCharts>& figures,
                     const std::vector<Verdict>& verdicts) {
  std::string html = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n";
  for (const FigureCharts& figure : figures) {
    html += fmt::format("<li><a href=\"#{}\">{}</a>{}</li>\n", figure.name, xml_text(figure.title),
                        tally(verdicts_of(verdicts, figure.name)));
  }
  return html + "<li><a href=\"#provenance\">Provenance</a></li>\n</ol>\n</nav>\n";
}

// ---- Tables ----

std::string table(std::initializer_list<std::string_view> columns, const std::string& rows) {
  std::string head;
  for (const std::string_view name : columns) {
    head += fmt::format("<th scope=\"col\">{}</th>", name);
  }
  return fmt::format(
      "<div class=\"scroll\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>"
      "\n",
      head, rows);
}

std::string paper_cell(const json& row, const char* key, const int* paper) {
  const std::string ours = value_text(row, key);
  if (paper == nullptr) return fmt::format("<td>{}</td>", xml_text(ours));
  const std::string theirs = human_number(*paper);
  return fmt::format("<td{}>{}<small>paper: {}</small></td>",
                     ours == theirs ? "" : " class=\"differs\"", xml_text(ours), theirs);
}

std::string dataset_table(const json& results) {
  std::string rows;
  const auto& known = report::paper_datasets();
  for (const json* row : Rows(results, "table1").all()) {
    const std::string name = value_text(*row, "dataset");
    const auto paper =
        std::find_if(known.begin(), known.end(), [&](const auto& set) { return name == set.name; });
    const auto cell = [&](const char* key, int report::PaperDataset::*value) {
      return paper_cell(*row, key, paper == known.end() ? nullptr : &((*paper).*value));
    };
    using Paper = report::PaperDataset;
    rows += fmt::format("<tr><td>{}</td>{}{}{}{}{}</tr>\n", xml_text(spoken(name)),
                        cell("nodes", &Paper::nodes), cell("features", &Paper::features),
                        cell("classes", &Paper::classes), cell("radius", &Paper::radius),
                        cell("diameter", &Paper::diameter));
  }
  return table({"Data set", "Nodes", "Features", "Classes", "Radius", "Diameter"}, rows);
}

std::string constant_taps_table(const json& results) {
  std::string rows;
  for (const json* row : Rows(results, "claims_constant_taps").all()) {
    rows += fmt::format("<tr><td>{}</td>", xml_text(spoken(value_text(*row, "graph"))));
    for (const char* key : {"K", "diameter", "diameter_after", "error"}) {
      const std::string text = value_text(*row, key);
      rows += fmt::format("<td>{}</td>", text.empty() ? "in pieces" : xml_text(text));
    }
    rows += "</tr>\n";
  }
  return table({"Graph", "K", "Diameter", "after perturbation", "Error"}, rows);
}

// ---- Figures ----

std::string range_of(const std::vector<double>& numbers) {
  const auto [low, high] = std::ranges::minmax(numbers);
  return low == high ? human_number(low)
                     : fmt::format("{} to {}", human_number(low), human_number(high));
}

/// How many realisations, signals or runs are behind each value.
std::string sizes(const json& results, const std::string& figure) {
  const Rows rows(results, figure);
  using Kind = std::pair<const char*, const char*>;
  constexpr std::array<Kind, 3> kinds{{{"realisations", "means of {} realisations"},
                                       {"signals", "medians over {} signals"},
                                       {"runs", "means of {} runs"}}};
  for (const auto& [key, text] : kinds) {
    if (!rows.has(key)) continue;
    const std::string graphs =
        rows.has("graphs") ? fmt::format(" on {} graphs", range_of(rows.numbers("graphs"))) : "";
    const bool banded = graphs.empty() && (rows.has("std") || rows.has("gf_std"));
    const std::string width = rows.has("hidden") ? fmt::format("; {} features in hidden layers",
                                                               human_number(rows.first("hidden")))
                                                 : "";
    return fmt::format("<p class=\"quiet\">Here: {}{}{}{}.</p>\n",
                       fmt::format(fmt::runtime(text), range_of(rows.numbers(key))), graphs, width,
                       banded ? "; bands are one standard deviation wide on each side" : "");
  }
  return {};
}

std::string chart_boxes(const json& results, const FigureCharts& figure) {
  if (figure.name == "table1") return dataset_table(results);
  if (figure.name == "claims_constant_taps") return constant_taps_table(results);
  std::string html = "<div class=\"charts\">\n";
  for (const Chart& chart : figure.charts) html += "<figure>\n" + to_svg(chart) + "</figure>\n";
  return html + "</div>\n";
}

std::string verdict_cards(const std::vector<Verdict>& verdicts) {
  if (verdicts.empty()) return {};
  std::string html = "<ul class=\"verdicts\">\n";
  for (const Verdict& verdict : verdicts) {
    html += fmt::format(
        "<li>\n<p class=\"badge {}\">{}</p>\n<p><b>The paper:</b> {}</p>\n<div "
        "class=\"measured\">\n",
        outcome_name(verdict.outcome), outcome_words(verdict.outcome), xml_text(verdict.claim));
    if (!verdict.cases.empty()) {
      html += fmt::format("<p><b>Measured:</b> {}</p>\n<ul>\n", xml_text(verdict.measured));
      for (const VerdictCase& one : verdict.cases) {
        html += fmt::format("<li class=\"{}\">{}</li>\n", one.holds ? "holds" : "fails",
                            xml_text(one.numbers));
      }
      html += "</ul>\n";
    }
    if (!verdict.remark.empty()) html += fmt::format("<p>{}</p>\n", xml_text(verdict.remark));
    html += "</div>\n</li>\n";
  }
  return html + "</ul>\n";
}

std::string section(const json& results, const FigureCharts& figure,
                    const std::vector<Verdict>& verdicts) {
  std::string html = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n", figure.name,
                                 xml_text(figure.title), xml_text(figure.shows));
  if (!figure.note.empty()) {
    html += fmt::format("<div class=\"notice\"><p>{}</p></div>\n", xml_text(figure.note));
  }
  html += sizes(results, figure.name);
  html += chart_boxes(results, figure) + verdict_cards(verdicts);
  html += fmt::format(
      "<p class=\"sources\"><a href=\"{0}.csv\">{0}.csv</a><span>Code: "
      "<code>src/experiments/{1}.cpp</code></span></p>\n"
      "</section>\n",
      figure.name, figure.name.substr(0, figure.name.find('_')));
  return html;
}

/// The claims on figures that were not run; nothing where all were.
std::string not_run_section(const json& results, const std::vector<Verdict>& verdicts) {
  std::string items;
  for (const Verdict& verdict : verdicts) {
    if (!Rows(results, verdict.figure).empty()) continue;
    items +=
        fmt::format("<li><code>ngf reproduce {}</code>: {}</li>\n",
                    verdict.figure.substr(0, verdict.figure.find('_')), xml_text(verdict.claim));
  }
  if (items.empty()) return {};
  return "<section id=\"not-run\">\n<h2>Not run</h2>\n<p>Claims that were not tested, and the "
         "commands that test them.</p>\n<ul>\n" +
         items + "</ul>\n</section>\n";
}

// ---- Where it all comes from ----

std::string times_table(const json& provenance) {
  const auto figures = provenance.find("figures");
  if (figures == provenance.end() || !figures->is_object()) return {};
  std::string rows;
  for (const auto& [name, row] : figures->items()) {
    rows += fmt::format("<tr><td>{}</td>", xml_text(name));
    for (const char* key : {"seconds", "estimate_seconds", "cells"}) {
      rows += fmt::format("<td>{}</td>", xml_text(value_text(row, key)));
    }
    const auto fraction = row.find("product_fraction");
    rows += fmt::format("<td>{}</td></tr>\n",
                        fraction != row.end() && fraction->is_number()
                            ? fmt::format("{:.0f} %", 100 * fraction->get<double>())
                            : "");
  }
  return "<h3>Times</h3>\n" +
         table({"Figure", "Seconds", "Estimated", "Cells", "Share of product speed"}, rows);
}

std::string provenance_section(const json& provenance) {
  using Fact = std::pair<const char*, const char*>;
  constexpr std::array<Fact, 6> facts{{{"version", "Version"},
                                       {"seed", "Seed"},
                                       {"settings", "Settings of Figure 2b"},
                                       {"target", "Instruction set"},
                                       {"threads", "Threads"},
                                       {"machine", "Machine"}}};
  std::string html =
      "<section id=\"provenance\">\n<h2>Provenance</h2>\n<div class=\"scroll\"><table "
      "class=\"facts\"><tbody>\n";
  for (const auto& [key, name] : facts) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name,
                        xml_text(value_text(provenance, key)));
  }
  html += "</tbody></table></div>\n" + times_table(provenance);
  return html +
         "<p class=\"sources\"><a href=\"results.json\">results.json</a><a "
         "href=\"provenance.json\">provenance.json</a></p>\n</section>\n";
}

std::string head() {
  // The policy forbids the page to load anything from anywhere.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>Neighbourhood graph filters: the paper, reproduced</title>\n<style>{}</style>\n"
      "</head>\n",
      report::page_style);
}

std::string page_of(const json& results, const json& provenance) {
  const std::vector<FigureCharts> figures = figure_charts(results);
  const std::vector<Verdict> verdicts = judge(results);
  std::string html = head();
  html +=
      "<body>\n<a class=\"skip\" href=\"#contents\">To the contents</a>\n<header>\n"
      "<h1>Neighbourhood graph filters: the paper, reproduced</h1>\n<p class=\"quiet\">V. M. "
      "Tenorio, S. Rey, F. Gama, S. Segarra and A. G. Marques, “A Robust Alternative for Graph "
      "Convolutional Neural Networks via Graph Neighborhood Filters”, run again from its "
      "text.</p>\n";
  html += summary(results, verdicts);
  html += "</header>\n<main>\n<div id=\"contents\">\n" + contents(figures, verdicts) + "</div>\n";
  html +=
      "<p class=\"quiet hint\">Click an entry of a legend to hide its line and to show it again; "
      "points tell their values.</p>\n";
  for (const FigureCharts& figure : figures) {
    html += section(results, figure, verdicts_of(verdicts, figure.name));
  }
  html += not_run_section(results, verdicts) + provenance_section(provenance);
  html += fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", report::page_script);
  return html;
}

}  // namespace

std::string reproduction_page(const std::string& results_json, const std::string& provenance_json) {
  const json results = parse(results_json, "results.json");
  const json provenance = parse(provenance_json, "provenance.json");
  try {
    return page_of(results, provenance);
  } catch (const json::exception& broken) {
    detail::fail("the results: {}", broken.what());
  }
}

}  // namespace ngf
