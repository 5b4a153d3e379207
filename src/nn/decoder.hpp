#pragma once

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "kernels/adam.hpp"
#include "kernels/decoder.hpp"
#include "kernels/gemm.hpp"
#include "ngf/nn/layer_filter.hpp"
#include "ngf/nn/optimizer.hpp"
#include "nn/costs.hpp"

/// The graph decoder x^ = max(H C, 0) v of one signal (Rey, Tenorio, Rozada, Martino and Marques,
/// "Overparametrized deep encoder-decoder schemes for inputs and outputs defined over graphs",
/// 2020): H is a fixed filter, N x N; C, N x F, is learned; v has F fixed entries of 1 / sqrt(F),
/// the second half of them negative.
///
/// By hand, with Z = H C, r the gradient by x^ and * entry by entry:
///
///   x^ = max(Z, 0) v
///   by Z:  G = [Z > 0] * (r v')
///   by C:  H' G
///
/// Columns of C meet each other in x^ alone. So a panel of columns does its whole step (G, H' G,
/// the optimiser, and Z of the next epoch) while it lies in the caches, and panels are what threads
/// share out. x^ is summed over units of columns in their order, so that panels may be cut either
/// way.
namespace ngf::nn {

/// Columns f..f+count-1 of a matrix, which the products and passes take at once.
struct DecoderColumns {
  std::size_t first = 0;
  std::size_t count = 0;
};

inline constexpr std::size_t vector_columns = kernels::decoder_unit;
static_assert(vector_columns % kernels::packed_left_columns == 0);
inline constexpr std::size_t panel_columns = 2 * vector_columns;

inline std::size_t padded(std::int64_t features) {
  return (static_cast<std::size_t>(features) + vector_columns - 1) / vector_columns *
         vector_columns;
}

/// Panels of equal width. Where their number would be odd and threads share them, the last one is
/// halved, so that two threads have as much to do: half a panel takes more than half as long.
inline std::vector<DecoderColumns> panels_of(std::size_t width, int threads) {
  std::vector<DecoderColumns> panels;
  std::size_t whole = width / panel_columns;
  if (thread_count(threads) > 1) whole = whole / 2 * 2;
  for (std::size_t i = 0; i < whole; ++i) panels.push_back({i * panel_columns, panel_columns});
  for (std::size_t f = whole * panel_columns; f < width; f += vector_columns) {
    panels.push_back({f, vector_columns});
  }
  return panels;
}

/// A square matrix as the kernels want it.
template <typename Real>
kernels::Product<Real> product_of(const Real* a, std::size_t nodes) {
  kernels::Product<Real> product;
  product.rows = nodes;
  product.inner = nodes;
  product.a = a;
  product.a_row = nodes;
  product.a_inner = 1;
  product.b_column = 1;
  product.c_column = 1;
  return product;
}

template <typename Real>
SignalsOf<Real> folded(const LayerFilter& filter) {
  const auto n = static_cast<Eigen::Index>(filter.nodes());
  return filter.apply(SignalsOf<Real>(SignalsOf<Real>::Identity(n, n)));
}

/// How a decoder multiplies by H, whichever is the fastest by counted cost.
enum class DecoderForm {
  dense,   ///< folded into one matrix
  sparse,  ///< folded into one sparse matrix
  powers,  ///< h_0 + S (h_1 + S (h_2 + ...)) with the sparse shift S of a polynomial filter
  filter,  ///< all columns at once, by the filter: of large graphs
};

/// H as the decoder multiplies by it. Many decoders share one.
template <typename Real>
class DecoderFilter {
 public:
  DecoderFilter(LayerFilter filter, std::int64_t features)
      : filter_(std::move(filter)), nodes_(filter_.nodes()) {
    if (nodes_ == 0 || nodes_ > costs::decoder_folded_nodes) return;
    if (nodes_ <= costs::decoder_panel_nodes) {
      choose_form();
      return;
    }
    const auto n = static_cast<double>(nodes_);
    if (2 * n * n * static_cast<double>(features) <=
        costs::decoder_folded * filter_.cost(features)) {
      pack_dense(folded<Real>(filter_));
    }
  }

