#include "graph/name_index.hpp"

#include <functional>

namespace ngf::detail {

std::size_t NameIndex::place_of(std::string_view name) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t place = std::hash<std::string_view>()(name) & mask;
  while (table_[place] != 0 && names_[table_[place] - 1] != name) place = (place + 1) & mask;
  return place;
}

void NameIndex::grow() {
  constexpr std::size_t smallest = 16;
  table_.assign(std::max(smallest, 2 * table_.size()), 0);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    table_[place_of(names_[i])] = static_cast<NodeId>(i + 1);
  }
}

NodeId NameIndex::add(std::string_view name) {
  if (2 * (names_.size() + 1) > table_.size()) grow();
  NodeId& entry = table_[place_of(name)];
  if (entry == 0) {
    names_.push_back(name);
    entry = static_cast<NodeId>(names_.size());
  }
  return entry - 1;
}

std::optional<NodeId> NameIndex::find(std::string_view name) const {
  if (table_.empty()) return {};
  const NodeId entry = table_[place_of(name)];
  if (entry == 0) return {};
  return entry - 1;
}

}  // namespace ngf::detail
