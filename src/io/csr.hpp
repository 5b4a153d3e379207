#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ngf/matrix.hpp"

namespace ngf::io {

/// Where the entries of a sparse matrix are, as compressed rows from a file: row i has the columns
/// indices[indptr[i]] ... indices[indptr[i + 1] - 1], in any order.
struct Csr {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::vector<std::int64_t> indptr;
  std::vector<std::uint32_t> indices;  ///< known to be less than `cols`
};

/// Throws Error, which `place` opens, unless `indptr` has rows + 1 entries that rise from 0 to the
/// number of indices.
void check_csr(const Csr& csr, std::string_view place);

/// The matrix with these values, rows sorted; entries that a row has twice are added up. `csr` is
/// checked already. Throws Error when it is too large for the matrix type.
SparseMatrixF to_sparse(const Csr& csr, std::span<const float> values, std::string_view place);

}  // namespace ngf::io
