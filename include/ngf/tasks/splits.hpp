#pragma once

#include <cstdint>
#include <string_view>

#include "ngf/dataset.hpp"

namespace ngf {

/// The split that `text` names:
///   public        the data set's only split, or the first of several
///   INDEX         the split of that number, from 0
///   random:SEED   drawn, see random_split
/// Nodes whose label is not known are left out. Throws Error where the data set has no such split
/// or a part of it has no node with a label.
Split choose_split(const Dataset& dataset, std::string_view text);

/// A split by chance, the same for the same seed. Planetoid's sizes where the data set has room for
/// them: 20 nodes of each class to learn from, 500 of the others for validation, and 1000 of those
/// left to be scored on. Else 20 % of each class, rounded down, for validation, as many to be
/// scored on, and the rest to learn from.
Split random_split(const Dataset& dataset, std::uint64_t seed);

}  // namespace ngf
