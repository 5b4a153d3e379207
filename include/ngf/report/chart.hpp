#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Line charts as self-contained SVG, with a light and a dark colour scheme that is safe for
/// colour-blind readers. Equal charts give identical text.

namespace ngf {

/// Number of colours. Further lines reuse them, dashed.
inline constexpr std::size_t chart_colours = 7;

/// One line. It is interrupted at values that are not finite, or not positive on a logarithmic
/// axis.
struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low, high;  ///< a band around the line, one value per point; may be empty
  bool dotted = false;
  std::optional<std::size_t> look =
      std::nullopt;  ///< the colour and the mark of line number so and so [its own]
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false, log_y = false;
  double width = 720;  ///< in pixels, where nobody scales it
  std::vector<Series> series;
};

/// The chart as an SVG document. Line i is of the class `series-i`, and its entry of the legend
/// `key-i`, so that a page can show and hide it; there are no ids, so that a page can hold several.
/// Points have a `title`, which browsers show as a tooltip; of a long line, some points have.
/// Throws Error for a series whose lists differ in length, and for a chart narrower than 300.
std::string to_svg(const Chart& chart);

/// Several charts, one below another, as one document.
std::string to_svg(std::span<const Chart> charts);

}  // namespace ngf
