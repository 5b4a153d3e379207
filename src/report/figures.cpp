#include "ngf/report/figures.hpp"

#include <cmath>

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

/// A column of the rows to draw, and the one with its standard deviation, if any.
struct Line {
  const char* name;
  const char* y;
  const char* deviation = "";
};

enum Scale { linear, log };

/// How rows become a chart: a line for each of some columns against column `x`.
struct Plot {
  const char* x = nullptr;
  std::vector<Line> lines = {};
  const char* x_label;
  const char* y_label;
  Scale y_scale;
  const char* by = nullptr;  ///< where there is a line for each value of a column: its name
  const char* title_end = "";
  void (*draw)(Chart& chart, const Rows& rows) = nullptr;  ///< where lines are not enough
};

struct Figure {
  const char* name;
  const char* title;
  const char* shows;
  const char* note;
  std::vector<const char*> keys = {};  ///< rows with other values of these are on other charts
  std::vector<Plot> plots = {};        ///< none for a table
};

/// The values of a column against those of `x`, with a band of one standard deviation where the
/// rows have one.
Series line(std::string name, const Rows& rows, const char* x, const Line& columns) {
  Series series{.name = std::move(name),
                .x = rows.numbers(x, x),
                .y = rows.numbers(columns.y, x),
                .low = {},
                .high = {}};
  const std::string deviation = columns.deviation;
  if (deviation.empty() || !rows.has(deviation)) return series;
  const std::vector<double> spread = rows.numbers(deviation, x);
  for (std::size_t i = 0; i < spread.size(); ++i) {
    series.low.push_back(series.y[i] - spread[i]);
    series.high.push_back(series.y[i] + spread[i]);
  }
  return series;
}

/// Of each architecture, its errors against epochs 1, 2, ...
void draw_epochs(Chart& chart, const Rows& rows) {
  for (const json* row : rows.all()) {
    Series series{.name = spoken(row->at("arch")), .x = {}, .y = {}, .low = {}, .high = {}};
    for (const json& error : row->at("median_error")) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(error.is_null() ? NAN : error.get<double>());
    }
    chart.series.push_back(std::move(series));
  }
}

/// One colour for each K; GCNN is dashed, and NGCNN with cached distances is dotted.
void draw_perturbation(Chart& chart, const Rows& rows) {
  for (const auto& [kind, lines] : rows.split({"filter", "distances"})) {
    const bool cached = kind[1] == "cached";
    std::size_t look = kind[0] == "gf" ? chart_colours : 0;
    for (const auto& [taps, points] : lines.split({"K"})) {
      Series& series = chart.series.emplace_back(
          line(fmt::format("{}, K = {}", cached ? "cached" : network_of(kind[0]), taps[0]), points,
               "percent", {"", "mean", cached ? "" : "graph_std"}));
      series.dotted = cached;
      series.look = look++;
    }
  }
}

Chart draw(const Plot& plot, const std::string& title, const Rows& rows) {
  Chart chart{.title = title + plot.title_end,
              .x_label = plot.x_label,
              .y_label = plot.y_label,
              .log_y = plot.y_scale == log,
              .width = chart_width,
              .series = {}};
  if (plot.draw != nullptr) plot.draw(chart, rows);
  for (const Line& columns : plot.lines) {
    if (plot.by == nullptr) {
      chart.series.push_back(line(columns.name, rows, plot.x, columns));
      continue;
    }
    for (const auto& [value, points] : rows.split({plot.by})) {
      const bool networks = plot.by == std::string("filter");
      chart.series.push_back(
          line(networks ? network_of(value[0]) : spoken(value[0]), points, plot.x, columns));
    }
  }
  return chart;
}

std::string chart_title(const Figure& figure, const std::vector<std::string>& values) {
  if (figure.keys[0] == std::string("settings")) {
    return fmt::format("Input {}, settings of the {}", spoken(values[1]), values[0]);
  }
  return values.size() == 1 ? spoken(values[0]) : spoken(values[0]) + ", " + spoken(values[1]);
}

std::vector<Chart> charts_of(const Figure& figure, const Rows& rows) {
  std::vector<Chart> charts;
  if (figure.plots.empty()) return charts;
  for (const auto& [values, part] : rows.split(figure.keys)) {
    for (const Plot& plot : figure.plots) {
      charts.push_back(draw(plot, chart_title(figure, values), part));
    }
  }
  return charts;
}

const std::vector<Line> filters{{"GF", "gf", "gf_std"}, {"NGF", "ngf", "ngf_std"}};
const std::vector<Line> mean{{"", "mean", "std"}};

