#pragma once

#include <functional>

#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "ngf/io/read.hpp"
#include "ngf/matrix.hpp"

namespace ngf::io {

/// What precedes the numbers in a .npy file.
struct NpyHeader {
  char kind = 'f';  ///< NumPy's letter: b bool, i, u, f numbers, S, U text, O Python objects
  std::uint64_t item_bytes = 8;
  bool big_endian = false;
  bool fortran_order = false;  ///< the first index runs fastest
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  ///< bytes before the first number

  std::uint64_t count() const;       ///< entries; a 0-d array has one
  std::uint64_t data_bytes() const;  ///< count() * item_bytes, which never overflows
  std::string dtype() const;         ///< "<f8", as NumPy writes it
};

/// Reads the header at the front of `bytes`, a whole .npy file or enough of it. `place` opens every
/// error. Throws Error for what is no .npy file, or for records and Python objects.
NpyHeader parse_npy_header(std::string_view bytes, std::string_view place);

/// An array that was read. The functions below give its entries in C order (the last index runs
/// fastest), whatever the order in the file, and throw Error where the dtype is another kind.
class NpyArray {
 public:
  /// Takes a whole .npy file. Throws Error unless it holds as many bytes as its header promises.
  NpyArray(std::string file, std::string place);

  const NpyHeader& header() const { return header_; }
  std::span<const std::uint64_t> shape() const { return header_.shape; }
  std::uint64_t count() const { return header_.count(); }
  const std::string& place() const { return place_; }

  std::vector<double> to_doubles() const;  ///< numbers and bools
  std::vector<float> to_floats() const;
  std::vector<std::int64_t> to_int64s() const;  ///< whole numbers and bools
  std::vector<std::uint8_t> to_bools() const;   ///< bools, and whole numbers that are 0 or 1
  std::string to_text() const;                  ///< a single S or U, ASCII alone
  /// Whole numbers, each of which must be in 0..bound-1.
  std::vector<std::uint32_t> to_indices(std::uint64_t bound) const;
  /// One dimension becomes a column; more than two are an Error.
  MatrixF to_matrix() const;

 private:
  template <typename To>
  std::vector<To> converted() const;

  std::string file_;
  std::string place_;
  NpyHeader header_;
};

/// A file with a matrix of numbers or bools, which is read some rows at a time. An array of one
/// dimension is a column; more than two are an Error.
class NpyMatrixReader {
 public:
  explicit NpyMatrixReader(const Input& input);

  Eigen::Index rows() const { return rows_; }
  Eigen::Index cols() const { return cols_; }

  /// Calls visit(lines, first, transposed) for blocks of consecutive rows from row `first`; of
  /// columns, where the file holds one after the other.
  void for_each_block(const std::function<void(const Matrix& lines, Eigen::Index first,
                                               bool transposed)>& visit) const;

 private:
  const Input& input_;
  NpyHeader header_;
  Eigen::Index rows_;
  Eigen::Index cols_;
};

/// Reads such a file as a whole.
Matrix read_npy_matrix(const Input& input, const MatrixReadOptions& options = {});

/// The bytes before the numbers of a C-order array, padded as NumPy pads them. `dtype` is such as
/// "<f8" or "|u1". What follows is the caller's to write, so that it need not be in memory.
std::string npy_header(std::string_view dtype, std::span<const std::uint64_t> shape);

/// Writes a whole .npy file of float64.
void write_npy(AtomicFile& file, const Matrix& matrix);

}  // namespace ngf::io
