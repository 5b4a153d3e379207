#pragma once

#include <memory>
#include <vector>

#include "base/aligned.hpp"
#include "filter/list_layout.hpp"
#include "filter/scales.hpp"
#include "ngf/pair_weights.hpp"

/// Weights of pairs: embeddings as rows of length 1, and a value for each pair of the shells.
namespace ngf::filter {

/// Rows of length 1, or of zeros: compressed, or, where few values are 0, whole.
struct UnitRows {
  NodeId nodes = 0;
  std::size_t width = 0;
  NodeId zero_rows = 0;
  std::vector<std::uint64_t> offsets;  // compressed, with increasing columns
  std::vector<std::uint32_t> columns;
  std::vector<float> values;
  std::size_t lines = 0;  // whole: cache lines per row, padded with zeros
  AlignedVector<float> whole;

  bool compressed() const { return !offsets.empty(); }
  std::uint64_t bytes() const;
};

/// A value for each column of shells that are lists, in their order.
struct PairValues {
  std::vector<std::uint64_t> begins;  ///< by row, and the end of the last
  AlignedVector<float> values;

  /// Values of a row, from hop 1 on, one hop after the other.
  const float* row(NodeId u) const { return values.data() + begins[u]; }
};

/// How weights of streamed rows are computed, for each product again.
struct PairStream {
  Embeddings embeddings;
  double power;
};

/// Weights of all pairs.
struct PairTables {
  std::unique_ptr<const PairStream> stream;  ///< of streamed shells, instead of values
  PairValues forward;
  std::unique_ptr<PairValues> back;  ///< of the transposed shells, where these are others
  /// How shells are normalised; null where they are not.
  std::unique_ptr<const ShellScales> scales;
  /// Whether the values are already multiplied by the scales, because these have factors of both
  /// nodes. Factors of rows alone stay apart: with them, a matrix and its transpose would have
  /// different values.
  bool scaled = false;

  std::uint64_t bytes() const;
};

/// Throws Error for streamed shells, whose weights are not held.
void check_held(const Shells& shells);

/// Bytes of the tables for shells with this number of pairs in lists.
std::uint64_t pair_table_bytes(NodeId nodes, std::uint32_t hops, bool directed, double pairs);

/// Computes them for shells of all rows, as lists, which are read in the order of the layouts, or
/// streamed.
PairTables make_pair_tables(const Shells& shells, const Layouts& layouts,
                            const Embeddings& embeddings, double power, Normalization normalization,
                            Progress* progress);

}  // namespace ngf::filter
