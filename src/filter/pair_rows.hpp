#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "filter/pair_values.hpp"
#include "kernels/dots.hpp"
#include "kernels/line.hpp"

namespace ngf::filter {

/// Weights of pairs of a node with others, one node after the other.
class RowWeights {
 public:
  RowWeights(const UnitRows& rows, double power) : rows_(rows), power_(power) {
    if (rows.compressed()) own_.assign(rows.width, 0.0F);
  }

  /// max(0, cosine)^power of u and each of the others.
  template <typename Column>
  void find(NodeId u, std::span<const Column> others, float* to) {
    find_cosines(u, others, to);
    raise_to_power({to, others.size()});
  }

 private:
  template <typename Column>
  void find_cosines(NodeId u, std::span<const Column> others, float* to) {
    if (!rows_.compressed()) return of_whole(u, others, to);
    for (std::uint64_t i = rows_.offsets[u]; i < rows_.offsets[u + 1]; ++i) {
      own_[rows_.columns[i]] = rows_.values[i];
    }
    for (std::size_t i = 0; i < others.size(); ++i) to[i] = with(others[i]);
    for (std::uint64_t i = rows_.offsets[u]; i < rows_.offsets[u + 1]; ++i) {
      own_[rows_.columns[i]] = 0;
    }
  }

  /// In one sum, in the order of the columns: what is 0 in one of the rows does not change it, so
  /// that cosines are symmetric to the last bit.
  float with(NodeId v) const {
    float sum = 0;
    for (std::uint64_t i = rows_.offsets[v]; i < rows_.offsets[v + 1]; ++i) {
      sum += rows_.values[i] * own_[rows_.columns[i]];
    }
    return sum;
  }

  template <typename Column>
  void of_whole(NodeId u, std::span<const Column> others, float* to) const {
    const float* const all = rows_.whole.data();
    const float* const row = all + u * rows_.lines * kernels::columns_in_line<float>;
    const kernels::DotKernels& kernels = kernels::dot_kernels();
    if constexpr (sizeof(Column) == 2) {
      kernels.listed_16(row, all, rows_.lines, others.data(), others.size(), to);
    } else {
      kernels.listed_32(row, all, rows_.lines, others.data(), others.size(), to);
    }
  }

  void raise_to_power(std::span<float> cosines) const {
    for (float& cosine : cosines) cosine = std::max(cosine, 0.0F);
    if (power_ == 1) return;
    for (float& weight : cosines) {
      if (weight == 0 && power_ > 0) continue;
      weight = static_cast<float>(std::pow(static_cast<double>(weight), power_));
    }
  }

  const UnitRows& rows_;
  double power_;
  std::vector<float> own_;  // the row of the node, whole
};

/// Weights of rows that are found on the way.
class FoundWeights {
 public:
  explicit FoundWeights(const PairStream& stream) : find_(stream.embeddings.rows(), stream.power) {}

  /// Until the next row is asked for.
  const float* of(NodeId u, std::span<const NodeId> columns) {
    weights_.resize(columns.size());
    find_.find(u, columns, weights_.data());
    return weights_.data();
  }

 private:
  RowWeights find_;
  std::vector<float> weights_;
};

}  // namespace ngf::filter
