#include "linalg/product.hpp"

#include <chrono>

#include "base/aligned.hpp"
#include "base/fail.hpp"
#include "base/parallel.hpp"
#include "kernels/gemm.hpp"
#include "kernels/hops.hpp"
#include "linalg/costs.hpp"

// Which of the kernels multiplies, and who computes which part of c. Every number of c is summed in
// an order that its place and the number of threads do not change: tasks share out c alone.

namespace ngf::detail {

namespace {

namespace costs = linalg::costs;

using kernels::Product;

std::size_t parts_of(std::size_t count, std::size_t most) { return (count + most - 1) / most; }

template <typename Real>
Product<Real> product_of(const ConstView<Real>& a, const ConstView<Real>& b,
                         const MutableView<Real>& c, Into into) {
  const auto size = [](Eigen::Index n) { return static_cast<std::size_t>(n); };
  Product<Real> product;
  product.rows = size(a.transposed ? a.cols : a.rows);
  product.inner = size(a.transposed ? a.rows : a.cols);
  product.columns = size(b.transposed ? b.rows : b.cols);
  const std::size_t b_rows = size(b.transposed ? b.cols : b.rows);
  if (product.inner != b_rows || size(c.rows) != product.rows || size(c.cols) != product.columns) {
    fail("a product of {} x {} with {} x {} does not fit {} x {}", product.rows, product.inner,
         b_rows, product.columns, c.rows, c.cols);
  }
  product.a = a.data;
  product.a_row = a.transposed ? 1 : size(a.stride);
  product.a_inner = a.transposed ? size(a.stride) : 1;
  product.b = b.data;
  product.b_inner = b.transposed ? 1 : size(b.stride);
  product.b_column = b.transposed ? size(b.stride) : 1;
  product.c = c.data;
  product.c_row = size(c.stride);
  product.c_column = 1;
  product.add = into == Into::add;
  return product;
}

/// C' = B' A'.
template <typename Real>
Product<Real> transpose_of(const Product<Real>& p) {
  return {p.columns, p.rows,  p.inner, p.b,        p.b_column, p.b_inner, p.a,
          p.a_inner, p.a_row, p.c,     p.c_column, p.c_row,    p.add};
}

/// A kernel, and how large the part of c is that it takes at once.
template <typename Real>
struct Form {
  void (*run)(const Product<Real>&, Real*) = nullptr;
  std::size_t most_rows = 0;
  std::size_t most_columns = 0;
};

template <typename Real>
Real* scratch() {
  thread_local AlignedVector<Real> memory(kernels::product_scratch);
  return memory.data();
}

template <typename Real>
void run(const Product<Real>& product, const Form<Real>& form, int threads) {
  const double work = static_cast<double>(product.rows) * static_cast<double>(product.columns) *
                      static_cast<double>(product.inner);
  const auto workers = static_cast<std::size_t>(
      std::clamp(work / costs::work_per_thread, 1.0, static_cast<double>(thread_count(threads))));
  std::size_t down = parts_of(product.rows, form.most_rows);
  std::size_t across = parts_of(product.columns, form.most_columns);
  const std::size_t wanted = parts_of(down * across, workers) * workers;
  down =
      std::max(down, std::min(parts_of(wanted, across), parts_of(product.rows, costs::least_rows)));
  across = std::max(
      across, std::min(parts_of(wanted, down), parts_of(product.columns, costs::least_columns)));
  if (down * across == 1) return form.run(product, scratch<Real>());
  parallel_for(down * across, static_cast<int>(workers), [&](std::size_t task) {
    const std::size_t i = task % down;
    const std::size_t j = task / down;
    Product<Real> part = product;
    const std::size_t row = product.rows * i / down;
    const std::size_t column = product.columns * j / across;
    part.rows = product.rows * (i + 1) / down - row;
    part.columns = product.columns * (j + 1) / across - column;
    part.a += row * product.a_row;
    part.b += column * product.b_column;
    part.c += row * product.c_row + column * product.c_column;
    form.run(part, scratch<Real>());
  });
}

/// The number of parts that the inner dimension is cut into where c is small. Their products are
/// added up in order.
template <typename Real>
std::size_t inner_parts(const Product<Real>& product) {
  if (product.rows * product.columns > costs::small_product) return 1;
  return std::clamp<std::size_t>(product.inner / costs::shortest_part, 1, costs::most_parts);
}

template <typename Real>
void multiply_whole(const Product<Real>& product, int threads) {
  const auto& kernels = kernels::product_kernels<Real>();
  const Form<Real> few{kernels.multiply_few, kernels::most_few_rows, kernels::most_few_columns};
  if (product.columns <= kernels::most_dots && product.a_inner == 1) {
    run(product, {kernels::row_kernels<Real>().multiply_dots, product.rows, kernels::most_dots},
        threads);
  } else if (product.columns <= kernels::most_few_rows && product.a_row == 1) {
    run(transpose_of(product), few, threads);
  } else if (product.rows <= kernels::most_few_rows && product.b_column == 1) {
    run(product, few, threads);
  } else {
    run(product, {kernels.multiply_packed, product.rows, kernels::most_packed_columns}, threads);
  }
}

template <typename Real>
void multiply_in_parts(const Product<Real>& product, std::size_t parts, int threads) {
  const std::size_t size = product.rows * product.columns;
  AlignedVector<Real> sums(parts * size);
  parallel_for(parts, threads, [&](std::size_t i) {
    const std::size_t begin = product.inner * i / parts;
    Product<Real> part = product;
    part.inner = product.inner * (i + 1) / parts - begin;
    part.a += begin * product.a_inner;
    part.b += begin * product.b_inner;
    part.c = sums.data() + i * size;
    part.c_row = product.columns;
    part.add = false;
    multiply_whole(part, 1);
  });
  for (std::size_t at = 0; at < size; ++at) {
    Real& to = product.c[at / product.columns * product.c_row + at % product.columns];
    Real sum = product.add ? to : Real{0};
    for (std::size_t i = 0; i < parts; ++i) sum += sums[i * size + at];
    to = sum;
  }
}

}  // namespace

template <typename Real>
void multiply(const std::type_identity_t<ConstView<Real>>& a,
              const std::type_identity_t<ConstView<Real>>& b, const MutableView<Real>& c, Into into,
              int threads) {
  const Product<Real> product = product_of(a, b, c, into);
  if (product.rows == 0 || product.columns == 0) return;
  const std::size_t parts = inner_parts(product);
  if (parts > 1) {
    multiply_in_parts(product, parts, threads);
  } else {
    multiply_whole(product, threads);
  }
}

template void multiply(const std::type_identity_t<ConstView<float>>&,
                       const std::type_identity_t<ConstView<float>>&, const MutableView<float>&,
                       Into, int);
template void multiply(const std::type_identity_t<ConstView<double>>&,
                       const std::type_identity_t<ConstView<double>>&, const MutableView<double>&,
                       Into, int);

double product_rate(int threads, double seconds) {
  constexpr std::size_t rows = 84;
  constexpr std::size_t lines = kernels::most_product_lines;
  constexpr std::size_t width = lines * kernels::columns_in_line<float>;
  constexpr int repetitions = 200;
  const int workers = thread_count(threads);
  const auto multiply = [&] {
    parallel_for(static_cast<std::size_t>(workers), workers, [&](std::size_t) {
      AlignedVector<float> w(rows * kernels::tile_columns, 0.5F);
      AlignedVector<float> x(kernels::tile_columns * width, 0.5F);
      AlignedVector<float> y(rows * width, 0.0F);
      for (int i = 0; i < repetitions; ++i) {
        kernels::hop_kernels<float>().multiply_rows(w.data(), rows, x.data(), kernels::tile_columns,
                                                    lines, y.data(), width);
      }
    });
  };
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (double spent = 0; spent < seconds;) {
    const auto begun = Clock::now();
    multiply();
    const double taken = std::chrono::duration<double>(Clock::now() - begun).count();
    best = std::min(best, taken);
    spent += taken;
  }
  return 2.0 * rows * kernels::tile_columns * width * repetitions * workers / best;
}

}  // namespace ngf::detail
