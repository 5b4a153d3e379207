#include "ngf/report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.hpp"
#include "report/axis.hpp"
#include "report/xml_text.hpp"

namespace ngf {

namespace {

using report::Axis;
using report::character_count;
using report::human_number;
using report::shortened;
using report::xml_text;

constexpr double least_width = 300;
constexpr double plot_height = 300;
constexpr double margin = 20;
constexpr double line_height = 18;
constexpr double letter = 6.8;  // the mean width of a letter at 12 px, on the safe side
// A line of few points shows them. A longer one tells about that many of its values.
constexpr std::size_t few_points = 40;
constexpr std::size_t spots = 24;
constexpr double x_ticks = 8;
constexpr double tick_distance = 60;  // at least
constexpr int y_ticks = 6;

// After Okabe and Ito, "Color universal design": on white, and lighter on black.
using Colours = std::array<std::string_view, chart_colours>;
constexpr Colours light{"#0072b2", "#d55e00", "#009e73", "#b65a8e",
                        "#c98a00", "#3a9bdc", "#555555"};
constexpr Colours dark{"#4fa8e0", "#ff8a4c", "#2fc69a", "#e39cc4", "#f0b429", "#8fd0ff", "#b8b8b8"};

/// Two decimals are finer than any screen or printer.
std::string coordinate(double value) {
  return fmt::format("{}", std::round(value * 100) / 100 + 0.0);
}

std::string colour_rules(const Colours& colours) {
  std::string text;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    text += fmt::format(
        ".ngf-chart .colour-{0} .line{{stroke:{1}}}"
        ".ngf-chart .colour-{0} .band,.ngf-chart .colour-{0} .point{{fill:{1}}}\n",
        i, colours[i]);
  }
  return text;
}

/// No variables and nothing nested: programs that are no browsers read this too.
std::string style() {
  return fmt::format(
      "<style>\n"
      ".ngf-chart text{{font-family:system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;"
      "font-size:12px;fill:#333}}\n"
      ".ngf-chart .paper{{fill:#fff}}\n"
      ".ngf-chart .title{{font-size:15px;font-weight:600;fill:#111}}\n"
      ".ngf-chart .grid{{stroke:#e3e3e3;stroke-width:1}}\n"
      ".ngf-chart .axis{{stroke:#777;stroke-width:1}}\n"
      ".ngf-chart .line{{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}}\n"
      ".ngf-chart .band{{fill-opacity:.18;stroke:none}}\n"
      ".ngf-chart .spot{{fill-opacity:0}}\n"
      "{}"
      "@media (prefers-color-scheme:dark){{\n"
      ".ngf-chart text{{fill:#ccc}}\n"
      ".ngf-chart .paper{{fill:#16181c}}\n"
      ".ngf-chart .title{{fill:#eee}}\n"
      ".ngf-chart .grid{{stroke:#33373d}}\n"
      ".ngf-chart .axis{{stroke:#888}}\n"
      "{}"
      "}}\n"
      "</style>\n",
      colour_rules(light), colour_rules(dark));
}

std::string text_element(double x, double y, std::string_view anchor, std::string_view content,
                         std::string_view more = {}) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", coordinate(x),
                     coordinate(y), anchor, more, xml_text(content));
}

std::string line_element(double x1, double y1, double x2, double y2) {
  return fmt::format("<path d=\"M{} {}L{} {}\"/>\n", coordinate(x1), coordinate(y1), coordinate(x2),
                     coordinate(y2));
}

std::string dashes(const Series& series, std::size_t look) {
  if (series.dotted) return R"( stroke-dasharray="1 5")";
  constexpr std::array<std::string_view, 3> patterns{"", R"( stroke-dasharray="8 5")",
                                                     R"( stroke-dasharray="10 4 2 4")"};
  return std::string(patterns[look / chart_colours % patterns.size()]);
}

