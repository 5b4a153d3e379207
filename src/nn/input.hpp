#pragma once

#include <utility>

#include "base/aligned.hpp"
#include "kernels/gemm.hpp"
#include "linalg/costs.hpp"
#include "linalg/product.hpp"
#include "ngf/nn/network.hpp"
#include "nn/costs.hpp"
#include "nn/dropout.hpp"
#include "nn/views.hpp"

namespace ngf::nn {

using detail::ConstView;
using detail::Into;
using detail::MutableView;

/// Rows that a thread takes at a time.
inline constexpr std::size_t rows_at_once = 32;

template <typename Body>
void for_each_row(std::size_t rows, int threads, const Body& body) {
  for_each_rows(rows, rows_at_once, threads, [&](std::size_t, std::size_t begin, std::size_t end) {
    auto visit = body();
    for (std::size_t row = begin; row < end; ++row) visit(row);
  });
}

/// Products with the features X, N x F, of R runs at once: X [B_1 .. B_R] and X' [G_1 .. G_R]. With
/// dropout each run has an X of its own, of which entries are 0.
template <typename Real>
class Input {
 public:
  Input(SignalsOf<Real> dense, std::size_t runs, int threads) : runs_(runs), threads_(threads) {
    hold(std::move(dense));
  }
  Input(FeaturesOf<Real> features, std::size_t runs, int threads) : runs_(runs), threads_(threads) {
    if (auto* const dense = std::get_if<SignalsOf<Real>>(&features)) {
      hold(std::move(*dense));
    } else {
      sparse_ = true;
      compress(std::get<Sparse>(features));
    }
  }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  bool sparse() const { return sparse_; }
  /// Those that are multiplied.
  std::size_t entries() const { return sparse_ ? by_row_.index.size() : rows_ * cols_; }

  /// Products until the next call are with these masks, those of layer 0; with none where null.
  void draw(const Masks* masks) {
    masks_ = masks;
    if (masks == nullptr || !sparse_) return;
    kept_.resize(by_row_.index.size() * runs_);
    for_each_row(rows_, threads_, [&] {
      return [&, words = std::vector<std::uint16_t>()](std::size_t u) mutable {
        const std::size_t begin = by_row_.offsets[u];
        const std::size_t count = by_row_.offsets[u + 1] - begin;
        words.resize(count);
        for (std::size_t r = 0; r < runs_; ++r) {
          masks->words(r, 0, u, rows_, count, words.data());
          for (std::size_t e = 0; e < count; ++e) {
            kept_[(begin + e) * runs_ + r] = words[e] >= masks->threshold(r) ? 1 : 0;
          }
        }
      };
    });
  }

  /// C = X B, or C += X B, of some runs: B is F x (runs W), C is N x (runs W).
  void multiply(const Runs& runs, const ConstView<Real>& b, const MutableView<Real>& c,
                Into into) const {
    if (sparse_) {
      multiply_rows(by_row_, runs, b, c, into == Into::add);
    } else {
      multiply_dense(false, runs, b, c, into);
    }
  }

  /// C = X' G; G is N x (runs W), C is F x (runs W).
  void multiply_transpose(const Runs& runs, const ConstView<Real>& g,
                          const MutableView<Real>& c) const {
    if (sparse_) {
      multiply_rows(by_column_, runs, g, c, false);
    } else {
      multiply_dense(true, runs, g, c, Into::replace);
    }
  }

 private:
  /// Compressed rows: row i has the columns index[offsets[i]] up to index[offsets[i + 1]]. `place`
  /// says where each entry is in X; empty where that is here.
  struct Rows {
    std::vector<std::size_t> offsets;
    std::vector<std::int32_t> index;
    std::vector<Real> values;
    std::vector<std::uint32_t> place;
  };
  using Sparse = Eigen::SparseMatrix<Real, Eigen::RowMajor, std::int64_t>;

  void compress(const Sparse& features) {
    rows_ = static_cast<std::size_t>(features.rows());
    cols_ = static_cast<std::size_t>(features.cols());
    const auto nonzeros = static_cast<std::size_t>(features.nonZeros());
    by_row_.offsets.assign(1, 0);
    by_row_.index.reserve(nonzeros);
    by_row_.values.reserve(nonzeros);
    by_column_.offsets.assign(cols_ + 1, 0);
    for (Eigen::Index u = 0; u < features.outerSize(); ++u) {
      for (typename Sparse::InnerIterator entry(features, u); entry; ++entry) {
        by_row_.index.push_back(static_cast<std::int32_t>(entry.col()));
        by_row_.values.push_back(entry.value());
        ++by_column_.offsets[static_cast<std::size_t>(entry.col()) + 1];
      }
      by_row_.offsets.push_back(by_row_.index.size());
    }
    for (std::size_t f = 0; f < cols_; ++f) by_column_.offsets[f + 1] += by_column_.offsets[f];
    std::vector<std::size_t> next(by_column_.offsets.begin(), by_column_.offsets.end() - 1);
    const std::size_t entries = by_row_.index.size();
    by_column_.index.resize(entries);
    by_column_.values.resize(entries);
    by_column_.place.resize(entries);
    for (std::size_t u = 0; u < rows_; ++u) {
      for (std::size_t e = by_row_.offsets[u]; e < by_row_.offsets[u + 1]; ++e) {
        const std::size_t to = next[static_cast<std::size_t>(by_row_.index[e])]++;
        by_column_.index[to] = static_cast<std::int32_t>(u);
        by_column_.values[to] = by_row_.values[e];
        by_column_.place[to] = static_cast<std::uint32_t>(e);
      }
    }
  }

