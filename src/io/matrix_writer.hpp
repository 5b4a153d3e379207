#pragma once

#include <cstddef>
#include <filesystem>

#include "io/atomic_file.hpp"
#include "ngf/io/read.hpp"
#include "ngf/matrix.hpp"

namespace ngf::io {

/// A matrix of single precision that is written some rows at a time: as .npy where the name says
/// so, else as CSV. The file appears whole or not at all.
class MatrixWriter {
 public:
  /// A CSV has `text` around the numbers. Throws Error for an empty table of CSV.
  MatrixWriter(const std::filesystem::path& path, Eigen::Index rows, Eigen::Index columns,
               TableText text = {});

  /// Appends rows.
  void write(const MatrixF& rows);
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
  bool npy_;
  TableText text_;
  std::size_t written_ = 0;  // rows
};

}  // namespace ngf::io