  std::size_t nodes() const { return nodes_; }
  DecoderForm form() const { return form_; }
  /// Whether columns are multiplied panel by panel.
  bool by_panels() const { return form_ != DecoderForm::filter; }
  /// Columns of C = H B, or H' B, whose rows follow each other. `scratch` has as much room as C.
  void multiply(bool transposed, const Real* b, Real* c, std::size_t columns, Real* scratch) const {
    if (form_ == DecoderForm::dense) {
      kernels::Product<Real> product = product_of<Real>(nullptr, nodes_);
      product.columns = columns;
      product.b = b;
      product.b_inner = columns;
      product.c = c;
      product.c_row = columns;
      const auto& packed = transposed && !backward_.empty() ? backward_ : forward_;
      kernels::product_kernels<Real>().multiply_packed_left(product, packed.data());
      return;
    }
    const SparseMatrix& s = transposed && !sparse_back_.offsets.empty() ? sparse_back_ : sparse_;
    const kernels::SparseRows<Real> rows{s.offsets.data(), s.columns.data(),
                                         s.values.empty() ? nullptr : s.values.data(), nodes_};
    // From the last tap inwards. The last sum is written to c.
    const std::size_t steps = taps_.size() - 1;
    Real* to = steps % 2 == 1 ? c : scratch;
    Real* other = steps % 2 == 1 ? scratch : c;
    kernels::SparseTerms<Real> terms{Real{0}, b, taps_[steps], b, columns};
    for (std::size_t k = steps; k-- > 0;) {
      terms.tap = taps_[k];
      kernels::decoder_kernels<Real>().multiply_sparse(rows, terms, to);
      terms.factor = 1;
      terms.b = to;
      std::swap(to, other);
    }
  }

  const LayerFilter& filter() const { return filter_; }

 private:
  /// H or S, and its transpose where that is another, as the kernels want them.
  struct SparseMatrix {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> columns;
    std::vector<Real> values;  // empty: all are 1
  };

  void choose_form() {
    const SignalsOf<Real> h = folded<Real>(filter_);
    constexpr double of_entry = costs::decoder_sparse_entry;
    const auto n = static_cast<double>(nodes_);
    const double dense = n * n;
    const double sparse = of_entry * (static_cast<double>((h.array() != Real{0}).count()) + n);
    const PolynomialFilter* const polynomial = filter_.polynomial();
    const bool has_powers = polynomial != nullptr && !polynomial->taps().node_variant() &&
                            polynomial->taps().count() > 1;
    const double powers = has_powers
                              ? of_entry * static_cast<double>(polynomial->taps().count() - 1) *
                                    (static_cast<double>(polynomial->shift().entries()) + n)
                              : std::numeric_limits<double>::infinity();
    if (dense <= std::min(sparse, powers)) {
      pack_dense(h);
    } else if (sparse <= powers) {
      pack_sparse(h);
    } else {
      pack_powers(*polynomial);
    }
  }

  void pack_dense(const SignalsOf<Real>& h) {
    form_ = DecoderForm::dense;
    forward_.resize(kernels::packed_left_size(nodes_, nodes_));
    kernels::product_kernels<Real>().pack_left(product_of(h.data(), nodes_), forward_.data());
    const SignalsOf<Real> turned = h.transpose();
    if (turned == h) return;
    backward_.resize(forward_.size());
    kernels::product_kernels<Real>().pack_left(product_of(turned.data(), nodes_), backward_.data());
  }

  void pack_sparse(const SignalsOf<Real>& h) {
    form_ = DecoderForm::sparse;
    taps_ = {Real{0}, Real{1}};
    const auto pack = [](const SignalsOf<Real>& matrix) {
      SparseMatrix result{{0}, {}, {}};
      for (Eigen::Index u = 0; u < matrix.rows(); ++u) {
        for (Eigen::Index v = 0; v < matrix.cols(); ++v) {
          if (matrix(u, v) == Real{0}) continue;
          result.columns.push_back(static_cast<std::uint32_t>(v));
          result.values.push_back(matrix(u, v));
        }
        result.offsets.push_back(static_cast<std::uint32_t>(result.columns.size()));
      }
      return result;
    };
    sparse_ = pack(h);
    const SignalsOf<Real> turned = h.transpose();
    if (turned != h) sparse_back_ = pack(turned);
  }

