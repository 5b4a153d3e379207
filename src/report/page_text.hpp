#pragma once

#include <string>
#include <string_view>

namespace ngf::report {

/// What the page says of a figure whatever its numbers are.
struct FigureText {
  std::string_view shows;   ///< what is drawn
  std::string_view note;    ///< what a reader should know beside it; may be empty
  std::string_view source;  ///< its file in the repository
};

/// `name` is as FigureCharts::name.
FigureText figure_text(std::string_view name);

}  // namespace ngf::report
