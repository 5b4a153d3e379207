#include "filter_flags.hpp"

#include "base/names.hpp"

namespace ngf::cli {

CLI::Option* FilterFlags::add_taps_to(CLI::App& verb) {
  return add_numbers(verb, "--taps", taps, "h_0,h_1,...: what hops 0, 1, ... count");
}

CLI::Option* FilterFlags::add_to(CLI::App& verb) {
  CLI::Option* const option = add_taps_to(verb);
  verb.add_option("--kind", kind_,
                  "Kind of filter: on shells, or on powers of a graph shift operator")
      ->check(CLI::IsMember({"neighborhood", "polynomial"}))
      ->capture_default_str();
  add_matrices_to(verb);
  return option;
}

void FilterFlags::add_matrices_to(CLI::App& verb) {
  verb.add_option("--shift", shift_, "Graph shift operator of a polynomial filter")
      ->check(CLI::IsMember(detail::names_of(shift_name, Shift::gcn)))
      ->capture_default_str();
  verb.add_option("--normalize", normalize_, "Normalisation of the shells")
      ->check(CLI::IsMember(detail::names_of(normalization_name, Normalization::row)))
      ->capture_default_str();
}

Shift FilterFlags::shift() const { return detail::kind_named(shift_, shift_name, Shift::gcn); }

Normalization FilterFlags::normalization() const {
  return detail::kind_named(normalize_, normalization_name, Normalization::row);
}

}  // namespace ngf::cli
