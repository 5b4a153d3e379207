#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ngf/progress.hpp"

/// Named data sets: where to find and download them.

namespace ngf::io {

struct KnownFile {
  std::string name;
  std::uint64_t size = 0;
  std::string_view sha256;
};

struct KnownDataset {
  std::string name;         ///< as a command line gives it, such as "planetoid:cora"
  std::string_view folder;  ///< below a folder of data sets
  std::string_view url;     ///< of the folder that holds the files
  std::array<KnownFile, 8> files;

  std::uint64_t bytes() const;
};

std::span<const KnownDataset> known_datasets();

/// Throws Error that lists the known names when `name` is none of them.
const KnownDataset& known_dataset(std::string_view name);

/// The folder that holds all files of the data set: of each DIR in `folders`, DIR/planetoid and
/// then DIR itself are tried. Nothing when there is none; an empty path in `folders` is skipped.
std::optional<std::filesystem::path> locate_dataset(std::string_view name,
                                                    std::span<const std::filesystem::path> folders);

/// The same. Throws Error that says where it was looked for, when there is none.
std::filesystem::path find_dataset(std::string_view name,
                                   std::span<const std::filesystem::path> folders);

/// The first file of the data set in `folder` whose size or SHA-256 is not that of the catalogue.
std::optional<std::filesystem::path> find_wrong_file(std::string_view name,
                                                     const std::filesystem::path& folder,
                                                     const Progress* progress = nullptr);

/// The user's cache folder by the XDG base directory specification, from the values of the
/// variables XDG_CACHE_HOME and HOME (null if unset). Empty if neither is usable.
std::filesystem::path cache_folder(const char* xdg_cache_home, const char* home);

/// Downloads what `folder`, a folder of data sets, lacks of a data set; existing files with the
/// right checksum are kept. `base_url` replaces the address of the catalogue when it is not empty.
/// Returns the folder that holds the files.
std::filesystem::path fetch_dataset(std::string_view name, const std::filesystem::path& folder,
                                    const std::string& base_url = {}, Progress* progress = nullptr);

}  // namespace ngf::io
