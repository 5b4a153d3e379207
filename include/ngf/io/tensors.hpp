#pragma once

#include <filesystem>

#include "ngf/tensor.hpp"

/// Named tensors in the `safetensors` format, which stores trained models and cannot contain code.

namespace ngf {

/// Writes the tensors as float32, sorted by name, and their checksum into the metadata: equal
/// content gives identical files. The file appears whole or not at all. Throws Error for a shape
/// that its values do not fill, for two tensors of one name, and for texts that are not UTF-8.
void write_tensors(const std::filesystem::path& path, const TensorFile& file);

/// Reads tensors of float32, float64, float16 and bfloat16, in the order in which they lie in the
/// file. A checksum that `write_tensors` has left is compared where all numbers are float32. Throws
/// Error that names the place of whatever is wrong with it.
TensorFile read_tensors(const std::filesystem::path& path);

}  // namespace ngf
