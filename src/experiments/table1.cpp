// Table 1: the data sets. Radius and diameter are those of the largest connected component.

#include <fmt/format.h>

#include "experiments/common.hpp"
#include "ngf/components.hpp"
#include "ngf/eccentricity.hpp"

namespace ngf::experiments {

namespace of_table1 {

namespace {

std::string run(const NamedDataset& named, Progress* progress) {
  const Dataset& dataset = named.dataset;
  const std::vector<NodeId> kept = connected_components(dataset.graph).largest();
  const Extent extent = measure_extent(restrict_to(dataset, kept).graph, progress);
  const Row row{{"dataset", named.name},
                {"nodes", dataset.graph.nodes()},
                {"features", dataset.feature_count()},
                {"classes", dataset.class_count()},
                {"radius", extent.radius},
                {"diameter", extent.diameter}};
  return Row::array({row}).dump();
}

}  // namespace

}  // namespace of_table1

Figure table1(const Study& study) {
  using namespace of_table1;
  Figure figure{"table1", "the data sets", {}};
  for (const NamedDataset& named : study.datasets) {
    Cell& cell = figure.cells.emplace_back();
    cell.key = fmt::format("table1 {}", named.name);
    cell.seconds = costs::of_row;
    cell.run = [&named](Progress* progress) { return run(named, progress); };
  }
  return figure;
}

}  // namespace ngf::experiments
