#include "io/csr.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"

namespace ngf::io {

void check_csr(const Csr& csr, std::string_view place) {
  const auto& indptr = csr.indptr;
  if (indptr.empty() || indptr.size() - 1 != csr.rows) {
    fail("{}: indptr has {} entries for {} rows; expected one more than rows", place, indptr.size(),
         csr.rows);
  }
  const auto falls = std::adjacent_find(indptr.begin(), indptr.end(), std::greater<>());
  if (falls != indptr.end()) {
    fail("{}: indptr falls from {} to {} at row {}", place, falls[0], falls[1],
         falls - indptr.begin());
  }
  if (indptr.front() != 0 || std::cmp_not_equal(indptr.back(), csr.indices.size())) {
    fail("{}: indptr runs from {} to {}; expected 0 to {}, the number of indices", place,
         indptr.front(), indptr.back(), csr.indices.size());
  }
}

SparseMatrixF to_sparse(const Csr& csr, std::span<const float> values, std::string_view place) {
  constexpr std::uint64_t most = std::numeric_limits<SparseMatrixF::StorageIndex>::max();
  if (csr.rows >= most || csr.cols > most || csr.indices.size() > most) {
    fail("{}: a sparse matrix of {} x {} with {} entries; at most {} of each are possible", place,
         csr.rows, csr.cols, csr.indices.size(), most);
  }
  SparseMatrixF matrix(static_cast<Eigen::Index>(csr.rows), static_cast<Eigen::Index>(csr.cols));
  matrix.reserve(static_cast<Eigen::Index>(csr.indices.size()));
  const auto by_column = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::vector<std::pair<std::uint32_t, float>> row;
  for (std::size_t i = 0; i < csr.rows; ++i) {
    row.clear();
    for (auto k = static_cast<std::size_t>(csr.indptr[i]);
         k < static_cast<std::size_t>(csr.indptr[i + 1]); ++k) {
      row.emplace_back(csr.indices[k], values[k]);
    }
    if (!std::is_sorted(row.begin(), row.end(), by_column)) {
      std::stable_sort(row.begin(), row.end(), by_column);
    }
    const auto outer = static_cast<Eigen::Index>(i);
    matrix.startVec(outer);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const auto inner = static_cast<Eigen::Index>(row[k].first);
      if (k > 0 && row[k].first == row[k - 1].first) {
        matrix.valuePtr()[matrix.data().size() - 1] += row[k].second;
      } else {
        matrix.insertBack(outer, inner) = row[k].second;
      }
    }
  }
  matrix.finalize();
  return matrix;
}

}  // namespace ngf::io
