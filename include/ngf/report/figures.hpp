#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ngf/report/chart.hpp"

namespace ngf {

/// The charts of one figure of the paper, or of one of its claims.
struct FigureCharts {
  std::string name;  ///< as `fig1` or `claims_norms`: what its files are called
  std::string title;
  std::string shows;          ///< what is drawn, whatever the numbers are
  std::string note;           ///< what a reader should know beside it; may be empty
  std::vector<Chart> charts;  ///< none where the figure is a table
};

/// The charts of all figures that a results file of `ngf reproduce` has, in the paper's order.
/// Throws Error for results that are none.
std::vector<FigureCharts> figure_charts(const nlohmann::json& results);

}  // namespace ngf