/// A marker whose shape tells lines apart where colours cannot.
std::string marker(std::size_t look, double x, double y) {
  const auto at = [&](double dx, double dy) {
    return coordinate(x + dx) + " " + coordinate(y + dy);
  };
  switch (look % 4) {
    case 0:
      return fmt::format(R"(<circle class="point" cx="{}" cy="{}" r="3.5")", coordinate(x),
                         coordinate(y));
    case 1:
      return fmt::format(R"(<path class="point" d="M{}H{}V{}H{}Z")", at(-3.2, -3.2),
                         coordinate(x + 3.2), coordinate(y + 3.2), coordinate(x - 3.2));
    case 2:
      return fmt::format(R"(<path class="point" d="M{}L{}L{}Z")", at(0, -4.4), at(4.2, 3),
                         at(-4.2, 3));
    default:
      return fmt::format(R"(<path class="point" d="M{}L{}L{}L{}Z")", at(0, -4.8), at(4.8, 0),
                         at(0, 4.8), at(-4.8, 0));
  }
}

std::vector<double> values_of(const Chart& chart,
                              std::initializer_list<std::vector<double> Series::*> lists) {
  std::vector<double> values;
  for (const Series& series : chart.series) {
    for (const auto list : lists) {
      values.insert(values.end(), (series.*list).begin(), (series.*list).end());
    }
  }
  return values;
}

void check(const Chart& chart) {
  if (!(chart.width >= least_width)) {
    fail("chart '{}': {} wide; expected {} or more", chart.title, chart.width, least_width);
  }
  for (const Series& series : chart.series) {
    const std::size_t points = series.x.size();
    const auto fits = [&](const std::vector<double>& list) {
      return list.empty() || list.size() == points;
    };
    if (series.y.size() == points && fits(series.low) && fits(series.high) &&
        series.low.empty() == series.high.empty()) {
      continue;
    }
    fail("series '{}': {} values of x, {} of y, {} and {} of its band; each point needs one",
         series.name, points, series.y.size(), series.low.size(), series.high.size());
  }
}

