#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

#include "base/fail.hpp"
#include "base/names.hpp"

/// The parts of the module `_engine`, one file each.
namespace ngf::python {

void bind_graphs(nanobind::module_& module);
void bind_shells(nanobind::module_& module);
void bind_filters(nanobind::module_& module);
void bind_features(nanobind::module_& module);
void bind_data(nanobind::module_& module);
void bind_classify(nanobind::module_& module);
void bind_denoise(nanobind::module_& module);
void bind_reproduce(nanobind::module_& module);
void bind_communicator(nanobind::module_& module);

/// The kind of that name. Throws Error that lists the names where there is none.
template <typename Kind>
Kind kind_of(std::string_view what, const std::string& name, std::string_view (*name_of)(Kind),
             Kind last) {
  if (const auto kind = detail::find_kind(name, name_of, last)) return *kind;
  detail::fail("{} is \"{}\"; it must be one of {}", what, name,
               fmt::join(detail::names_of(name_of, last), ", "));
}

/// A property that holds one of several kinds, by its name.
template <typename Owner, typename Kind>
void bind_kind(nanobind::class_<Owner>& type, const char* name, Kind Owner::*member,
               std::string_view (*name_of)(Kind), Kind last) {
  type.def_prop_rw(
      name, [=](const Owner& own) { return std::string(name_of(own.*member)); },
      [=](Owner& own, const std::string& text) {
        own.*member = kind_of(name, text, name_of, last);
      });
}

}  // namespace ngf::python
