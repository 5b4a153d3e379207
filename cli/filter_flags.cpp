#include "filter_flags.hpp"

#include <cmath>

namespace ngf::cli {

namespace {

/// All names of a kind, in its order.
template <typename Kind>
std::vector<std::string> names_of(std::string_view (*name_of)(Kind), Kind last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.emplace_back(name_of(static_cast<Kind>(i)));
  }
  return names;
}

template <typename Kind>
Kind kind_of(const std::string& name, std::string_view (*name_of)(Kind), Kind last) {
  int i = 0;
  while (static_cast<Kind>(i) != last && name_of(static_cast<Kind>(i)) != name) ++i;
  return static_cast<Kind>(i);
}

}  // namespace

CLI::Option* FilterFlags::add_taps_to(CLI::App& verb) {
  return verb.add_option("--taps", taps, "h_0,h_1,...: what hops 0, 1, ... count")->delimiter(',');
}

CLI::Option* FilterFlags::add_to(CLI::App& verb) {
  CLI::Option* const option = add_taps_to(verb);
  verb.add_option("--kind", kind_, "What taps weigh: shells, or powers of a shift")
      ->check(CLI::IsMember({"neighborhood", "polynomial"}))
      ->capture_default_str();
  add_matrices_to(verb);
  return option;
}

void FilterFlags::add_matrices_to(CLI::App& verb) {
  verb.add_option("--shift", shift_, "The matrix of a polynomial filter")
      ->check(CLI::IsMember(names_of(shift_name, Shift::gcn)))
      ->capture_default_str();
  verb.add_option("--normalize", normalize_, "How shells are normalised")
      ->check(CLI::IsMember(names_of(normalization_name, Normalization::row)))
      ->capture_default_str();
}

Shift FilterFlags::shift() const { return kind_of(shift_, shift_name, Shift::gcn); }

Normalization FilterFlags::normalization() const {
  return kind_of(normalize_, normalization_name, Normalization::row);
}

}  // namespace ngf::cli