  void hold(SignalsOf<Real> dense) {
    dense_ = std::move(dense);
    rows_ = static_cast<std::size_t>(dense_.rows());
    cols_ = static_cast<std::size_t>(dense_.cols());
  }

  void multiply_rows(const Rows& rows, const Runs& runs, const ConstView<Real>& b,
                     const MutableView<Real>& c, bool add) const {
    const auto width = static_cast<std::size_t>(c.cols);
    const auto c_stride = static_cast<std::size_t>(c.stride);
    const auto sum_rows = kernels::row_kernels<Real>().sum_rows;
    // A panel of B stays in the caches; with dropout it is a run's.
    const std::size_t panel =
        masks_ != nullptr ? width / runs.count : std::min(costs::columns_of_sparse, width);
    for (std::size_t f = 0; f < width; f += panel) {
      const std::size_t count = std::min(panel, width - f);
      const Real* const from = packed(b, f, count);
      for_each_row(static_cast<std::size_t>(c.rows), threads_, [&] {
        return [&, kept = Kept()](std::size_t row) mutable {
          Real* const to = c.data + row * c_stride + f;
          kernels::RowSum<Real> sum{.b = from, .stride = count, .own = add ? to : nullptr};
          if (masks_ != nullptr) {
            keep(rows, row, runs.first + f / panel, kept);
            sum.values = kept.values.data();
            sum.columns = kept.index.data();
            sum.count = kept.index.size();
          } else {
            const std::size_t begin = rows.offsets[row];
            sum.values = rows.values.data() + begin;
            sum.columns = rows.index.data() + begin;
            sum.count = rows.offsets[row + 1] - begin;
          }
          sum_rows(sum, count, to);
        };
      });
    }
  }

  /// Columns of B, its rows one behind the other, until the next call.
  /// Rows far apart would fall into few sets of the caches.
  const Real* packed(const ConstView<Real>& b, std::size_t first, std::size_t count) const {
    const auto stride = static_cast<std::size_t>(b.stride);
    if (stride == count) return b.data + first;
    scratch_.resize(static_cast<std::size_t>(b.rows) * count);
    for_each_row(static_cast<std::size_t>(b.rows), threads_, [&] {
      return [&](std::size_t row) {
        std::copy_n(b.data + row * stride + first, count, scratch_.data() + row * count);
      };
    });
    return scratch_.data();
  }

  /// A row of one run, without what is dropped.
  struct Kept {
    std::vector<std::int32_t> index;
    std::vector<Real> values;
  };
  void keep(const Rows& rows, std::size_t row, std::size_t run, Kept& kept) const {
    const std::size_t begin = rows.offsets[row];
    const std::size_t end = rows.offsets[row + 1];
    kept.index.resize(end - begin);
    kept.values.resize(end - begin);
    const auto scale = static_cast<Real>(masks_->scale(run));
    std::size_t count = 0;
    for (std::size_t e = begin; e < end; ++e) {
      const std::size_t place = rows.place.empty() ? e : rows.place[e];
      kept.index[count] = rows.index[e];
      kept.values[count] = rows.values[e] * scale;
      count += kept_[place * runs_ + run];
    }
    kept.index.resize(count);
    kept.values.resize(count);
  }

  /// C = X B or C = X' B of dense features.
  void multiply_dense(bool transposed, const Runs& runs, const ConstView<Real>& b,
                      const MutableView<Real>& c, Into into) const {
    const auto either = [&](const ConstView<Real>& x) { return transposed ? turned(x) : x; };
    // Narrow and small products are summed in another order than others, so they must be so in a
    // batch too: see `multiply`.
    constexpr std::size_t narrow = 64;
    const std::size_t width = static_cast<std::size_t>(c.cols) / runs.count;
    const bool alike =
        width >= narrow && static_cast<std::size_t>(c.rows) * width > linalg::costs::small_product;
    if (masks_ == nullptr && alike) {
      detail::multiply(either(detail::view(dense_)), b, c, into, threads_);
      return;
    }
    for_each_run(runs, [&](const Runs& run) {
      const ConstView<Real> x = masks_ != nullptr ? dropped(run.first) : detail::view(dense_);
      detail::multiply(either(x), among(b, run, runs), among(c, run, runs), into, threads_);
    });
  }

  /// The dense X of run r with its mask, until the next call.
  ConstView<Real> dropped(std::size_t r) const {
    scratch_.resize(rows_ * cols_);
    const auto scale = static_cast<Real>(masks_->scale(r));
    for_each_row(rows_, threads_, [&] {
      return [&, words = std::vector<std::uint16_t>(cols_)](std::size_t u) mutable {
        masks_->words(r, 0, u, rows_, cols_, words.data());
        const Real* const from = dense_.data() + u * cols_;
        Real* const to = scratch_.data() + u * cols_;
        for (std::size_t f = 0; f < cols_; ++f) {
          to[f] = words[f] >= masks_->threshold(r) ? from[f] * scale : Real{0};
        }
      };
    });
    return {scratch_.data(), dense_.rows(), dense_.cols(), dense_.cols()};
  }

  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t runs_;
  int threads_;
  bool sparse_ = false;
  SignalsOf<Real> dense_;
  Rows by_row_;
  Rows by_column_;
  const Masks* masks_ = nullptr;
  std::vector<std::uint8_t> kept_;       // of sparse X: [entry * runs + r]
  mutable AlignedVector<Real> scratch_;  // a dense X with a mask, or columns of B
};

}  // namespace ngf::nn
