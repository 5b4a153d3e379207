#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ngf/error.hpp"
#include "ngf/filter.hpp"

/// How arrays pass between Python and the engine: views of the caller's arrays, and arrays that own
/// what the engine made. Nothing here copies numbers, except lists that the engine keeps.
namespace ngf::python {

namespace nb = nanobind;

/// Numbers in one dimension, one behind the other.
template <typename T>
using List = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Signals: one row per node. Rows may be strided, columns are contiguous.
template <typename Real>
using SignalsArray = nb::ndarray<const Real, nb::ndim<2>, nb::device::cpu>;
template <typename Real>
using OutputArray = nb::ndarray<Real, nb::ndim<2>, nb::device::cpu>;

template <typename T>
std::vector<T> vector_of(const List<T>& list) {
  return {list.data(), list.data() + list.size()};
}

/// The Python side sees to it that columns lie side by side, and rows behind each other.
template <typename Array>
void check_layout(const Array& array) {
  const bool columns = array.shape(1) <= 1 || array.stride(1) == 1;
  const bool rows =
      array.shape(0) <= 1 || array.stride(0) >= static_cast<std::int64_t>(array.shape(1));
  if (!columns || !rows) {
    throw Error("signals must have their columns side by side: numpy.ascontiguousarray(X)");
  }
}

/// Eigen takes 0 for no word on the stride.
template <typename Array>
Eigen::OuterStride<> row_stride(const Array& array) {
  return Eigen::OuterStride<>(std::max<std::int64_t>(1, array.stride(0)));
}

template <typename Real>
SignalsView<Real> view_of(const SignalsArray<Real>& x) {
  check_layout(x);
  using Map = Eigen::Map<const SignalsOf<Real>, 0, Eigen::OuterStride<>>;
  return Map(x.data(), static_cast<Eigen::Index>(x.shape(0)), static_cast<Eigen::Index>(x.shape(1)),
             row_stride(x));
}

template <typename Real>
SignalsSlice<Real> slice_of(const OutputArray<Real>& y) {
  check_layout(y);
  using Map = Eigen::Map<SignalsOf<Real>, 0, Eigen::OuterStride<>>;
  return Map(y.data(), static_cast<Eigen::Index>(y.shape(0)), static_cast<Eigen::Index>(y.shape(1)),
             row_stride(y));
}

/// Something of C++ that lives as long as arrays that show it.
template <typename T>
nb::capsule keep(T&& value) {
  using Kept = std::decay_t<T>;
  auto kept = std::make_unique<Kept>(std::forward<T>(value));
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Kept*>(p); });
  kept.release();
  return owner;
}

/// An array of what a vector held.
template <typename T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values) {
  const std::size_t count = values.size();
  T* const data = values.data();
  return nb::ndarray<nb::numpy, T>(data, {count}, keep(std::move(values)));
}

/// An array of what a matrix held.
template <typename Real>
nb::ndarray<nb::numpy, Real> array_of(SignalsOf<Real> matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  const auto columns = static_cast<std::size_t>(matrix.cols());
  Real* const data = matrix.data();
  return nb::ndarray<nb::numpy, Real>(data, {rows, columns}, keep(std::move(matrix)));
}

/// What `owner`, a Python object, holds, to be read.
template <typename T>
nb::ndarray<nb::numpy, const T> view_into(std::span<const T> values, nb::handle owner) {
  return nb::ndarray<nb::numpy, const T>(values.data(), {values.size()}, owner);
}

}  // namespace ngf::python
