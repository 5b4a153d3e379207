#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure.hpp"

// What the programs here share: their arguments, their errors, and how rows are printed.

namespace ngf::bench {

inline nlohmann::ordered_json json_of(const std::vector<Row>& rows) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    result.push_back({{"name", row.name},
                      {"seconds", row.seconds},
                      {"ratio", row.ratio},
                      {"limit_fraction", row.limit_fraction},
                      {"note", row.note}});
  }
  return result;
}

/// Prints the JSON that `run` returns, or its error. Returns what `main` should.
template <typename Run>
int print_result(const char* name, const Run& run) {
  try {
    const nlohmann::ordered_json result = run();
    fmt::print("{}\n", result.dump());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", name, error.what());
    return 1;
  }
  return 0;
}

/// Calls run(data, names) for the arguments "DATA [NAME ...]", and prints the JSON that it returns.
template <typename Run>
int run_program(const char* name, int argc, char** argv, const Run& run) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} DATA [NAME ...]\n", name);
    return 2;
  }
  return print_result(name, [&] {
    return run(std::filesystem::path(argv[1]), std::vector<std::string>(argv + 2, argv + argc));
  });
}

/// Whether `name` is among the names wanted: where none is, all are.
inline bool is_wanted(const std::vector<std::string>& wanted, const std::string& name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

}  // namespace ngf::bench
