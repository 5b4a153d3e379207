#pragma once

#include <string>
#include <string_view>

#include "io/input.hpp"
#include "ngf/io/tensors.hpp"

namespace ngf::io {

/// The key of the header that names no tensor.
inline constexpr std::string_view tensor_metadata_key = "__metadata__";

/// The key of the metadata under which `write_tensors` keeps the checksum of the rest.
inline constexpr std::string_view tensor_checksum_key = "ngf-sha256";

/// The checksum of the tensors and of the metadata beside itself.
std::string checksum_of(const TensorFile& file);

/// The same from existing bytes.
TensorFile read_tensors(const Input& input);

}  // namespace ngf::io
