#pragma once

#include <algorithm>
#include <cstddef>

#include "detail/aligned.hpp"
#include "detail/parallel.hpp"
#include "kernels/filter.hpp"
#include "ngf/filter.hpp"

namespace ngf::filter {

/// How the columns of signals are cut into panels, as the kernels want them. A panel is so narrow
/// that what is read from it at random stays in the caches.
template <typename Real>
class PanelShape {
 public:
  PanelShape(Eigen::Index columns, std::size_t most_lines)
      : columns_(static_cast<std::size_t>(columns)) {
    constexpr std::size_t line = kernels::columns_in_line<Real>;
    if (columns_ == 1) return;
    // The next power of two, so that kernels come in few sizes.
    lines_ = 1;
    while (lines_ < most_lines && lines_ * line < columns_) lines_ *= 2;
    width_ = lines_ * line;
  }

  std::size_t lines() const { return lines_; }
  std::size_t width() const { return width_; }
  std::size_t count() const { return (columns_ + width_ - 1) / width_; }
  std::size_t columns() const { return columns_; }
  /// Columns of a panel that are not padding.
  std::size_t columns_of(std::size_t panel) const {
    return std::min(width_, columns_ - panel * width_);
  }

 private:
  std::size_t columns_;
  std::size_t lines_ = 0;
  std::size_t width_ = 1;
};

/// Signals cut into panels; what is one panel already is not copied, and must outlive this. Neither
/// are panels that may be left `in_place`, unless they need padding.
template <typename Real>
class Panels {
 public:
  Panels(const SignalsView<Real>& x, const PanelShape<Real>& shape, int threads,
         bool in_place = false)
      : shape_(shape),
        rows_(static_cast<std::size_t>(x.rows())),
        panel_step_(rows_ * shape.width()),
        row_step_(shape.width()),
        data_(x.data()) {
    const auto stride = static_cast<std::size_t>(x.outerStride());
    if (shape.columns() == shape.width() && stride == shape.width()) return;
    // The kernel for a single column takes it contiguous.
    if (in_place && shape.lines() > 0 && shape.columns() % shape.width() == 0) {
      panel_step_ = shape.width();
      row_step_ = stride;
      return;
    }
    copy_.resize(shape.count() * rows_ * shape.width());
    detail::parallel_ranges(rows_, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t panel = 0; panel < shape_.count(); ++panel) {
        const std::size_t count = shape_.columns_of(panel);
        for (std::size_t u = begin; u < end; ++u) {
          Real* const to = copy_.data() + panel * panel_step_ + u * row_step_;
          std::copy_n(x.data() + u * stride + panel * shape_.width(), count, to);
          std::fill(to + count, to + shape_.width(), Real{0});
        }
      }
    });
    data_ = copy_.data();
  }

  const Real* row(std::size_t panel, std::size_t u) const {
    return data_ + panel * panel_step_ + u * row_step_;
  }
  /// From a row to the next.
  std::size_t row_step() const { return row_step_; }
  const PanelShape<Real>& shape() const { return shape_; }

 private:
  PanelShape<Real> shape_;
  std::size_t rows_;
  std::size_t panel_step_;
  std::size_t row_step_;
  detail::AlignedVector<Real> copy_;
  const Real* data_;
};

/// A signal's row of a panel, where the result of a kernel lies until it is copied to its matrix.
template <typename Real>
void copy_out(const Real* from, const PanelShape<Real>& shape, std::size_t panel, NodeId u,
              SignalsSlice<Real>& to) {
  std::copy_n(from, shape.columns_of(panel),
              to.data() + u * static_cast<std::size_t>(to.outerStride()) + panel * shape.width());
}

}  // namespace ngf::filter
