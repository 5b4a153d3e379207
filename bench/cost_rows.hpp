#pragma once

#include <string>
#include <vector>

namespace ngf::bench {

/// A constant of one of the files costs.hpp, beside what this machine says.
struct Cost {
  std::string name;  ///< "shells::queue_ns_per_arc"
  std::string unit;
  double in_use = 0;
  double measured = 0;
};

/// Measures the constants that choose between ways of computing, on generated graphs, each for at
/// least this number of seconds.
std::vector<Cost> measure_costs(int threads, double seconds);

}  // namespace ngf::bench