/// Draws one chart, with its upper left corner at 0, 0.
class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        x_(values_of(chart, {&Series::x}), chart.log_x, Axis::Ends::tight,
           static_cast<int>(std::min(x_ticks, chart.width / tick_distance))),
        y_(values_of(chart, {&Series::y, &Series::low, &Series::high}), chart.log_y,
           Axis::Ends::round, y_ticks) {
    std::size_t widest = 0;
    for (const auto& tick : y_.ticks()) widest = std::max(widest, character_count(tick.label));
    left_ = margin + (chart.y_label.empty() ? 0 : line_height + 4) +
            static_cast<double>(widest) * letter + 8;
    top_ = margin + (chart.title.empty() ? 0 : line_height + 10);
    draw_title();
    draw_legend();
    bottom_ = top_ + plot_height;
    draw_axes();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw_series(i);
    height_ = bottom_ + 24 + (chart.x_label.empty() ? 0 : line_height + 2) + margin / 2;
  }

  const std::string& svg() const { return svg_; }
  double height() const { return height_; }

 private:
  double right() const { return chart_.width - margin; }
  std::size_t look(std::size_t i) const { return chart_.series[i].look.value_or(i); }
  double x_of(double value) const { return left_ + x_.place(value) * (right() - left_); }
  double y_of(double value) const { return bottom_ - y_.place(value) * plot_height; }
  bool drawn(const Series& series, std::size_t p) const {
    return Axis::shows(series.x[p], chart_.log_x) && Axis::shows(series.y[p], chart_.log_y);
  }

  void draw_title() {
    if (chart_.title.empty()) return;
    const auto most = static_cast<std::size_t>((chart_.width - 2 * margin) / (letter * 1.25));
    svg_ += text_element(chart_.width / 2, margin + 14, "middle", shortened(chart_.title, most),
                         R"( class="title")");
  }

  /// Rows between the title and the plot, where no line can be covered. A single line without a
  /// name needs none.
  void draw_legend() {
    if (chart_.series.empty() || (chart_.series.size() == 1 && chart_.series[0].name.empty())) {
      return;
    }
    constexpr double key = 34;
    constexpr double gap = 20;
    const auto most = static_cast<std::size_t>((right() - left_ - key) / letter);
    double x = left_;
    svg_ += "<g class=\"legend\">\n";
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::string name = shortened(chart_.series[i].name, most);
      const double needed = key + static_cast<double>(character_count(name)) * letter;
      if (x > left_ && x + needed > right()) {
        x = left_;
        top_ += line_height;
      }
      const double middle = top_ + 4;
      svg_ += fmt::format(R"(<g class="key key-{} colour-{}">)", i, look(i) % chart_colours);
      // Where a page listens for clicks, between the letters too.
      svg_ += fmt::format(R"(<rect class="spot" x="{}" y="{}" width="{}" height="{}"/>)",
                          coordinate(x), coordinate(middle - line_height / 2), coordinate(needed),
                          coordinate(line_height));
      svg_ +=
          fmt::format(R"(<path class="line" d="M{} {}H{}"{}/>)", coordinate(x), coordinate(middle),
                      coordinate(x + 26), dashes(chart_.series[i], look(i)));
      if (chart_.series[i].x.size() <= few_points) svg_ += marker(look(i), x + 13, middle) + "/>";
      svg_ += text_element(x + key, middle + 4, "start", name);
      svg_ += "</g>\n";
      x += needed + gap;
    }
    svg_ += "</g>\n";
    top_ += line_height + 6;
  }

  void draw_axes() {
    std::string labels;
    svg_ += "<g class=\"grid\">\n";
    for (const auto& tick : y_.ticks()) {
      const double y = y_of(tick.value);
      svg_ += line_element(left_, y, right(), y);
      labels += text_element(left_ - 8, y + 4, "end", tick.label);
    }
    for (const auto& tick : x_.ticks()) {
      const double x = x_of(tick.value);
      svg_ += line_element(x, top_, x, bottom_);
      labels += text_element(x, bottom_ + 18, "middle", tick.label);
    }
    svg_ += "</g>\n<g class=\"axis\">\n";
    svg_ += line_element(left_, bottom_, right(), bottom_);
    svg_ += line_element(left_, top_, left_, bottom_);
    svg_ += "</g>\n<g class=\"labels\">\n" + labels;
    if (!chart_.x_label.empty()) {
      svg_ +=
          text_element((left_ + right()) / 2, bottom_ + 20 + line_height, "middle", chart_.x_label);
    }
    if (!chart_.y_label.empty()) {
      const double middle = (top_ + bottom_) / 2;
      svg_ += text_element(margin + 4, middle, "middle", chart_.y_label,
                           fmt::format(R"x( transform="rotate(-90 {} {})")x",
                                       coordinate(margin + 4), coordinate(middle)));
    }
    svg_ += "</g>\n";
  }

  /// Calls take(begin, end) for the points between two breaks.
  template <typename Take>
  void for_each_piece(const Series& series, const Take& take) const {
    for (std::size_t begin = 0; begin < series.x.size(); ++begin) {
      std::size_t end = begin;
      while (end < series.x.size() && drawn(series, end)) ++end;
      if (end > begin) take(begin, end);
      begin = end;
    }
  }

  void draw_series(std::size_t i) {
    const Series& series = chart_.series[i];
    svg_ += fmt::format("<g class=\"series series-{} colour-{}\">\n", i, look(i) % chart_colours);
    if (!series.low.empty()) draw_band(series);
    std::string path;
    for_each_piece(series, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        path += fmt::format("{}{} {}", p == begin ? 'M' : 'L', coordinate(x_of(series.x[p])),
                            coordinate(y_of(series.y[p])));
      }
      // A point between two breaks is a line of no length, which has round ends.
      if (end - begin == 1) path += "h0";
    });
    if (!path.empty()) {
      svg_ += fmt::format("<path class=\"line\" d=\"{}\"{}><title>{}</title></path>\n", path,
                          dashes(series, look(i)), xml_text(series.name));
    }
    draw_points(i);
    svg_ += "</g>\n";
  }

  /// Where a band has no number, the line itself is its edge; an edge below a logarithmic axis is
  /// at its end.
  void draw_band(const Series& series) {
    const auto edge = [&](const std::vector<double>& of, std::size_t p) {
      if (chart_.log_y && of[p] <= 0) return y_.low();
      return std::isfinite(of[p]) ? of[p] : series.y[p];
    };
    std::string path;
    for_each_piece(series, [&](std::size_t begin, std::size_t end) {
      char move = 'M';
      const auto add = [&](const std::vector<double>& of, std::size_t p) {
        path += fmt::format("{}{} {}", std::exchange(move, 'L'), coordinate(x_of(series.x[p])),
                            coordinate(y_of(edge(of, p))));
      };
      for (std::size_t p = begin; p < end; ++p) add(series.high, p);
      for (std::size_t p = end; p > begin; --p) add(series.low, p - 1);
      path += 'Z';
    });
    if (!path.empty()) svg_ += fmt::format("<path class=\"band\" d=\"{}\"/>\n", path);
  }

  void draw_points(std::size_t i) {
    const Series& series = chart_.series[i];
    const bool few = series.x.size() <= few_points;
    const std::size_t step = few ? 1 : (series.x.size() + spots - 1) / spots;
    for (std::size_t p = 0; p < series.x.size(); p += step) {
      if (!drawn(series, p)) continue;
      const double x = x_of(series.x[p]);
      const double y = y_of(series.y[p]);
      const std::string shape = few ? marker(look(i), x, y)
                                    : fmt::format(R"(<circle class="spot" cx="{}" cy="{}" r="8")",
                                                  coordinate(x), coordinate(y));
      svg_ += fmt::format("{}><title>{}</title></{}>\n", shape, xml_text(tip(series, p)),
                          shape.starts_with("<circle") ? "circle" : "path");
    }
  }

  static std::string tip(const Series& series, std::size_t p) {
    std::string text = fmt::format("{}{}, {}", series.name.empty() ? "" : series.name + ": ",
                                   human_number(series.x[p]), human_number(series.y[p]));
    if (!series.low.empty() && std::isfinite(series.low[p]) && std::isfinite(series.high[p])) {
      text += fmt::format(" ({} to {})", human_number(series.low[p]), human_number(series.high[p]));
    }
    return text;
  }

  const Chart& chart_;
  Axis x_;
  Axis y_;
  double left_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  double height_ = 0;
  std::string svg_;
};

}  // namespace

std::string to_svg(const Chart& chart) { return to_svg(std::span(&chart, 1)); }

std::string to_svg(std::span<const Chart> charts) {
  std::string body;
  std::string titles;
  double width = least_width;
  double height = 0;
  for (const Chart& chart : charts) {
    check(chart);
    const Drawing drawing(chart);
    body += fmt::format("<g class=\"chart\" transform=\"translate(0 {})\">\n{}</g>\n",
                        coordinate(height), drawing.svg());
    height += drawing.height();
    width = std::max(width, chart.width);
    if (!chart.title.empty()) titles += (titles.empty() ? "" : "; ") + chart.title;
  }
  const std::string size =
      fmt::format(R"(width="{}" height="{}")", coordinate(width), coordinate(height));
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="ngf-chart" viewBox="0 0 {} {}" {} )"
      "role=\"img\">\n<title>{}</title>\n{}<rect class=\"paper\" {}/>\n{}</svg>\n",
      coordinate(width), coordinate(height), size, xml_text(titles), style(), size, body);
}

}  // namespace ngf
