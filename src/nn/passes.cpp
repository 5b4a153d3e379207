#include "nn/passes.hpp"

#include <algorithm>

#include "detail/parallel.hpp"

namespace ngf::nn {

namespace {

/// Rows of one piece of work; sums over rows are added up piece by piece, whoever did them.
constexpr std::size_t rows_at_once = 64;

/// Calls body(piece, begin, end) for all pieces of the rows, in parallel.
template <typename Body>
void for_each_piece(std::size_t rows, int threads, const Body& body) {
  detail::parallel_for((rows + rows_at_once - 1) / rows_at_once, threads, [&](std::size_t piece) {
    body(piece, piece * rows_at_once, std::min(rows, (piece + 1) * rows_at_once));
  });
}

template <typename Real>
void drop(const std::uint16_t* words, std::uint32_t threshold, Real scale, std::size_t count,
          Real* row) {
  for (std::size_t f = 0; f < count; ++f) row[f] = words[f] >= threshold ? row[f] * scale : Real{0};
}

}  // namespace

template <typename Real>
void activate(SignalsOf<Real>& z, std::span<const Real> bias, bool relu, const Masks* masks,
              std::size_t layer, std::size_t runs, int threads) {
  const auto rows = static_cast<std::size_t>(z.rows());
  const auto cols = static_cast<std::size_t>(z.cols());
  const std::size_t width = cols / runs;
  if (bias.empty() && !relu) return;
  for_each_piece(rows, threads, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<std::uint16_t> words(masks != nullptr ? width : 0);
    for (std::size_t u = begin; u < end; ++u) {
      Real* const row = z.data() + u * cols;
      if (!bias.empty()) {
        for (std::size_t f = 0; f < cols; ++f) row[f] += bias[f];
      }
      if (relu) {
        for (std::size_t f = 0; f < cols; ++f) row[f] = row[f] > 0 ? row[f] : Real{0};
      }
      for (std::size_t r = 0; masks != nullptr && r < runs; ++r) {
        masks->words(r, layer, u, rows, width, words.data());
        drop(words.data(), masks->threshold(r), static_cast<Real>(masks->scale(r)), width,
             row + r * width);
      }
    }
  });
}

template <typename Real>
void deactivate(SignalsOf<Real>& g, const SignalsOf<Real>* outputs, const Masks* masks,
                std::span<Real> by_bias, std::size_t runs, int threads) {
  const auto rows = static_cast<std::size_t>(g.rows());
  const auto cols = static_cast<std::size_t>(g.cols());
  const std::size_t width = cols / runs;
  if (outputs == nullptr && by_bias.empty()) return;
  const std::size_t pieces = (rows + rows_at_once - 1) / rows_at_once;
  std::vector<Real> sums(by_bias.empty() ? 0 : pieces * cols, Real{0});
  for_each_piece(rows, threads, [&](std::size_t piece, std::size_t begin, std::size_t end) {
    for (std::size_t u = begin; u < end; ++u) {
      Real* const row = g.data() + u * cols;
      // What is not 0 was neither cut off nor dropped.
      for (std::size_t r = 0; outputs != nullptr && r < runs; ++r) {
        const auto scale = masks != nullptr ? static_cast<Real>(masks->scale(r)) : Real{1};
        const Real* const out = outputs->data() + u * cols + r * width;
        Real* const of_run = row + r * width;
        for (std::size_t f = 0; f < width; ++f)
          of_run[f] = out[f] > 0 ? of_run[f] * scale : Real{0};
      }
      if (by_bias.empty()) continue;
      Real* const sum = sums.data() + piece * cols;
      for (std::size_t f = 0; f < cols; ++f) sum[f] += row[f];
    }
  });
  std::fill(by_bias.begin(), by_bias.end(), Real{0});
  for (std::size_t i = 0; i < sums.size(); ++i) by_bias[i % cols] += sums[i];
}

template void activate(SignalsOf<float>&, std::span<const float>, bool, const Masks*, std::size_t,
                       std::size_t, int);
template void activate(SignalsOf<double>&, std::span<const double>, bool, const Masks*, std::size_t,
                       std::size_t, int);
template void deactivate(SignalsOf<float>&, const SignalsOf<float>*, const Masks*, std::span<float>,
                         std::size_t, int);
template void deactivate(SignalsOf<double>&, const SignalsOf<double>*, const Masks*,
                         std::span<double>, std::size_t, int);

}  // namespace ngf::nn
