#pragma once

#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/filter.hpp"

namespace ngf::cli {

/// The flags of every verb that takes a filter: `--taps`, `--kind`, `--shift`, `--normalize`.
class FilterFlags {
 public:
  /// Returns the option `--taps`.
  CLI::Option* add_to(CLI::App& verb);
  /// `--taps` alone.
  CLI::Option* add_taps_to(CLI::App& verb);
  /// `--shift` and `--normalize` alone.
  void add_matrices_to(CLI::App& verb);

  bool polynomial() const { return kind_ == "polynomial"; }
  Shift shift() const;
  Normalization normalization() const;

  std::vector<double> taps;

 private:
  std::string kind_ = "neighborhood";
  std::string shift_ = "adjacency";
  std::string normalize_ = "none";
};

}  // namespace ngf::cli
