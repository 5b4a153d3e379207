#pragma once

#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Conversion between the values of an enum and their names.
namespace ngf::detail {

/// The name of a kind, of those in the order of the kinds.
template <typename Kind>
std::string_view name_in(std::initializer_list<std::string_view> names, Kind kind) {
  return std::data(names)[static_cast<std::size_t>(kind)];
}

/// The names of all kinds, up to the last of them.
template <typename Kind>
std::vector<std::string> names_of(std::string_view (*name_of)(Kind), Kind last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.emplace_back(name_of(static_cast<Kind>(i)));
  }
  return names;
}

/// The kind of that name; nothing where there is none.
template <typename Kind>
std::optional<Kind> find_kind(std::string_view name, std::string_view (*name_of)(Kind), Kind last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return {};
}

/// The kind of that name, which is known to be one.
template <typename Kind>
Kind kind_named(std::string_view name, std::string_view (*name_of)(Kind), Kind last) {
  return find_kind(name, name_of, last).value();
}

}  // namespace ngf::detail
