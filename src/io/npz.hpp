#pragma once

#include <filesystem>

#include "io/input.hpp"
#include "ngf/io/read.hpp"

namespace ngf::io {

/// Reads a graph, and what is known about its nodes, from a ZIP archive of .npy members. The layout
/// is told by the names of the members.
ReadResult read_npz(const Input& input, const ReadOptions& options = {});

/// Writes `dataset` in the layout `format`, one of the npz_ ones. npz_scipy has room for the graph
/// alone; the others hold everything.
void write_npz(const std::filesystem::path& path, const Dataset& dataset, Format format);

}  // namespace ngf::io
