#pragma once

#include <string>
#include <string_view>
#include <vector>

/// For whoever chooses one of several kinds by its name.
namespace ngf::detail {

/// The names of all kinds, up to the last of them.
template <typename Kind>
std::vector<std::string> names_of(std::string_view (*name_of)(Kind), Kind last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.emplace_back(name_of(static_cast<Kind>(i)));
  }
  return names;
}

/// The kind of that name, which is known to be one.
template <typename Kind>
Kind kind_named(const std::string& name, std::string_view (*name_of)(Kind), Kind last) {
  int i = 0;
  while (static_cast<Kind>(i) != last && name_of(static_cast<Kind>(i)) != name) ++i;
  return static_cast<Kind>(i);
}

}  // namespace ngf::detail
