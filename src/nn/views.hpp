#pragma once

#include <algorithm>

#include "base/parallel.hpp"
#include "linalg/product.hpp"
#include "nn/dropout.hpp"

/// Columns of matrices, of some runs.
namespace ngf::nn {

/// Some of the columns.
template <typename View>
View columns(View view, std::size_t first, std::size_t count) {
  view.data += first;
  view.cols = static_cast<Eigen::Index>(count);
  return view;
}

/// The columns of one run in what some have side by side.
template <typename View>
View among(View some, const Runs& run, const Runs& runs) {
  some.cols /= static_cast<Eigen::Index>(runs.count);
  some.data += some.cols * static_cast<Eigen::Index>(run.first - runs.first);
  return some;
}

template <typename Body>
void for_each_run(const Runs& runs, const Body& body) {
  for (std::size_t i = 0; i < runs.count; ++i) body(Runs{runs.first + i, 1});
}

/// Calls body(piece, begin, end) for pieces of so many rows, in parallel.
template <typename Body>
void for_each_rows(std::size_t rows, std::size_t at_once, int threads, const Body& body) {
  parallel_for((rows + at_once - 1) / at_once, threads, [&](std::size_t piece) {
    body(piece, piece * at_once, std::min(rows, (piece + 1) * at_once));
  });
}

/// The transpose.
template <typename Real>
detail::ConstView<Real> turned(detail::ConstView<Real> view) {
  view.transposed = !view.transposed;
  return view;
}

/// As filters take them.
template <typename Real>
SignalsView<Real> signals(const detail::ConstView<Real>& view) {
  using Mapped = Eigen::Map<const SignalsOf<Real>, 0, Eigen::OuterStride<>>;
  return Mapped(view.data, view.rows, view.cols, Eigen::OuterStride<>(view.stride));
}
template <typename Real>
SignalsSlice<Real> signals(const detail::MutableView<Real>& view) {
  using Mapped = Eigen::Map<SignalsOf<Real>, 0, Eigen::OuterStride<>>;
  return Mapped(view.data, view.rows, view.cols, Eigen::OuterStride<>(view.stride));
}

}  // namespace ngf::nn
