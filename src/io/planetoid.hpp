#pragma once

#include "io/input.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// The eight files of a Planetoid data set.
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
