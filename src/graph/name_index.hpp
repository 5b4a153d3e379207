#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "ngf/node.hpp"
#include "ngf/node_names.hpp"

namespace ngf::detail {

/// Distinct names, numbered in the order in which they were added, and a hash table that finds
/// them.
class NameIndex {
 public:
  /// The number of the name, a new one unless it was added before.
  NodeId add(std::string_view name);
  std::optional<NodeId> find(std::string_view name) const;

  const NodeNames& names() const { return names_; }
  NodeNames take() && { return std::move(names_); }
  /// Bytes of the names and of the table.
  std::uint64_t bytes() const { return names_.bytes() + table_.size() * sizeof(NodeId); }

 private:
  /// The place of the name in the table, or the empty place for it.
  std::size_t place_of(std::string_view name) const;
  void grow();

  NodeNames names_;
  std::vector<NodeId> table_;  // open addressing; 0: empty, otherwise the number of a name plus 1
};

}  // namespace ngf::detail
