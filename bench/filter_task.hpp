#pragma once

#include <algorithm>

#include "base/aligned.hpp"
#include "ngf/filter.hpp"
#include "ngf/random.hpp"

/// What benchmarks of filters have in common.
namespace ngf::bench {

inline Taps some_taps(std::uint32_t count) {
  std::vector<double> taps{1};
  while (taps.size() < count) taps.push_back(-0.8 * taps.back());
  return {taps};
}

/// Signals on cache lines, which all contenders are faster with.
class AlignedSignals {
 public:
  AlignedSignals(NodeId nodes, int width)
      : memory_(std::size_t{nodes} * static_cast<std::size_t>(width)),
        nodes_(nodes),
        width_(width) {
    Random random(1);
    for (float& value : memory_) value = static_cast<float>(random.normal());
  }
  Eigen::Map<SignalsOf<float>> matrix() { return {memory_.data(), nodes_, width_}; }

 private:
  detail::AlignedVector<float> memory_;
  Eigen::Index nodes_, width_;
};

/// The largest error of y, over the largest value, on some rows that are computed in double.
inline double error_of(const Shells& shells, const Taps& taps, const SignalsView<float>& x,
                       const SignalsView<float>& y) {
  const NodeId step = std::max<NodeId>(1, shells.nodes() / 500);
  double error = 0;
  double largest = 0;
  for (NodeId u = 0; u < shells.nodes(); u += step) {
    Eigen::RowVectorXd expected = Eigen::RowVectorXd::Zero(x.cols());
    for (std::uint32_t k = 0; k < taps.count(); ++k) {
      for (const NodeId v : shells.columns(u, k)) expected += taps(u, k) * x.row(v).cast<double>();
    }
    error = std::max(error, (y.row(u).cast<double>() - expected).cwiseAbs().maxCoeff());
    largest = std::max(largest, expected.cwiseAbs().maxCoeff());
  }
  return error / largest;
}

}  // namespace ngf::bench
