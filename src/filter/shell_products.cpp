// One product of shells with signals: its form, and the function that the form names.

#include "filter/shell_products.hpp"

#include <array>
#include <variant>

#include "base/parallel.hpp"
#include "filter/hop_products.hpp"
#include "filter/list_products.hpp"

namespace ngf::filter {

namespace {

template <typename Real>
using Multiply = void (*)(const ShellSource&, const ShellFactors<Real>&, const SignalsView<Real>&,
                          SignalsSlice<Real>&);

template <typename Real, SumLists<Real> sum>
void multiply_by_lists(const ShellSource& source, const ShellFactors<Real>& factors,
                       const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  sum(source, factors, x, {.product = &y});
}

/// The function of each form; some are for float alone.
template <typename Real>
Multiply<Real> function_of(ProductForm form) {
  Multiply<Real> of_half = nullptr;
  Multiply<Real> of_blocks = nullptr;
  if constexpr (std::is_same_v<Real, float>) {
    of_half = multiply_hop_half;
    of_blocks = multiply_hop_blocks;
  }
  const std::array<Multiply<Real>, 10> table{
      nullptr,  // automatic
      multiply_by_lists<Real, sum_short_lists<Real>>,
      multiply_by_lists<Real, sum_paired_lists<Real>>,
      multiply_by_lists<Real, sum_lists<Real>>,
      multiply_by_lists<Real, sum_streamed_lists<Real>>,
      multiply_hop_sum<Real>,
      multiply_hop_lookup<Real>,
      of_half,
      of_blocks,
      multiply_hop_tiles<Real>,
  };
  return table[static_cast<std::size_t>(form)];
}

/// The function for the dots of lists. Short lists go row by row where no product is wanted.
template <typename Real>
SumLists<Real> dots_of(ProductForm form, bool with_product) {
  if (form == ProductForm::streamed_lists) return sum_streamed_lists<Real>;
  if (form == ProductForm::paired_lists) return sum_paired_lists<Real>;
  return form == ProductForm::short_lists && with_product ? sum_short_lists<Real> : sum_lists<Real>;
}

/// Gives the dots of each node, from `first` on, and shell the factors of their rows.
template <typename Real>
void multiply_by_rows(const ShellFactors<Real>& factors, NodeId first, int threads, Matrix& dots) {
  const auto is_one = [](Real scale) { return scale == Real{1}; };
  if (!factors.by_row() && std::ranges::all_of(factors.scale, is_one)) return;
  const auto rows = static_cast<std::size_t>(dots.rows());
  parallel_ranges(rows, threads, [&](std::size_t begin, std::size_t end) {
    RowScale<Real> scales(factors);
    for (std::size_t row = begin; row < end; ++row) {
      const std::vector<Real>& scale = scales.of(first + static_cast<NodeId>(row));
      double* const of_row = dots.data() + row * scale.size();
      for (std::size_t k = 0; k < scale.size(); ++k) of_row[k] *= static_cast<double>(scale[k]);
    }
  });
}

}  // namespace

template <typename Real>
ProductShape shape_of(const ShellSource& source, const ShellFactors<Real>& factors,
                      std::int64_t columns) {
  const Shells& shells = source.shells;
  const auto counts = [](Real scale) { return scale != Real{0}; };
  const bool all_rows = shells.rows().count() == shells.nodes();
  return {.storage = shells.storage(),
          .layout = source.layout.form,
          .two_bytes = std::holds_alternative<HopMatrix<std::uint16_t>>(shells.held()),
          .single = std::is_same_v<Real, float>,
          .columns = columns,
          .taps = factors.scale.size(),
          .one_shell = std::ranges::count_if(factors.scale, counts) == 1,
          .by_row = factors.by_row(),
          .by_column = factors.by_column(),
          .symmetric = all_rows && source.transposed == &shells,
          .both_ways = all_rows && source.transposed != nullptr};
}

template <typename Real>
void multiply(const ShellSource& source, ProductForm wanted, const ShellFactors<Real>& factors,
              const SignalsView<Real>& x, SignalsSlice<Real>& y) {
  if (x.cols() == 0) return;
  const ProductForm form = form_for(shape_of(source, factors, x.cols()), wanted);
  function_of<Real>(form)(source, factors, x, y);
}

template <typename Real>
Matrix correlate(const ShellSource& source, ProductForm wanted, const ShellFactors<Real>& factors,
                 const SignalsView<Real>& x, const SignalsView<Real>& g,
                 const AlsoProduct<Real>& product, bool totals) {
  const bool with_product = product.to != nullptr;
  if (source.shells.storage() == Storage::dense) {
    if (with_product) multiply(source, wanted, *product.factors, x, *product.to);
    const ProductShape shape = shape_of(source, factors, x.cols());
    const ProductForm of_dots = correlation_form(shape, wanted);
    const bool half = totals && shape.symmetric && !shape.by_row && !shape.by_column;
    return correlate_hops<Real>(source, of_dots, factors, x, g, half);
  }
  Matrix dots = Matrix::Zero(g.rows(), static_cast<Eigen::Index>(factors.scale.size()));
  if (x.cols() == 0) return dots;
  const ShellFactors<Real>& of_product = with_product ? *product.factors : factors;
  const ProductForm form = form_for(shape_of(source, of_product, x.cols()), wanted);
  dots_of<Real>(form, with_product)(source, of_product, x,
                                    {.product = product.to, .g = &g, .dots = dots.data()});
  multiply_by_rows(factors, source.shells.rows().begin, source.threads(), dots);
  return dots;
}

#define NGF_INSTANTIATE(Real)                                                                  \
  template ProductShape shape_of(const ShellSource&, const ShellFactors<Real>&, std::int64_t); \
  template void multiply(const ShellSource&, ProductForm, const ShellFactors<Real>&,           \
                         const SignalsView<Real>&, SignalsSlice<Real>&);                       \
  template Matrix correlate(const ShellSource&, ProductForm, const ShellFactors<Real>&,        \
                            const SignalsView<Real>&, const SignalsView<Real>&,                \
                            const AlsoProduct<Real>&, bool);
NGF_INSTANTIATE(float)
NGF_INSTANTIATE(double)
#undef NGF_INSTANTIATE

}  // namespace ngf::filter
