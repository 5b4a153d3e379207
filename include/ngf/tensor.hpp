#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ngf {

/// A named array of numbers with a shape: a parameter of a trained model.
struct Tensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< rows first; empty for a single number
  std::vector<float> values;         ///< in C order
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;
  friend bool operator==(const TensorFile&, const TensorFile&) = default;
};

}  // namespace ngf
