#pragma once

#include <cstddef>

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

/// to[i * rows + u] = sum over the columns f of unit i of max(z[u, f], 0) v[f].
template <typename Real>
void relu_dot(const DecoderPanel<Real>& panel, Real* to);

/// The reverse: z[u, f] becomes by_outputs[u] v[f] where it is positive, 0 elsewhere.
template <typename Real>
void relu_dot_backward(const DecoderPanel<Real>& panel, const Real* by_outputs);

}  // namespace ngf::kernels
