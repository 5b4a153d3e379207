// train_bench DATA [NAME ...]: times epochs of the paper's networks on the citation networks named,
// or on all, and prints rows as JSON. DATA is the folder of real data sets.

#include <utility>

#include "ngf/io/read.hpp"
#include "program.hpp"
#include "train_rows.hpp"

namespace {

nlohmann::ordered_json run(const std::filesystem::path& data,
                           const std::vector<std::string>& wanted) {
  ngf::bench::TrainTasks tasks;
  tasks.multiplications = ngf::bench::multiplication_rate(0);
  std::vector<ngf::bench::Row> rows;
  for (const auto& [name, file] : {std::pair<std::string, std::string>("Cora", "ind.cora.graph"),
                                   {"Citeseer", "ind.citeseer.graph"},
                                   {"Pubmed", "ind.pubmed.graph"}}) {
    if (!ngf::bench::is_wanted(wanted, name)) continue;
    fmt::print(stderr, "{}\n", name);
    const auto read = ngf::io::read_graph(data / "planetoid" / file);
    const auto of_set = ngf::bench::train_rows(name, read.dataset, tasks);
    rows.insert(rows.end(), of_set.begin(), of_set.end());
  }
  return {{"multiplication_rate", tasks.multiplications}, {"rows", ngf::bench::json_of(rows)}};
}

}  // namespace

int main(int argc, char** argv) { return ngf::bench::run_program("train_bench", argc, argv, run); }
