// filter_bench DATA [NAME ...]: times neighbourhood filters on the citation networks named, or on
// all, and prints rows as JSON. DATA is the folder of real data sets.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "filter_rows.hpp"
#include "ngf/io/read.hpp"

namespace {

void run(const std::filesystem::path& data, const std::vector<std::string>& wanted) {
  ngf::bench::FilterTasks tasks;
  tasks.multiplications = ngf::bench::multiplication_rate(0);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& [name, file_name] : {std::pair<std::string, std::string>("Cora", "cora"),
                                        {"Citeseer", "citeseer"},
                                        {"Pubmed", "pubmed"}}) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    fmt::print(stderr, "{}\n", name);
    const std::filesystem::path file = data / "planetoid" / fmt::format("ind.{}.graph", file_name);
    const auto read = ngf::io::read_graph(file);
    for (const auto& row : ngf::bench::filter_rows(name, read.dataset.graph, tasks)) {
      rows.push_back({{"name", row.name},
                      {"seconds", row.seconds},
                      {"ratio", row.ratio},
                      {"limit_fraction", row.limit_fraction},
                      {"note", row.note}});
    }
  }
  fmt::print("{}\n",
             nlohmann::ordered_json{{"multiplication_rate", tasks.multiplications}, {"rows", rows}}
                 .dump());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: filter_bench DATA [NAME ...]\n", stderr);
    return 2;
  }
  try {
    run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "filter_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
