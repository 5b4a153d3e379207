#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

/// The passes of the graph decoder x^ = max(Z, 0) v between its products.
namespace ngf::kernels {

/// Columns of Z: `columns` of them, whole units, in rows `stride` apart.
template <typename Real>
struct DecoderPanel {
  Real* z = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
  const Real* v = nullptr;  ///< an entry for each of these columns
};

/// The columns of a sum, whatever the panel.
inline constexpr std::size_t decoder_unit = 16;

/// A square sparse matrix S: row u has the entries offsets[u]..offsets[u + 1] - 1.
template <typename Real>
struct SparseRows {
  const std::uint32_t* offsets = nullptr;
  const std::uint32_t* columns = nullptr;
  const Real* values = nullptr;  ///< null: all are 1
  std::size_t rows = 0;
};

/// Panels of `columns` columns, whole units, whose rows follow each other.
template <typename Real>
struct SparseTerms {
  Real tap = 0;
  const Real* x = nullptr;
  Real factor = 1;
  const Real* b = nullptr;
  std::size_t columns = 0;
};

template <typename Real>
struct DecoderKernels {
  /// to[i * rows + u] = sum over the columns f of unit i of max(z[u, f], 0) v[f].
  void (*relu_dot)(const DecoderPanel<Real>& panel, Real* to);
  /// The reverse: z[u, f] becomes by_outputs[u] v[f] where it is positive, 0 elsewhere.
  void (*relu_dot_backward)(const DecoderPanel<Real>& panel, const Real* by_outputs);
  /// y = tap x + factor S b. y is neither x nor b.
  void (*multiply_sparse)(const SparseRows<Real>& s, const SparseTerms<Real>& terms, Real* y);
};

using AllDecoderKernels = std::tuple<DecoderKernels<float>, DecoderKernels<double>>;
/// The kernels of the instruction set in use.
const AllDecoderKernels& all_decoder_kernels();

template <typename Real>
const DecoderKernels<Real>& decoder_kernels() {
  return std::get<DecoderKernels<Real>>(all_decoder_kernels());
}

}  // namespace ngf::kernels
