#pragma once

#include <vector>

#include "filter/panels.hpp"
#include "filter/shell_products.hpp"

/// Products of shells as lists of columns: those of ProductForm::short_lists, paired_lists, lists
/// and streamed_lists.
namespace ngf::filter {

/// What sums of lists are for: the product, the dots of `correlate` without the factors of rows, or
/// both. All have the rows of the shells that are here.
template <typename Real>
struct Wanted {
  SignalsSlice<Real>* product = nullptr;
  const SignalsView<Real>* g = nullptr;
  double* dots = nullptr;
};

template <typename Real>
using SumLists = void (*)(const ShellSource& source, const ShellFactors<Real>& factors,
                          const SignalsView<Real>& x, const Wanted<Real>& wanted);

template <typename Real>
void sum_lists(const ShellSource& source, const ShellFactors<Real>& factors,
               const SignalsView<Real>& x, const Wanted<Real>& wanted);
template <typename Real>
void sum_streamed_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                        const SignalsView<Real>& x, const Wanted<Real>& wanted);
template <typename Real>
void sum_paired_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                      const SignalsView<Real>& x, const Wanted<Real>& wanted);
/// A product must be wanted.
template <typename Real>
void sum_short_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                     const SignalsView<Real>& x, const Wanted<Real>& wanted);

/// Panels are as wide as a tile of them still fits into the caches, but no narrower than a line.
template <typename Real>
PanelShape<Real> shape_of_tiles(Eigen::Index columns, std::size_t nodes, std::size_t tiles) {
  std::size_t lines = kernels::most_sum_lines / 2;
  while (lines > 1 && nodes / tiles * lines * 64 > costs::panel_tile_bytes) lines /= 2;
  return {columns, lines};
}

/// The factors of one row after the other: of each shell, but for those of the columns.
template <typename Real>
class RowScale {
 public:
  explicit RowScale(const ShellFactors<Real>& factors)
      : factors_(factors), scale_(factors.scale), by_row_(factors.by_row()) {}

  const std::vector<Real>& of(NodeId u) {
    for (std::size_t k = 0; by_row_ && k < scale_.size(); ++k) scale_[k] = factors_.of_row(k, u);
    return scale_;
  }

 private:
  const ShellFactors<Real>& factors_;
  std::vector<Real> scale_;
  bool by_row_;
};

}  // namespace ngf::filter
