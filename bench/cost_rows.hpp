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

/// Measures constants of the files costs.hpp on generated graphs, each for at least this number of
/// seconds: times, and sizes at which two ways of computing take the same time. Not measured are
/// sizes of caches and batches; each file names the benchmark that times what depends on them.
std::vector<Cost> measure_costs(int threads, double seconds);

}  // namespace ngf::bench
