#pragma once

#include <span>

#include "linalg/product.hpp"
#include "nn/dropout.hpp"

/// What is done entry by entry, in one pass over the columns of some runs.
namespace ngf::nn {

/// Z becomes drop(act(Z + b)): `bias` has an entry for each column, or is empty; `relu` says
/// whether act is max(., 0); `masks`, those of the input of `layer`, may be null.
template <typename Real>
void activate(const detail::MutableView<Real>& z, std::span<const Real> bias, bool relu,
              const Masks* masks, std::size_t layer, const Runs& runs, int threads);

/// The reverse: `g`, the gradient by `outputs` = drop(max(Z + b, 0)), becomes the gradient by Z,
/// and `by_bias`, where it is not empty, its sums over the rows. Null `outputs` stand for Z + b.
template <typename Real>
void deactivate(const detail::MutableView<Real>& g, const detail::ConstView<Real>* outputs,
                const Masks* masks, std::span<Real> by_bias, const Runs& runs, int threads);

}  // namespace ngf::nn
