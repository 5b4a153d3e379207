#pragma once

#include "ngf/dataset.hpp"
#include "ngf/nn/network.hpp"

namespace ngf::tasks {

/// The features as a network takes them, each row divided by the sum of its sizes where asked;
/// sparse where most of them are 0, however the data set has them.
/// Throws Error where there are none, or one is no number.
FeaturesOf<float> features_of(const Dataset& dataset, bool normalize);

FeaturesOf<float> rows_of(const FeaturesOf<float>& features, const std::vector<NodeId>& rows);

/// Bytes of the features of a data set or of a network.
template <typename Features>
std::uint64_t feature_bytes(const Features& features) {
  return std::visit(
      []<typename Matrix>(const Matrix& x) -> std::uint64_t {
        if constexpr (requires {
                        x.nonZeros();
                        x.outerIndexPtr();
                      }) {
          return static_cast<std::uint64_t>(x.nonZeros()) * (sizeof(float) + sizeof(int)) +
                 static_cast<std::uint64_t>(x.outerSize()) * sizeof(int);
        } else if constexpr (requires { x.size(); }) {
          return static_cast<std::uint64_t>(x.size()) * sizeof(float);
        } else {
          return 0;
        }
      },
      features);
}

}  // namespace ngf::tasks