  void pack_powers(const PolynomialFilter& filter) {
    form_ = DecoderForm::powers;
    const auto values = filter.shift().template values<Real>(false).values;
    // Where all entries are one number, it goes into the taps.
    const Real first = values.empty() ? Real{1} : values.front();
    const bool constant =
        std::all_of(values.begin(), values.end(), [&](Real value) { return value == first; });
    double factor = 1;
    for (const double tap : filter.taps().values()) {
      taps_.push_back(static_cast<Real>(tap * factor));
      if (constant) factor *= static_cast<double>(first);
    }
    const auto pack = [&](const ValuedRows<Real>& rows) {
      SparseMatrix result{{rows.offsets.begin(), rows.offsets.end()},
                          {rows.columns.begin(), rows.columns.end()},
                          {}};
      if (!constant) result.values = {rows.values.begin(), rows.values.end()};
      return result;
    };
    const auto forward = filter.shift().template values<Real>(false);
    const auto back = filter.shift().template values<Real>(true);
    sparse_ = pack(forward);
    if (back.columns.data() != forward.columns.data()) sparse_back_ = pack(back);
  }

  LayerFilter filter_;
  std::size_t nodes_;
  DecoderForm form_ = DecoderForm::filter;
  AlignedVector<Real> forward_;
  AlignedVector<Real> backward_;  // empty where H is its own transpose
  SparseMatrix sparse_;
  SparseMatrix sparse_back_;  // empty where it is the same
  std::vector<Real> taps_;    // of powers of the sparse matrix
};

struct DecoderStep {
  OptimizerKind optimizer = OptimizerKind::adam;
  double lr = 0.01;
};

/// The decoder of one signal, and the moments of its optimiser. Results are bit-identical for any
/// number of threads.
template <typename Real>
class Decoder {
 public:
  /// `filter` must outlive this.
  Decoder(const DecoderFilter<Real>& filter, std::int64_t features, int threads)
      : filter_(filter),
        features_(static_cast<std::size_t>(features)),
        width_(padded(features)),
        threads_(threads),
        columns_(panels_of(width_, threads)),
        v_(width_, Real{0}),
        c_(width_ * filter.nodes(), Real{0}),
        z_(c_.size(), Real{0}),
        gradient_(c_.size(), Real{0}),
        scratch_(filter.by_panels() ? c_.size() : 0, Real{0}),
        mean_(c_.size(), Real{0}),
        square_(c_.size(), Real{0}),
        partial_(width_ / vector_columns * filter.nodes(), Real{0}),
        outputs_(filter.nodes()) {
    if (features < 1) fail("a decoder needs at least one feature");
    const auto size = static_cast<Real>(1 / std::sqrt(static_cast<double>(features)));
    for (std::size_t f = 0; f < features_; ++f)
      v_[f] = f < features_ - features_ / 2 ? size : -size;
  }

  /// C, row by row. The optimiser forgets its past.
  void set_parameters(std::span<const Real> c) {
    if (c.size() != features_ * filter_.nodes()) {
      fail("{} parameters for a decoder of {} x {}", c.size(), filter_.nodes(), features_);
    }
    for_each_row([&](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(c.data() + from, count, c_.data() + to);
    });
    steps_ = 0;
    std::fill(mean_.begin(), mean_.end(), Real{0});
    std::fill(square_.begin(), square_.end(), Real{0});
  }

  /// x^ of the parameters as they are.
  std::span<const Real> forward() {
    if (!filter_.by_panels()) filter_all(false, c_, z_);
    parallel_for(columns_.size(), threads_, [&](std::size_t p) { forward_panel(p); });
    return sum_units();
  }

  /// By C, row by row, of a loss whose gradient by the outputs of the last `forward` is given.
  /// Needs a `forward` before it is called again.
  std::vector<Real> gradient(std::span<const Real> by_outputs) {
    parallel_for(columns_.size(), threads_, [&](std::size_t p) { backward_panel(p, by_outputs); });
    if (!filter_.by_panels()) filter_all(true, z_, gradient_);
    std::vector<Real> result(features_ * filter_.nodes());
    for_each_row([&](std::size_t to, std::size_t from, std::size_t count) {
      std::copy_n(gradient_.data() + from, count, result.data() + to);
    });
    return result;
  }

  /// Updates the parameters once, given the gradient by the outputs of the last `forward` or
  /// `step`; returns x^ of the new ones.
  std::span<const Real> step(std::span<const Real> by_outputs, const DecoderStep& step) {
    ++steps_;
    if (filter_.by_panels()) {
      parallel_for(columns_.size(), threads_, [&](std::size_t p) {
        backward_panel(p, by_outputs);
        const std::size_t at = place(p, 0);
        update(at, at + filter_.nodes() * columns_[p].count, step);
        forward_panel(p);
      });
      return sum_units();
    }
    parallel_for(columns_.size(), threads_, [&](std::size_t p) { backward_panel(p, by_outputs); });
    filter_all(true, z_, gradient_);
    parallel_ranges(c_.size(), threads_,
                    [&](std::size_t begin, std::size_t end) { update(begin, end, step); });
    return forward();
  }

