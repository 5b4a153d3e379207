#pragma once

#include <cstdint>

#include "ngf/shells.hpp"

// The peer that everybody would write: a breadth-first search with a queue from each node, shared
// out to threads. It is written as well as we can, since to beat a bad one would mean nothing.

namespace ngf::bench {

/// The hops of all pairs. Throws Error where they do not fit.
template <typename Hop>
void plain_hops(const Graph& graph, int threads, HopMatrix<Hop>& into);

/// For each node and hop the sorted columns.
template <typename Column>
ColumnLists<Column> plain_lists(const Graph& graph, std::uint32_t hops, int threads);

}  // namespace ngf::bench
