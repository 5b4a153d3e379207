#pragma once

#include "ngf/dataset.hpp"

namespace ngf::detail {

/// Stands for all that a task reads of its data set.
std::string fingerprint(const Dataset& dataset, const Split& split);

}  // namespace ngf::detail
