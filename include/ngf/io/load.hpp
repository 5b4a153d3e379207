#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads the data set called `name`, such as "planetoid:cora", from `folder` (see `find_dataset`).
/// Throws Error when its files are not those of the catalogue; with ReadOptions::lenient it warns.
ReadResult read_named_dataset(const std::string& name, const std::filesystem::path& folder,
                              const ReadOptions& options = {});

/// What a user names: a synthetic graph (see `generate_from_spec`, with the seed as its
/// default), a data set that has a name, looked for in `folders` (see `find_dataset`), or a file.
ReadResult load(const std::string& name, const ReadOptions& options,
                std::span<const std::filesystem::path> folders, std::uint64_t seed = 1);

}  // namespace ngf::io