 private:
  using Numbers = AlignedVector<Real>;

  /// Where row u of a panel begins: products by panels want them one after the other.
  std::size_t place(std::size_t panel, std::size_t u) const {
    return columns_[panel].first * (filter_.by_panels() ? filter_.nodes() : 1) + u * stride(panel);
  }
  std::size_t stride(std::size_t panel) const {
    return filter_.by_panels() ? columns_[panel].count : width_;
  }
  /// Calls body(place in C row by row, place in panels, count) for the rows of all panels.
  template <typename Body>
  void for_each_row(const Body& body) const {
    for (std::size_t p = 0; p < columns_.size(); ++p) {
      const auto [first, count] = columns_[p];
      const std::size_t used = std::min(count, features_ - std::min(features_, first));
      for (std::size_t u = 0; u < filter_.nodes(); ++u) {
        body(u * features_ + first, place(p, u), used);
      }
    }
  }

  void forward_panel(std::size_t panel) {
    const std::size_t at = place(panel, 0);
    const std::size_t count = columns_[panel].count;
    if (filter_.by_panels()) filter_.multiply(false, &c_[at], &z_[at], count, &scratch_[at]);
    kernels::decoder_kernels<Real>().relu_dot(
        {&z_[at], filter_.nodes(), count, stride(panel), &v_[columns_[panel].first]},
        &partial_[columns_[panel].first / vector_columns * filter_.nodes()]);
  }

  void backward_panel(std::size_t panel, std::span<const Real> by_outputs) {
    const std::size_t at = place(panel, 0);
    const std::size_t count = columns_[panel].count;
    kernels::decoder_kernels<Real>().relu_dot_backward(
        {&z_[at], filter_.nodes(), count, stride(panel), &v_[columns_[panel].first]},
        by_outputs.data());
    if (filter_.by_panels()) filter_.multiply(true, &z_[at], &gradient_[at], count, &scratch_[at]);
  }

  void update(std::size_t begin, std::size_t end, const DecoderStep& step) {
    if (step.optimizer == OptimizerKind::sgd) {
      const auto lr = static_cast<Real>(step.lr);
      for (std::size_t i = begin; i < end; ++i) c_[i] -= lr * gradient_[i];
      return;
    }
    kernels::adam(kernels::adam_step<Real>(steps_, step.lr), &gradient_[begin], end - begin,
                  &mean_[begin], &square_[begin], &c_[begin]);
  }

  /// H C or H' G of all columns, where that is not done by panels.
  void filter_all(bool transposed, const Numbers& from, Numbers& to) const {
    const auto n = static_cast<Eigen::Index>(filter_.nodes());
    const auto width = static_cast<Eigen::Index>(width_);
    const Eigen::Map<const SignalsOf<Real>> x(from.data(), n, width);
    Eigen::Map<SignalsOf<Real>> y(to.data(), n, width);
    if (transposed) {
      filter_.filter().template apply_transpose_to<Real>(x, y);
    } else {
      filter_.filter().template apply_to<Real>(x, y);
    }
  }

  std::span<const Real> sum_units() {
    const std::size_t nodes = filter_.nodes();
    std::copy_n(partial_.begin(), nodes, outputs_.begin());
    for (std::size_t i = 1; i < width_ / vector_columns; ++i) {
      for (std::size_t u = 0; u < nodes; ++u) outputs_[u] += partial_[i * nodes + u];
    }
    return outputs_;
  }

  const DecoderFilter<Real>& filter_;
  std::size_t features_;
  std::size_t width_;  // features, and zeros up to whole vectors
  int threads_;
  std::vector<DecoderColumns> columns_;
  std::uint64_t steps_ = 0;
  Numbers v_;
  Numbers c_;
  Numbers z_;         // H C, then the gradient by it
  Numbers gradient_;  // by C
  Numbers scratch_;   // of products by panels
  Numbers mean_;
  Numbers square_;
  Numbers partial_;  // x^ of each unit of columns
  std::vector<Real> outputs_;
};

inline std::uint64_t decoder_bytes(std::uint64_t nodes, std::int64_t features) {
  constexpr std::uint64_t matrices = 6;  // one of them for products on their way
  return sizeof(float) * nodes * matrices * padded(features);
}

}  // namespace ngf::nn
