// filter_bench DATA [NAME ...]: times neighbourhood filters on the citation networks named, or on
// all, and prints rows as JSON. DATA is the folder of real data sets.

#include <utility>

#include "filter_rows.hpp"
#include "ngf/io/read.hpp"
#include "program.hpp"

namespace {

nlohmann::ordered_json run(const std::filesystem::path& data,
                           const std::vector<std::string>& wanted) {
  ngf::bench::FilterTasks tasks;
  tasks.multiplications = ngf::bench::multiplication_rate(0);
  std::vector<ngf::bench::Row> rows;
  for (const auto& [name, file] : {std::pair<std::string, std::string>("Cora", "ind.cora.graph"),
                                   {"Citeseer", "ind.citeseer.graph"},
                                   {"Pubmed", "ind.pubmed.graph"}}) {
    if (!ngf::bench::is_wanted(wanted, name)) continue;
    fmt::print(stderr, "{}\n", name);
    const auto read = ngf::io::read_graph(data / "planetoid" / file);
    const auto of_graph = ngf::bench::filter_rows(name, read.dataset.graph, tasks);
    rows.insert(rows.end(), of_graph.begin(), of_graph.end());
  }
  return {{"multiplication_rate", tasks.multiplications}, {"rows", ngf::bench::json_of(rows)}};
}

}  // namespace

int main(int argc, char** argv) { return ngf::bench::run_program("filter_bench", argc, argv, run); }
