#pragma once

#include "io/input.hpp"
#include "ngf/io/tensors.hpp"

namespace ngf::io {

/// The checksum of the tensors and of the metadata beside itself.
std::string checksum_of(const TensorFile& file);

/// The same from existing bytes.
TensorFile read_tensors(const Input& input);

}  // namespace ngf::io
