#include "linalg/product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/aligned.hpp"
#include "kernels/gemm.hpp"
#include "kernels/target.hpp"
#include "ngf/error.hpp"
#include "ngf/random.hpp"
#include "tests/support.hpp"

namespace ngf::detail {
namespace {

using Eigen::Index;
using test::error_of;

template <typename Real>
SignalsOf<Real> random_signals(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  SignalsOf<Real> result(rows, columns);
  for (Index i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<Real>(random.uniform() - 0.5);
  return result;
}

struct Shape {
  Index rows;
  Index inner;
  Index columns;
};

/// A product with its factors in the middle of larger matrices.
template <typename Real>
class Case {
 public:
  Case(const Shape& shape, bool a_transposed, bool b_transposed, Index margin)
      : shape_(shape),
        margin_(margin),
        a_(around(shape.rows, shape.inner, a_transposed, 1)),
        b_(around(shape.inner, shape.columns, b_transposed, 2)),
        before_(random_signals<Real>(shape.rows, shape.columns + margin, 3)),
        a_view_(inside(a_, a_transposed)),
        b_view_(inside(b_, b_transposed)) {}

  SignalsOf<Real> product(Into into, int threads) const {
    SignalsOf<Real> c = before_;
    multiply(a_view_, b_view_,
             MutableView<Real>{c.data(), shape_.rows, shape_.columns, shape_.columns + margin_},
             into, threads);
    return c;
  }

  /// The plain twin, in double. What rounding may do to each number comes second.
  void check(Into into, int threads = 1) const {
    const SignalsOf<Real> found = product(into, threads);
    const double unit =
        double{std::numeric_limits<Real>::epsilon()} * (2 + static_cast<double>(shape_.inner) / 16);
    for (Index i = 0; i < shape_.rows; ++i) {
      for (Index j = 0; j < shape_.columns; ++j) {
        double expected = into == Into::add ? double{before_(i, j)} : 0;
        double size = std::abs(expected);
        for (Index k = 0; k < shape_.inner; ++k) {
          const double term = at(a_view_, i, k) * at(b_view_, k, j);
          expected += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(double{found(i, j)}, expected, unit * size)
            << shape_.rows << " x " << shape_.inner << " x " << shape_.columns << " at " << i << ' '
            << j << (a_view_.transposed ? " a'" : " a") << (b_view_.transposed ? " b'" : " b");
      }
    }
    const Index all = found.cols();
    EXPECT_EQ(found.rightCols(all - shape_.columns), before_.rightCols(all - shape_.columns));
  }

 private:
  SignalsOf<Real> around(Index rows, Index columns, bool transposed, std::uint64_t seed) const {
    if (transposed) std::swap(rows, columns);
    // What lies outside shows in the result, should it be read.
    SignalsOf<Real> whole = SignalsOf<Real>::Constant(rows, columns + margin_, Real{1e6});
    whole.leftCols(columns) = random_signals<Real>(rows, columns, seed);
    return whole;
  }
  ConstView<Real> inside(const SignalsOf<Real>& m, bool transposed) const {
    return {m.data(), m.rows(), m.cols() - margin_, m.cols(), transposed};
  }
  static double at(const ConstView<Real>& m, Index i, Index j) {
    return m.data[m.transposed ? j * m.stride + i : i * m.stride + j];
  }

  Shape shape_;
  Index margin_;
  SignalsOf<Real> a_;
  SignalsOf<Real> b_;
  SignalsOf<Real> before_;
  ConstView<Real> a_view_;
  ConstView<Real> b_view_;
};

template <typename Real>
void check_all_ways(const Shape& shape, int threads = 1) {
  for (const bool a_transposed : {false, true}) {
    for (const bool b_transposed : {false, true}) {
      for (const Index margin : {0, 3}) {
        const Case<Real> of(shape, a_transposed, b_transposed, margin);
        of.check(margin == 0 ? Into::replace : Into::add, threads);
      }
    }
  }
}

const std::vector<Index> edges{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65};
/// Each form of the kernels, with more than one block of each dimension.
const std::vector<Shape> long_shapes{{513, 17, 33},  {33, 513, 65}, {65, 33, 513}, {513, 513, 7},
                                     {7, 513, 513},  {9, 1100, 14}, {14, 9, 1100}, {900, 270, 40},
                                     {16, 40, 1100}, {3, 5000, 20}, {64, 5000, 3}, {1, 9000, 1}};

TEST(Product, WithAFactorPackedOnceEqualsThePlainLoops) {
  for (const Shape& shape :
       {Shape{1, 1, 16}, {15, 7, 32}, {29, 256, 48}, {43, 257, 160}, {260, 600, 16}}) {
    const SignalsOf<float> a = random_signals<float>(shape.rows, shape.inner, 1);
    const SignalsOf<float> b = random_signals<float>(shape.inner, shape.columns, 2);
    SignalsOf<float> c(shape.rows, shape.columns);
    kernels::Product<float> product;
    product.rows = static_cast<std::size_t>(shape.rows);
    product.columns = static_cast<std::size_t>(shape.columns);
    product.inner = static_cast<std::size_t>(shape.inner);
    product.a = a.data();
    product.a_row = product.inner;
    product.a_inner = 1;
    product.b = b.data();
    product.b_inner = product.columns;
    product.b_column = 1;
    product.c = c.data();
    product.c_row = product.columns;
    product.c_column = 1;
    detail::AlignedVector<float> packed(kernels::packed_left_size(product.rows, product.inner));
    kernels::product_kernels<float>().pack_left(product, packed.data());
    kernels::product_kernels<float>().multiply_packed_left(product, packed.data());
    const Matrix expected = a.cast<double>() * b.cast<double>();
    EXPECT_LT((c.cast<double>() - expected).cwiseAbs().maxCoeff(), 1e-4) << shape.rows;
  }
}

TEST(Product, EqualsThePlainLoopsOnAllEdges) {
  for (const Index rows : edges) {
    for (const Index inner : edges) {
      for (const Index columns : edges) check_all_ways<float>({rows, inner, columns});
    }
  }
}

TEST(Product, EqualsThePlainLoopsOnLongShapes) {
  for (const Shape& shape : long_shapes) {
    check_all_ways<float>(shape);
    check_all_ways<double>(shape);
  }
}

TEST(Product, EqualsThePlainLoopsOnEveryInstructionSet) {
  const std::string before = kernels::current_target();
  for (const std::string& target : kernels::available_targets()) {
    kernels::use_target(target);
    for (const Index size : edges) {
      for (const Index other : {1, 7, 13, 40}) {
        check_all_ways<float>({size, other, 30});
        check_all_ways<float>({30, size, other});
        check_all_ways<double>({other, 30, size});
      }
    }
    check_all_ways<float>({100, 300, 20});
    check_all_ways<float>({100, 1100, 6});
  }
  kernels::use_target(before);
}

TEST(Product, TheSameBitsOnAnyNumberOfThreads) {
  for (const Shape& shape : long_shapes) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const Case<float> of(shape, a_transposed, b_transposed, 0);
        const SignalsOf<float> one = of.product(Into::add, 1);
        for (const int threads : {2, 3}) EXPECT_EQ(of.product(Into::add, threads), one);
      }
    }
  }
}

TEST(Product, TakesWholeMatrices) {
  SignalsOf<double> a = random_signals<double>(20, 30, 1);
  const SignalsOf<double> b = random_signals<double>(20, 4, 2);
  SignalsOf<double> c(30, 4);
  multiply(transposed(a), view(b), view(c), Into::replace, 1);
  EXPECT_TRUE(c.isApprox(a.transpose() * b, 1e-14));
  SignalsOf<double> d(20, 4);
  multiply(view(a), view(c), view(d), Into::replace, 1);
  EXPECT_TRUE(d.isApprox(a * c, 1e-14));
}

TEST(Product, RefusesShapesThatDoNotFit) {
  const SignalsOf<float> a = random_signals<float>(2, 3, 1);
  SignalsOf<float> c(2, 3);
  EXPECT_EQ(error_of<Error>([&] { multiply(view(a), view(a), view(c), Into::replace, 1); }),
            "a product of 2 x 3 with 2 x 3 does not fit 2 x 3");
}

/// A sum of rows in the middle of a wider matrix, with a row of its own and without.
template <typename Real>
void check_sum_of_rows(Index width) {
  const SignalsOf<Real> b = random_signals<Real>(70, width + 2, 1);
  const SignalsOf<Real> own = random_signals<Real>(1, width + 1, 2);
  const SignalsOf<Real> values = random_signals<Real>(1, 40, 3);
  const double unit = 100 * double{std::numeric_limits<Real>::epsilon()};
  for (const std::size_t count : {0U, 1U, 40U}) {
    std::vector<std::int32_t> columns;
    for (std::size_t i = 0; i < count; ++i) columns.push_back(static_cast<int>(i * 29 % 70));
    for (const bool with_own : {false, true}) {
      Eigen::RowVectorXd expected = Eigen::RowVectorXd::Zero(width);
      for (std::size_t i = 0; i < count; ++i) {
        const auto row = b.row(columns[i]).leftCols(width).template cast<double>();
        expected += 0.5 * double{values(0, static_cast<Index>(i))} * row;
      }
      if (with_own) expected += 0.25 * own.leftCols(width).template cast<double>();
      SignalsOf<Real> sum = SignalsOf<Real>::Constant(1, width + 1, Real{7});
      kernels::row_kernels<Real>().sum_rows({.values = values.data(),
                                             .columns = columns.data(),
                                             .count = count,
                                             .b = b.data(),
                                             .stride = static_cast<std::size_t>(b.cols()),
                                             .scale = Real{0.5},
                                             .own = with_own ? own.data() : nullptr,
                                             .own_scale = Real{0.25}},
                                            static_cast<std::size_t>(width), sum.data());
      EXPECT_LE((sum.leftCols(width).template cast<double>() - expected).norm(), unit) << width;
      EXPECT_EQ(sum(0, width), Real{7}) << width;
    }
  }
}

TEST(RowKernels, SumRowsOnEveryInstructionSet) {
  const std::string before = kernels::current_target();
  for (const std::string& target : kernels::available_targets()) {
    kernels::use_target(target);
    for (const Index width : {0, 1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300, 513}) {
      check_sum_of_rows<float>(width);
      check_sum_of_rows<double>(width);
    }
  }
  kernels::use_target(before);
}

}  // namespace
}  // namespace ngf::detail
