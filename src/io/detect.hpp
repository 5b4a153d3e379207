#pragma once

#include <optional>
#include <string>

#include "io/input.hpp"
#include "ngf/io/format.hpp"

namespace ngf::io {

/// Tells the format of a graph by the content of its file, then by its name. All npz layouts are
/// npz_scipy here; `read_npz` tells them apart. Throws Error for what is no graph that we read,
/// saying what it is where that can be told.
Format detect_format(const Input& input);

/// Throws Error for an empty file, and for kinds of files that are neither text nor NumPy's.
void refuse_foreign(const Input& input);

bool is_npy(const Input& input);
bool is_zip(const Input& input);

/// NAME where the file is called ind.NAME.graph, or like another one of a Planetoid data set.
std::optional<std::string> planetoid_name(const std::string& path);

}  // namespace ngf::io
