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

/// The same, or for "all" each split of the data set.
std::vector<Split> choose_splits(const Dataset& dataset, std::string_view text);

/// A random split, determined by the seed. Planetoid's sizes if the data set is large enough: 20
/// training nodes per class, 500 validation nodes, and 1000 test nodes. Otherwise 20 % of each
/// class, rounded down, for validation, the same number for the test, and the rest for training.
Split random_split(const Dataset& dataset, std::uint64_t seed);

}  // namespace ngf
