#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "ngf/io/read.hpp"

namespace ngf::cli {

/// The argument GRAPH and the flags that say how to read it.
class GraphSource {
 public:
  /// GRAPH, or another name for it, `--directed`, `--largest-component`, `--format`, `--ids`,
  /// ...
  void add_to(CLI::App& verb, bool required = true, const std::string& argument = "GRAPH");

  /// Reads the file, finds the data set or makes the graph. Warnings go to stderr. Of several
  /// processes, only the first reads.
  io::ReadResult load(const Common& common) const;

  const std::string& name() const { return name_; }
  /// Folders of named data sets: `--data`, $NGF_DATA, ./data, the user's cache.
  static std::vector<std::filesystem::path> folders(const std::filesystem::path& first);

 private:
  io::ReadResult load_any(const Common& common, Progress& progress) const;

  std::string name_;
  bool directed_ = false;
  bool largest_component_ = false;
  bool keep_self_loops_ = false;
  bool lenient_ = false;
  std::string format_;
  std::string ids_;
  std::optional<int> base_;
  std::filesystem::path data_;
  std::filesystem::path id_map_;
};

/// The user's cache folder for data sets.
std::filesystem::path user_cache();

}  // namespace ngf::cli
