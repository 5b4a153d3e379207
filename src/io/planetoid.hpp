#pragma once

#include <array>

#include "io/input.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// The files are called ind.NAME.ENDING.
inline constexpr std::array<std::string_view, 8> planetoid_endings{
    "x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};

inline std::string planetoid_file(std::string_view name, std::string_view ending) {
  return std::string("ind.").append(name).append(".").append(ending);
}

struct PlanetoidFiles {
  const Input& x;
  const Input& y;
  const Input& tx;
  const Input& ty;
  const Input& allx;
  const Input& ally;
  const Input& graph;
  const Input& test_index;
};

/// Puts the data set together. Throws Error, naming the file, for what does not fit.
ReadResult read_planetoid(const PlanetoidFiles& files, const ReadOptions& options = {});

}  // namespace ngf::io
