#include "ngf/report/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.hpp"
#include "report/result_rows.hpp"

namespace ngf {

namespace {

using nlohmann::json;
using report::network_of;
using report::Rows;
using report::spoken;

// Two beside each other on a screen, one on a phone.
constexpr double chart_width = 480;

Chart empty_chart(std::string title, std::string x_label, std::string y_label) {
  return {.title = std::move(title),
          .x_label = std::move(x_label),
          .y_label = std::move(y_label),
          .width = chart_width,
          .series = {}};
}

/// The values of `y` against those of `x`, with a band of one standard deviation where the rows
/// have one.
Series line(std::string name, const Rows& rows, const std::string& x, const std::string& y,
            const std::string& deviation = {}) {
  Series series{.name = std::move(name),
                .x = rows.numbers(x, x),
                .y = rows.numbers(y, x),
                .low = {},
                .high = {}};
  if (deviation.empty() || !rows.has(deviation)) return series;
  const std::vector<double> spread = rows.numbers(deviation, x);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    series.low.push_back(series.y[i] - spread[i]);
    series.high.push_back(series.y[i] + spread[i]);
  }
  return series;
}

std::vector<Chart> filter_errors(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [names, part] : rows.split({"graph", "perturbation"})) {
    Chart chart = empty_chart(fmt::format("{}, {}", spoken(names[0]), spoken(names[1])),
                              "number of taps K", "relative error of the filter");
    chart.log_y = true;
    chart.series = {line("GF", part, "K", "gf", "gf_std"),
                    line("NGF", part, "K", "ngf", "ngf_std")};
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::string input_title(const std::vector<std::string>& settings_and_input) {
  return fmt::format("Input {}, settings of the {}", spoken(settings_and_input[1]),
                     settings_and_input[0]);
}

/// The row's errors against epochs 1, 2, ...
Series learning_curve(const json& row) {
  Series series{.name = spoken(row.at("arch")), .x = {}, .y = {}, .low = {}, .high = {}};
  for (const json& error : row.at("median_error")) {
    series.x.push_back(static_cast<double>(series.x.size() + 1));
    series.y.push_back(error.is_null() ? NAN : error.get<double>());
  }
  return series;
}

std::vector<Chart> denoising_over_epochs(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [names, part] : rows.split({"settings", "input"})) {
    Chart chart = empty_chart(input_title(names), "epoch", "median error");
    chart.log_y = true;
    for (const json* row : part.all()) chart.series.push_back(learning_curve(*row));
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> denoising_over_noise(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [names, part] : rows.split({"settings", "input"})) {
    Chart chart = empty_chart(input_title(names), "noise power", "median error");
    for (const auto& [arch, points] : part.split({"arch"})) {
      chart.series.push_back(line(spoken(arch[0]), points, "noise_power", "median_error"));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> accuracy_over_taps(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [dataset, part] : rows.split({"dataset"})) {
    Chart chart = empty_chart(spoken(dataset[0]), "number of taps K", "test accuracy, %");
    for (const auto& [filter, points] : part.split({"filter"})) {
      chart.series.push_back(line(network_of(filter[0]), points, "K", "mean", "std"));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

/// One colour for each K; GCNN is dashed, and what stale distances give is dotted.
std::vector<Chart> accuracy_under_perturbation(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [names, part] : rows.split({"dataset", "perturbation"})) {
    Chart chart = empty_chart(fmt::format("{}, {}", spoken(names[0]), spoken(names[1])),
                              "perturbed edges, %", "test accuracy, %");
    for (const auto& [kind, lines] : part.split({"filter", "distances"})) {
      const bool stale = kind[1] == "stale";
      std::size_t look = kind[0] == "gf" ? chart_colours : 0;
      for (const auto& [taps, points] : lines.split({"K"})) {
        Series series =
            line(fmt::format("{}, K = {}", stale ? "stale" : network_of(kind[0]), taps[0]), points,
                 "percent", "mean", stale ? "" : "std");
        series.dotted = stale;
        series.look = look++;
        chart.series.push_back(std::move(series));
      }
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> norms(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [graph, part] : rows.split({"graph"})) {
    Chart chart = empty_chart(spoken(graph[0]), "k", "Frobenius norm");
    chart.log_y = true;
    chart.series = {line("power A^k", part, "k", "power"), line("shell A_k", part, "k", "shell")};
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> float_errors(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [graph, part] : rows.split({"graph"})) {
    Chart chart = empty_chart(spoken(graph[0]), "number of taps K", "relative error in float");
    chart.log_y = true;
    chart.series = {line("GF", part, "K", "gf"), line("NGF", part, "K", "ngf")};
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> shell_changes(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [graph, part] : rows.split({"graph"})) {
    Chart chart = empty_chart(spoken(graph[0]), "shell k", "pairs changed, for each pair");
    for (const auto& [perturbation, points] : part.split({"perturbation"})) {
      chart.series.push_back(line(spoken(perturbation[0]), points, "k", "change"));
    }
    charts.push_back(std::move(chart));
  }
  return charts;
}

std::vector<Chart> depths(const Rows& rows) {
  std::vector<Chart> charts;
  for (const auto& [dataset, part] : rows.split({"dataset"})) {
    const std::string name = spoken(dataset[0]);
    Chart accuracy = empty_chart(name + ", accuracy", "layers", "test accuracy, %");
    Chart gradient = empty_chart(name + ", gradient", "layers", "norm of the first gradient");
    gradient.log_y = true;
    for (const auto& [filter, points] : part.split({"filter"})) {
      accuracy.series.push_back(line(network_of(filter[0]), points, "layers", "mean", "std"));
      gradient.series.push_back(line(network_of(filter[0]), points, "layers", "gradient_norm"));
    }
    charts.push_back(std::move(accuracy));
    charts.push_back(std::move(gradient));
  }
  return charts;
}

struct Figure {
  const char* name;
  const char* title;
  std::vector<Chart> (*charts)(const Rows& rows);
};

std::vector<Chart> none(const Rows& /*rows*/) { return {}; }

constexpr std::array known_figures{
    Figure{"table1", "Table 1: the data sets", none},
    Figure{"fig1", "Figure 1: how far filters move when the graph is perturbed", filter_errors},
    Figure{"fig2a", "Figure 2a: denoising, error against epochs", denoising_over_epochs},
    Figure{"fig2b", "Figure 2b: denoising, error against noise power", denoising_over_noise},
    Figure{"fig3a", "Figure 3a: node classification, accuracy against K", accuracy_over_taps},
    Figure{"fig3b", "Figure 3b: node classification on a perturbed graph",
           accuracy_under_perturbation},
    Figure{"claims_norms", "Claim: powers grow, shells do not", norms},
    Figure{"claims_float_error", "Claim: numerical errors", float_errors},
    Figure{"claims_shell_change", "Claim: farther shells change less", shell_changes},
    Figure{"claims_constant_taps", "Claim: constant taps do not notice", none},
    Figure{"claims_depth", "Claim: deeper networks", depths},
};

}  // namespace

std::vector<FigureCharts> figure_charts(const json& results) {
  std::vector<FigureCharts> found;
  for (const Figure& figure : known_figures) {
    const Rows rows(results, figure.name);
    if (rows.empty()) continue;
    try {
      found.push_back({figure.name, figure.title, figure.charts(rows)});
    } catch (const json::exception& broken) {
      detail::fail("the results' {}: {}", figure.name, broken.what());
    }
  }
  return found;
}

}  // namespace ngf
