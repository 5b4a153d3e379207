#pragma once

#include "ngf/dataset.hpp"
#include "ngf/pair_weights.hpp"

namespace ngf::detail {

/// Stands for all that a task reads of its data set.
std::string fingerprint(const Dataset& dataset, const Split& split);
/// Stands for the directions of embeddings.
std::string fingerprint(const Embeddings& embeddings);

}  // namespace ngf::detail
