#include "tasks/node_data.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "tasks/costs.hpp"

namespace ngf::tasks {

namespace {

using SparseFeatures = std::variant_alternative_t<1, FeaturesOf<float>>;

/// What the numbers of node u are divided by.
float divisor(double sum, bool normalize, Eigen::Index u) {
  if (!std::isfinite(sum)) fail("a feature of node {} is no finite number", u);
  return normalize && sum > 0 ? static_cast<float>(sum) : 1.0F;
}

void divide_rows(MatrixF& x, bool normalize) {
  for (Eigen::Index u = 0; u < x.rows(); ++u) {
    x.row(u) /= divisor(x.row(u).cast<double>().cwiseAbs().sum(), normalize, u);
  }
}

void divide_rows(SparseFeatures& x, bool normalize) {
  for (Eigen::Index u = 0; u < x.outerSize(); ++u) {
    double sum = 0;
    for (SparseFeatures::InnerIterator entry(x, u); entry; ++entry) sum += std::fabs(entry.value());
    const float by = divisor(sum, normalize, u);
    for (SparseFeatures::InnerIterator entry(x, u); entry; ++entry) entry.valueRef() /= by;
  }
}

/// Whether so much is 0 that products take less time without it.
bool mostly_zero(const MatrixF& x) {
  const auto entries = static_cast<double>((x.array() != 0).count());
  return entries <= costs::sparse_share * static_cast<double>(x.size());
}

}  // namespace

FeaturesOf<float> features_of(const Dataset& dataset, bool normalize) {
  FeaturesOf<float> result;
  if (const auto* const dense = std::get_if<MatrixF>(&dataset.features)) {
    if (mostly_zero(*dense)) {
      result = SparseFeatures(dense->sparseView());
    } else {
      result = *dense;
    }
  } else if (const auto* const sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    result = SparseFeatures(*sparse);
  }
  if (dataset.feature_count() == 0) {
    fail("the data set has no features; a network needs a row of numbers for each node");
  }
  std::visit([&](auto& x) { divide_rows(x, normalize); }, result);
  return result;
}

FeaturesOf<float> rows_of(const FeaturesOf<float>& features, const std::vector<NodeId>& rows) {
  const auto count = static_cast<Eigen::Index>(rows.size());
  if (const auto* const dense = std::get_if<MatrixF>(&features)) {
    MatrixF result(count, dense->cols());
    for (Eigen::Index i = 0; i < count; ++i) {
      result.row(i) = dense->row(rows[static_cast<std::size_t>(i)]);
    }
    return result;
  }
  const auto& sparse = std::get<SparseFeatures>(features);
  SparseFeatures result(count, sparse.cols());
  for (Eigen::Index i = 0; i < count; ++i) {
    result.startVec(i);
    for (SparseFeatures::InnerIterator entry(sparse, rows[static_cast<std::size_t>(i)]); entry;
         ++entry) {
      result.insertBack(i, entry.col()) = entry.value();
    }
  }
  result.finalize();
  return result;
}

}  // namespace ngf::tasks
