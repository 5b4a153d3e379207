#pragma once

#include "base/parallel.hpp"
#include "linalg/product.hpp"
#include "nn/dropout.hpp"

/// Columns of matrices, of some runs.
namespace ngf::nn {

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

/// Calls body(piece, begin, end) for pieces of `at_once` rows, in parallel.
template <typename Body>
void for_each_rows(std::size_t rows, std::size_t at_once, int threads, const Body& body) {
  parallel_for((rows + at_once - 1) / at_once, threads, [&](std::size_t piece) {
    body(piece, piece * at_once, std::min(rows, (piece + 1) * at_once));
  });
}

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

// ---- What is done entry by entry, in one pass over the columns of some runs ----

/// Rows of one piece of work. Sums over rows are added up in the order of pieces, on any thread.
inline constexpr std::size_t rows_in_piece = 64;

/// Selects a factor, not a result: that is done without branches.
template <typename Real>
void drop(const std::uint16_t* words, std::uint32_t threshold, Real scale, std::size_t count,
          Real* row) {
  for (std::size_t f = 0; f < count; ++f) row[f] *= words[f] >= threshold ? scale : Real{0};
}

/// Z becomes drop(act(Z + b)): `bias` has an entry for each column, or is empty; `relu` says
/// whether act is max(., 0); `masks`, those of the input of `layer`, may be null.
template <typename Real>
void activate(const detail::MutableView<Real>& z, std::span<const Real> bias, bool relu,
              const Masks* masks, std::size_t layer, const Runs& runs, int threads) {
  const auto rows = static_cast<std::size_t>(z.rows);
  const auto cols = static_cast<std::size_t>(z.cols);
  const std::size_t width = cols / runs.count;
  if (bias.empty() && !relu) return;
  for_each_rows(rows, rows_in_piece, threads, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<std::uint16_t> words(masks != nullptr ? width : 0);
    for (std::size_t u = begin; u < end; ++u) {
      Real* const row = z.data + u * static_cast<std::size_t>(z.stride);
      if (!bias.empty()) {
        for (std::size_t f = 0; f < cols; ++f) row[f] += bias[f];
      }
      if (relu) {
        for (std::size_t f = 0; f < cols; ++f) row[f] = row[f] > 0 ? row[f] : Real{0};
      }
      for (std::size_t i = 0; masks != nullptr && i < runs.count; ++i) {
        const std::size_t r = runs.first + i;
        masks->words(r, layer, u, rows, width, words.data());
        drop(words.data(), masks->threshold(r), static_cast<Real>(masks->scale(r)), width,
             row + i * width);
      }
    }
  });
}

/// The reverse: `g`, the gradient by `outputs` = drop(max(Z + b, 0)), becomes the gradient by Z,
/// and `by_bias`, where it is not empty, its sums over the rows. Null `outputs` stand for Z + b.
template <typename Real>
void deactivate(const detail::MutableView<Real>& g, const detail::ConstView<Real>* outputs,
                const Masks* masks, std::span<Real> by_bias, const Runs& runs, int threads) {
  const auto rows = static_cast<std::size_t>(g.rows);
  const auto cols = static_cast<std::size_t>(g.cols);
  const std::size_t width = cols / runs.count;
  if (outputs == nullptr && by_bias.empty()) return;
  const std::size_t pieces = (rows + rows_in_piece - 1) / rows_in_piece;
  std::vector<Real> sums(by_bias.empty() ? 0 : pieces * cols, Real{0});
  for_each_rows(
      rows, rows_in_piece, threads, [&](std::size_t piece, std::size_t begin, std::size_t end) {
        for (std::size_t u = begin; u < end; ++u) {
          Real* const row = g.data + u * static_cast<std::size_t>(g.stride);
          // What is not 0 was neither cut off nor dropped.
          for (std::size_t i = 0; outputs != nullptr && i < runs.count; ++i) {
            const auto scale =
                masks != nullptr ? static_cast<Real>(masks->scale(runs.first + i)) : Real{1};
            const Real* const out =
                outputs->data + u * static_cast<std::size_t>(outputs->stride) + i * width;
            Real* const of_run = row + i * width;
            for (std::size_t f = 0; f < width; ++f) of_run[f] *= out[f] > 0 ? scale : Real{0};
          }
          if (by_bias.empty()) continue;
          Real* const sum = sums.data() + piece * cols;
          for (std::size_t f = 0; f < cols; ++f) sum[f] += row[f];
        }
      });
  std::fill(by_bias.begin(), by_bias.end(), Real{0});
  for (std::size_t piece = 0; piece * cols < sums.size(); ++piece) {
    for (std::size_t f = 0; f < cols; ++f) by_bias[f] += sums[piece * cols + f];
  }
}

}  // namespace ngf::nn
