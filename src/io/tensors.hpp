#pragma once

#include <string_view>

#include "io/input.hpp"
#include "ngf/io/tensors.hpp"

namespace ngf::io {

/// The key of the header that names no tensor.
inline constexpr std::string_view tensor_metadata_key = "__metadata__";

/// The same from bytes that are there already.
TensorFile read_tensors(const Input& input);

}  // namespace ngf::io
