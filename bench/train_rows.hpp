#pragma once

#include <string>
#include <vector>

#include "measure.hpp"
#include "ngf/dataset.hpp"

namespace ngf::bench {

struct TrainTasks {
  std::vector<int> hidden{512, 64};
  std::vector<std::uint32_t> taps{3, 10};
  std::vector<std::size_t> runs{1, 25};
  int threads = 0;
  double multiplications = 0;  ///< what `multiplication_rate` says
};

/// Seconds of an epoch of the paper's neighbourhood network (recipe "paper") on a data set, the
/// best of some; of 25 runs that is the epoch of all. `limit_fraction` is the share of the
/// machine's speed of dense products that the multiplications counted make. Throws Error when a run
/// in a batch differs from itself alone.
std::vector<Row> train_rows(const std::string& name, const Dataset& dataset,
                            const TrainTasks& tasks);

}  // namespace ngf::bench
