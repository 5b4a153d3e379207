// product_bench [THREADS [NAME ...]]: times dense products of the shapes that training has, those
// named or all of them, beside the libraries that are installed, and prints rows as JSON. 0
// threads, the default, are all.

#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>

#include "base/parallel.hpp"
#include "gemm.hpp"
#include "linalg/product.hpp"
#include "ngf/error.hpp"
#include "ngf/random.hpp"
#include "program.hpp"

namespace {

using ngf::bench::GemmTask;
using Signals = ngf::SignalsOf<float>;

struct Shape {
  std::string name;
  int rows = 0;
  int inner = 0;
  int columns = 0;
  bool a_transposed = false;
  bool b_transposed = false;
};

const std::vector<Shape> shapes{
    {"Cora, features", 2708, 1433, 512},
    {"Cora, gradient of features' weights", 1433, 2708, 512, true},
    {"Cora, features, 25 runs", 2708, 1433, 12800},
    {"Cora, gradient of features' weights, 25 runs", 1433, 2708, 12800, true},
    {"Citeseer, features", 3327, 3703, 512},
    {"Citeseer, gradient of features' weights", 3703, 3327, 512, true},
    {"Pubmed, features", 19717, 500, 64},
    {"Pubmed, gradient of features' weights", 500, 19717, 64, true},
    {"Cora, features to classes", 2708, 1433, 7},
    {"Cora, gradient of those weights", 1433, 2708, 7, true},
    {"Cora, classes", 2708, 512, 7},
    {"Cora, gradient of classes' weights", 512, 2708, 7, true},
    {"Cora, gradient of hidden signals", 2708, 7, 512, false, true},
    {"Pubmed, classes", 19717, 64, 3},
    {"Pubmed, gradient of classes' weights", 64, 19717, 3, true},
    {"Decoder", 256, 256, 150},
    {"Decoder, 64 signals", 256, 256, 9600},
    {"Decoder, its gradient", 256, 256, 256, false, true},
    {"Small", 256, 64, 64},
    {"Tiny", 32, 32, 32},
};

Signals random_signals(int rows, int columns, std::uint64_t seed) {
  ngf::Random random(seed);
  Signals result(rows, columns);
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    result.data()[i] = static_cast<float>(random.normal());
  }
  return result;
}

ngf::detail::ConstView<float> view_of(const float* data, int rows, int columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  return {data, rows, columns, columns, transposed};
}

/// The largest error on some of the numbers of C, over what random signs make of it.
double error_of(const GemmTask& task) {
  ngf::Random random(3);
  double error = 0;
  for (int n = 0; n < 1000; ++n) {
    const auto i = static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(task.rows)));
    const auto j =
        static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(task.columns)));
    double expected = 0;
    for (std::ptrdiff_t k = 0; k < task.inner; ++k) {
      const float a = task.a[task.a_transposed ? k * task.rows + i : i * task.inner + k];
      const float b = task.b[task.b_transposed ? j * task.inner + k : k * task.columns + j];
      expected += double{a} * double{b};
    }
    error = std::max(error, std::abs(double{task.c[i * task.columns + j]} - expected));
  }
  return error / std::sqrt(task.inner);
}

std::vector<ngf::bench::Row> rows_of(const Shape& shape, int threads, double rate,
                                     const std::vector<ngf::bench::Gemm>& peers) {
  const Signals a = random_signals(shape.rows, shape.inner, 1);
  const Signals b = random_signals(shape.inner, shape.columns, 2);
  Signals c(shape.rows, shape.columns);
  const GemmTask task{.rows = shape.rows,
                      .columns = shape.columns,
                      .inner = shape.inner,
                      .a = a.data(),
                      .b = b.data(),
                      .c = c.data(),
                      .a_transposed = shape.a_transposed,
                      .b_transposed = shape.b_transposed};
  std::vector<ngf::bench::Gemm> contenders{
      {"ngf", [threads, &c](const GemmTask& of) {
         ngf::detail::multiply(view_of(of.a, of.rows, of.inner, of.a_transposed),
                               view_of(of.b, of.inner, of.columns, of.b_transposed),
                               ngf::detail::view(c), ngf::detail::Into::replace, threads);
       }}};
  contenders.insert(contenders.end(), peers.begin(), peers.end());
  std::vector<std::function<void()>> bodies;
  for (const auto& contender : contenders) {
    c.setConstant(std::numeric_limits<float>::quiet_NaN());
    contender.multiply(task);
    if (!(error_of(task) < 1e-4)) throw ngf::Error(contender.name + " differs: " + shape.name);
    bodies.emplace_back([&] { contender.multiply(task); });
  }
  const std::vector<double> seconds = ngf::bench::best_seconds(bodies);
  const double work = 2.0 * shape.rows * shape.inner * shape.columns;
  std::vector<ngf::bench::Row> rows;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    rows.push_back({.name = shape.name + ", " + contenders[i].name,
                    .seconds = seconds[i],
                    .ratio = seconds[i] / seconds[0],
                    .limit_fraction = work / rate / seconds[i],
                    .note = fmt::format("{:.1f} GFLOP/s", work / seconds[i] / 1e9)});
    fmt::print(stderr, "{:<60} {:8.3f} ms {:6.2f} x {:5.2f} of the limit\n", rows.back().name,
               1e3 * seconds[i], rows.back().ratio, rows.back().limit_fraction);
  }
  return rows;
}

nlohmann::ordered_json run(int threads, const std::vector<std::string>& wanted) {
  const double rate = ngf::bench::multiplication_rate(threads);
  const auto peers = ngf::bench::gemms(threads);
  std::vector<ngf::bench::Row> rows;
  for (const Shape& shape : shapes) {
    if (!ngf::bench::is_wanted(wanted, shape.name)) continue;
    const auto of_shape = rows_of(shape, threads, rate, peers);
    rows.insert(rows.end(), of_shape.begin(), of_shape.end());
  }
  return {{"threads", threads}, {"multiplication_rate", rate}, {"rows", ngf::bench::json_of(rows)}};
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = ngf::detail::thread_count(argc > 1 ? std::atoi(argv[1]) : 0);
  const std::vector<std::string> wanted(argv + std::min(argc, 2), argv + argc);
  return ngf::bench::print_result("product_bench", [&] { return run(threads, wanted); });
}
