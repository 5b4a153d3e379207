#pragma once

#include <string>

#include "common.hpp"
#include "ngf/shells.hpp"

namespace ngf::cli {

/// `--storage`, one of the names of Storage.
CLI::Option* add_storage_flag(CLI::App& verb, std::string& storage);
Storage storage_named(const std::string& name);
/// `--min-paths`.
CLI::Option* add_min_paths_flag(CLI::App& verb, int& min_paths);

/// The flags of every verb that builds shells: `--hops`, `--storage`, `--engine`, `--min-paths`.
class ShellFlags {
 public:
  void add_to(CLI::App& verb);
  /// All but `--storage`, where nothing is stored.
  void add_streamed_to(CLI::App& verb);

  bool given() const { return !hops_.empty(); }
  ShellOptions options(const Common& common) const;

 private:
  std::string hops_;
  std::string storage_ = "auto";
  std::string engine_ = "auto";
  int min_paths_ = 1;
};

}  // namespace ngf::cli
