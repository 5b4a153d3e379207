#pragma once

#include <cstdint>
#include <vector>

#include "ngf/dataset.hpp"
#include "ngf/nn/network.hpp"

namespace ngf::tasks {

/// The features as a network takes them, each row divided by the sum of its sizes where asked;
/// sparse where most of them are 0, however the data set has them.
/// Throws Error where there are none, or one is no number.
FeaturesOf<float> features_of(const Dataset& dataset, bool normalize);

/// Some of the rows.
FeaturesOf<float> rows_of(const FeaturesOf<float>& features, const std::vector<NodeId>& rows);

}  // namespace ngf::tasks
