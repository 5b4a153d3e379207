#pragma once

#include <limits>

#include "ngf/generate.hpp"
#include "ngf/random.hpp"
#include "ngf/tasks/denoise_cases.hpp"

namespace ngf::test {

inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// Communities, each with a level of its own, and noise.
inline DenoiseCase communities(NodeId nodes, std::size_t signals, double power = 0.1,
                               std::uint64_t seed = 1) {
  constexpr std::uint32_t blocks = 4;
  DenoiseCase data;
  data.graph = stochastic_block_model(nodes, blocks, 0.4, 0.01, seed);
  data.clean.resize(nodes, static_cast<Eigen::Index>(signals));
  Random random(seed, 5);
  for (Eigen::Index s = 0; s < data.clean.cols(); ++s) {
    for (std::uint32_t b = 0; b < blocks; ++b) {
      const double level = random.normal();
      for (NodeId u = b * nodes / blocks; u < (b + 1) * nodes / blocks; ++u) {
        data.clean(u, s) = level;
      }
    }
  }
  data.noisy = with_noise(data.clean, power, seed);
  return data;
}

}  // namespace ngf::test
