#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ngf::bench {

/// One line of a benchmark.
struct Row {
  std::string name;
  double seconds = 0;
  double ratio = 1;           ///< of these seconds to ours, for the same task
  double limit_fraction = 0;  ///< the least time that the machine allows, over these seconds
  std::string note;
};

/// Seconds of one call.
template <typename Body>
double seconds_of(const Body& body) {
  const auto begun = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// The shortest of several calls: at least one, and more until `enough` seconds have gone by, at
/// most `most`. What disturbs a machine only ever makes a run longer.
template <typename Body>
double best_seconds(const Body& body, double enough = 1, int most = 30) {
  double best = std::numeric_limits<double>::max();
  double spent = 0;
  for (int run = 0; run < most && (run == 0 || spent < enough); ++run) {
    const double seconds = seconds_of(body);
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

/// Bytes a second that all threads together can write to memory, past the caches.
double write_bandwidth(int threads);

}  // namespace ngf::bench