/// All figures, in the paper's order.
const std::vector<Figure> known_figures{
    {"table1", "Table 1: the data sets",
     "Nodes, features and classes of the data sets, and the radius and the diameter of the "
     "largest component of each.",
     ""},
    {"fig1",
     "Figure 1: how far filters move when the graph is perturbed",
     "‖H′ − H‖² / ‖H‖² (Frobenius norms) against the number of taps K, where H is a filter on a "
     "graph and H′ the same filter on that graph with a tenth of its edges created, destroyed, "
     "or both. Polynomial filters (GF) and neighbourhood filters (NGF) have the same taps and "
     "the same graphs.",
     "The paper does not say how its graphs were perturbed, so all three ways are here. "
     "Erdős–Rényi graphs of this size have a diameter of 3 or 4: from K = 5 on they have no "
     "further shells, so that the curve of NGF levels off by construction there. The small "
     "worlds, with their longer paths, are the harder test.",
     {"graph", "perturbation"},
     {{"K", filters, "number of taps K", "relative error of the filter", log}}},
    {"fig2a",
     "Figure 2a: denoising, error against epochs",
     "Signals on a block model with 8 communities, made by a polynomial filter (input GF) or by "
     "a neighbourhood filter (input NGF), with noise of power 0.1. Four untrained networks are "
     "fitted to the noisy signals; the error ‖x − x̂‖² / ‖x‖² is against the clean ones, the "
     "median over the signals.",
     "An error above 0.1 is worse than leaving the noisy signal as it is. The published figure "
     "was made with the settings of the code, in which signals keep their size; these decide the "
     "verdicts. By the paper's text signals have unit norm, so that their values are about 0.06: "
     "together with the code's learning rate of 0.01, whose steps are too coarse for these, that "
     "is what fails, and the two decoders hardly learn. In full it took the authors' "
     "notebook 86 minutes; what this run took stands under Provenance.",
     {"settings", "input"},
     {{.x_label = "epoch", .y_label = "median error", .y_scale = log, .draw = draw_epochs}}},
    {"fig2b",
     "Figure 2b: denoising, error against noise power",
     "The same on a block model with 4 communities, with deeper networks, against the power of "
     "the noise. Each signal counts with its smallest error over the epochs, which cannot be known "
     "without the clean signal; the median over the signals.",
     "In full it took the authors' notebook 106 minutes; what this run took stands under "
     "Provenance.",
     {"settings", "input"},
     {{"noise_power", {{"", "median_error"}}, "noise power", "median error", linear, "arch"}}},
    {"fig3a",
     "Figure 3a: node classification, accuracy against K",
     "Test accuracy of networks with two layers on polynomial filters (GCNN) and on "
     "neighbourhood filters (NGCNN) against the number of taps K, all of them 1.",
     "",
     {"dataset"},
     {{"K", mean, "number of taps K", "test accuracy, %", linear, "filter"}}},
    {"fig3b",
     "Figure 3b: node classification on a perturbed graph",
     "Test accuracy while edges of the graph are destroyed, or half created and half destroyed, "
     "as a percentage of all edges.",
     "There are two lines for each NGCNN. The plain one has recomputed hop distances: those of the "
     "perturbed graph. The dotted one has cached distances: those of the graph before it was "
     "perturbed. GCNN is dashed. The published code keeps the distances in a file that is "
     "named after the data set alone, and reads it back for each later perturbation, so that its "
     "neighbourhood filter never sees the perturbed graph. A curve that cannot see the "
     "perturbation is flat whatever the filter is. Only curves with recomputed distances measure "
     "robustness, and only they count in the verdicts. Bands are one standard deviation over the "
     "perturbed graphs; where nothing is perturbed there is only one.",
     {"dataset", "perturbation"},
     {{.x_label = "perturbed edges, %",
       .y_label = "test accuracy, %",
       .y_scale = linear,
       .draw = draw_perturbation}}},
    {"claims_norms",
     "Claim: powers grow, shells do not",
     "Frobenius norms of the powers of the adjacency matrix and of the k-hop matrices, on the "
     "graphs of Figure 1.",
     "",
     {"graph"},
     {{"k", {{"power A^k", "power"}, {"shell A_k", "shell"}}, "k", "Frobenius norm", log}}},
    {"claims_float_error",
     "Claim: numerical errors",
     "Relative error of a filter's output in single precision against double precision, with "
     "the same graphs, taps and signals. Taps are uniform in [0, 1], or in [-1, 1] where their "
     "signs are mixed.",
     "",
     {"graph", "taps"},
     {{"K", filters, "number of taps K", "relative error in float", log}}},
    {"claims_condition",
     "Claim: polynomial filters are ill-defined",
     "Condition number of the least-squares problem that finds taps from white signals X and the "
     "filter's output: its columns are the powers S^k X (GF), or the shells A_k X (NGF), scaled to "
     "the same length. Digits are lost by its factor: from about 10^7 on none are left in float.",
     "On Erdős–Rényi graphs shells beyond the diameter of 3 or 4 are empty; they are no columns.",
     {"graph"},
     {{"K", filters, "number of taps K", "condition number", log}}},
    {"claims_shell_change",
     "Claim: farther shells change less",
     "Pairs of nodes that enter or leave shell k when a tenth of the edges are created, "
     "destroyed, or both, for each pair that it had before: more than 1 where a shell grows to "
     "more than twice its size.",
     "",
     {"graph"},
     {{"k", {{"", "change"}}, "shell k", "pairs changed, for each pair", linear, "perturbation"}}},
    {"claims_constant_taps", "Claim: constant taps do not notice",
     "Where all taps are the same, K − 1 is no smaller than the diameters of the graph before "
     "and after the perturbation, and both graphs are connected, the shells add up to a matrix of "
     "ones on both sides.",
     ""},
    {"claims_depth",
     "Claim: deeper networks",
     "Test accuracy against the number of layers, and the norm of the gradient of the first "
     "layer's weights at the start of training.",
     "",
     {"dataset"},
     {{"layers", mean, "layers", "test accuracy, %", linear, "filter", ", accuracy"},
      {"layers",
       {{"", "gradient_norm"}},
       "layers",
       "norm of the first gradient",
       log,
       "filter",
       ", gradient"}}},
};

}  // namespace

std::vector<FigureCharts> figure_charts(const json& results) {
  std::vector<FigureCharts> found;
  for (const Figure& figure : known_figures) {
    const Rows rows(results, figure.name);
    if (rows.empty()) continue;
    try {
      found.push_back(
          {figure.name, figure.title, figure.shows, figure.note, charts_of(figure, rows)});
    } catch (const json::exception& broken) {
      fail("the results' {}: {}", figure.name, broken.what());
    }
  }
  return found;
}

}  // namespace ngf
