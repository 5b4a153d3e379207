#pragma once

#include <cstddef>

#include "ngf/node.hpp"

namespace ngf::kernels {

/// The longest row that `sort_short_row` takes.
inline constexpr std::size_t short_row = 32;

/// Writes the distinct ids of row[0..length) to `into`, which is apart from it and has room for
/// `length`, in increasing order, and returns how many they are. ~0 is no id.
std::size_t sort_short_row(const NodeId* row, std::size_t length, NodeId* into);

}  // namespace ngf::kernels
