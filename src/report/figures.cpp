#include "ngf/report/figures.hpp"

#include <nlohmann/json.hpp>

namespace ngf {

std::vector<FigureCharts> figure_charts(const nlohmann::json& results) {
  std::vector<FigureCharts> figures;
  for (const auto& [name, value] : results.items()) {
    if (name.starts_with("fig") || name == "claims") figures.push_back({name, name, {Chart{}}});
  }
  return figures;
}

}  // namespace ngf
