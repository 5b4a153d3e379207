#pragma once

#include "base/aligned.hpp"
#include "base/parallel.hpp"
#include "filter/costs.hpp"
#include "kernels/line.hpp"
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
  /// Whether x is a panel as it is.
  bool lies_there(const SignalsView<Real>& x) const {
    const bool aligned = reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0;
    const bool one_panel =
        columns_ == width_ && static_cast<std::size_t>(x.outerStride()) == width_;
    return one_panel && (aligned || lines_ == 0);
  }
  /// Columns of a panel that are not padding.
  std::size_t columns_of(std::size_t panel) const {
    return std::min(width_, columns_ - panel * width_);
  }
  bool is_padded(std::size_t panel) const { return columns_of(panel) < width_; }

 private:
  std::size_t columns_;
  std::size_t lines_ = 0;
  std::size_t width_ = 1;
};

/// Prefetches `count` numbers, soon to be read or written.
template <typename Real>
void prefetch(const Real* at, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kernels::columns_in_line<Real>) {
    __builtin_prefetch(at + i);
  }
}

/// Copies rows begin..end-1 of a panel of x to where the panel's rows are; what is padding is 0.
template <typename Real>
void copy_to_panel(const SignalsView<Real>& x, const PanelShape<Real>& shape, std::size_t panel,
                   std::size_t begin, std::size_t end, Real* rows) {
  constexpr std::size_t line = kernels::columns_in_line<Real>;
  const auto stride = static_cast<std::size_t>(x.outerStride());
  const std::size_t count = shape.columns_of(panel);
  // Lines one by one, since the compiler knows their size.
  const std::size_t lines = count / line;
  // Rows lie so far apart that the processor does not see what comes next.
  constexpr std::size_t soon = costs::rows_fetched_ahead;
  for (std::size_t u = begin; u < end; ++u) {
    Real* const to = rows + u * shape.width();
    const Real* const from = x.data() + u * stride + panel * shape.width();
    if (u + soon < end) prefetch(from + soon * stride, count);
    for (std::size_t i = 0; i < lines; ++i) std::copy_n(from + i * line, line, to + i * line);
    if (lines * line == shape.width()) continue;
    std::copy(from + lines * line, from + count, to + lines * line);
    std::fill(to + count, to + shape.width(), Real{0});
  }
}

/// Signals cut into panels. What is one panel already is not copied, and must outlive this, unless
/// its rows would lie across cache lines.
template <typename Real>
class Panels {
 public:
  Panels(const SignalsView<Real>& x, const PanelShape<Real>& shape, int threads)
      : shape_(shape), rows_(static_cast<std::size_t>(x.rows())), data_(x.data()) {
    if (shape.lies_there(x)) return;
    copy_.resize(shape.count() * rows_ * shape.width());
    parallel_ranges(rows_, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t panel = 0; panel < shape_.count(); ++panel) {
        copy_to_panel(x, shape_, panel, begin, end, copy_.data() + panel * rows_ * shape_.width());
      }
    });
    data_ = copy_.data();
  }

  const Real* row(std::size_t panel, std::size_t u) const {
    return data_ + (panel * rows_ + u) * shape_.width();
  }
  const PanelShape<Real>& shape() const { return shape_; }

 private:
  PanelShape<Real> shape_;
  std::size_t rows_;
  BriefVector<Real> copy_;
  const Real* data_;
};

/// The same, one panel after the other, for who needs no other at the same time.
template <typename Real>
class PanelByPanel {
 public:
  PanelByPanel(const SignalsView<Real>& x, const PanelShape<Real>& shape, int threads)
      : x_(x), shape_(shape), threads_(threads) {
    if (!shape.lies_there(x)) copy_.resize(rows() * shape.width());
  }

  /// The rows of a panel, until the next is asked for.
  const Real* take(std::size_t panel) {
    if (copy_.empty()) return x_.data();
    parallel_ranges(rows(), threads_, [&](std::size_t begin, std::size_t end) {
      copy_to_panel(x_, shape_, panel, begin, end, copy_.data());
    });
    return copy_.data();
  }
  const PanelShape<Real>& shape() const { return shape_; }
  std::size_t rows() const { return static_cast<std::size_t>(x_.rows()); }

 private:
  const SignalsView<Real>& x_;
  PanelShape<Real> shape_;
  int threads_;
  BriefVector<Real> copy_;
};

/// Row u of a panel of signals.
template <typename Signals, typename Real>
auto* where_row_lies(Signals& x, const PanelShape<Real>& shape, std::size_t panel, NodeId u) {
  return x.data() + u * static_cast<std::size_t>(x.outerStride()) + panel * shape.width();
}

/// The same where it lies; or, where the panel has padding, copied to `padded`.
template <typename Real>
const Real* row_of_panel(const SignalsView<Real>& x, const PanelShape<Real>& shape,
                         std::size_t panel, NodeId u, Real* padded) {
  const Real* const from = where_row_lies(x, shape, panel, u);
  if (!shape.is_padded(panel)) return from;
  std::fill(std::copy_n(from, shape.columns_of(panel), padded), padded + shape.width(), Real{0});
  return padded;
}

/// A signal's row of a panel, where the result of a kernel lies until it is copied to its matrix,
/// and back.
template <typename Real>
void copy_out(const Real* from, const PanelShape<Real>& shape, std::size_t panel, NodeId u,
              SignalsSlice<Real>& to) {
  std::copy_n(from, shape.columns_of(panel), where_row_lies(to, shape, panel, u));
}

template <typename Real>
void copy_in(const SignalsSlice<Real>& from, const PanelShape<Real>& shape, std::size_t panel,
             NodeId u, Real* to) {
  std::copy_n(where_row_lies(from, shape, panel, u), shape.columns_of(panel), to);
}

}  // namespace ngf::filter
