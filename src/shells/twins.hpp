#pragma once

#include <optional>

#include "ngf/shells.hpp"

/// Twins are nodes with the same neighbours, apart from each other: they are as far from every
/// other node, so their rows of the shells are the same. One node of each class stands for all, in
/// a smaller graph whose nodes are as far apart as they were. Only pairs within a class need care:
/// they are 1 hop apart where twins are neighbours, otherwise 2.

namespace ngf {

struct Twins {
  /// Class c is members[begins[c]] up to members[begins[c + 1] - 1], increasing; classes are in the
  /// order of their first members.
  std::vector<NodeId> members;
  std::vector<NodeId> begins;
  std::vector<NodeId> class_of;      ///< by node
  std::vector<std::uint32_t> apart;  ///< by class: hops between two of it; `all_hops` if no path
  Graph graph;                       ///< of the first node of each class

  NodeId classes() const { return static_cast<NodeId>(apart.size()); }
  std::span<const NodeId> of_class(NodeId c) const {
    return std::span(members).subspan(begins[c], begins[c + std::size_t{1}] - begins[c]);
  }
  /// The node that stands for a class.
  NodeId first(NodeId c) const { return members[begins[c]]; }
  std::vector<NodeId> firsts() const;
  /// The nodes of some classes, and the classes of some nodes, where both follow each other.
  RowRange members_of(const RowRange& some) const;
  RowRange classes_of(const RowRange& nodes) const;
};

namespace shells {

/// The classes of twins among nodes of one group (empty: all nodes are), most of them of one node.
/// Of the nodes within `rows`, none has a twin outside. Nothing where no node has a twin, as in
/// directed graphs and those with self-loops. Leaves `graph` empty.
std::optional<Twins> find_twins(const Graph& graph, std::span<const std::uint32_t> group_of,
                                const RowRange& rows = {});

bool within_groups(const Twins& twins, std::span<const std::uint32_t> group_of);

}  // namespace shells

}  // namespace ngf
