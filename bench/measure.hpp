#pragma once

#include <chrono>
#include <functional>
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

/// For each body the seconds of its shortest call. They take turns, so that what disturbs the
/// machine for a while disturbs all of them, and go on until each has had `enough` seconds; what
/// disturbs a call only ever makes it longer.
std::vector<double> best_seconds(const std::vector<std::function<void()>>& bodies,
                                 double enough = 1);

/// Multiplications and additions of floats per second, of all threads together, on tiles that stay
/// in the nearest caches: the best of the repetitions that fit into `enough` seconds.
double multiplication_rate(int threads, double enough = 1);

/// Bytes a second that all threads together can write to memory, past the caches.
double write_bandwidth(int threads);

}  // namespace ngf::bench
