#include "tasks/fingerprint.hpp"

#include <fmt/format.h>

#include <span>
#include <variant>

#include "filter/pair_values.hpp"
#include "io/sha256.hpp"

namespace ngf::detail {

namespace {

template <typename Number>
void add_numbers(io::Sha256& sum, std::span<const Number> numbers) {
  sum.add(fmt::format("{};", numbers.size()));
  sum.add({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

void add_features(io::Sha256& sum, const Dataset& dataset) {
  if (const auto* dense = std::get_if<MatrixF>(&dataset.features)) {
    add_numbers<float>(sum, {dense->data(), static_cast<std::size_t>(dense->size())});
  } else if (const auto* sparse = std::get_if<SparseMatrixF>(&dataset.features)) {
    for (Eigen::Index u = 0; u < sparse->outerSize(); ++u) {
      for (SparseMatrixF::InnerIterator entry(*sparse, u); entry; ++entry) {
        const auto column = static_cast<std::int64_t>(entry.col());
        const float value = entry.value();
        sum.add({reinterpret_cast<const char*>(&column), sizeof(column)});
        sum.add({reinterpret_cast<const char*>(&value), sizeof(value)});
      }
      sum.add(";");
    }
  }
}

}  // namespace

std::string fingerprint(const Dataset& dataset, const Split& split) {
  io::Sha256 sum;
  add_numbers(sum, dataset.graph.offsets());
  add_numbers(sum, dataset.graph.targets());
  add_numbers(sum, dataset.graph.weights());
  add_numbers<std::int32_t>(sum, dataset.labels);
  add_features(sum, dataset);
  for (const auto* part : {&split.train, &split.validation, &split.test}) {
    add_numbers<NodeId>(sum, *part);
  }
  return sum.finish();
}

std::string fingerprint(const Embeddings& embeddings) {
  const filter::UnitRows& rows = embeddings.rows();
  io::Sha256 sum;
  add_numbers<std::uint64_t>(sum, rows.offsets);
  add_numbers<std::uint32_t>(sum, rows.columns);
  add_numbers<float>(sum, rows.values);
  add_numbers<float>(sum, rows.whole);
  return sum.finish();
}

}  // namespace ngf::detail
