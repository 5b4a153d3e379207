#pragma once

#include "io/csr.hpp"
#include "io/input.hpp"

namespace ngf::io {

/// A Python pickle (protocol 2, as Python 2 wrote it) that holds data: numbers, strings, tuples,
/// lists, dictionaries, NumPy arrays and SciPy's csr_matrix. Nothing in it is ever run: an opcode,
/// a class or a function that such data do not need is refused by name.
///
/// Values are numbered, and containers hold the numbers of what is in them, so that a value which
/// the pickle repeats (even within itself) is there once, and memory stays within a small multiple
/// of the file.
class Pickle {
 public:
  using Ref = std::uint32_t;

  enum class Kind : std::uint8_t {
    none,
    boolean,
    integer,
    string,
    tuple,
    list,
    dict,
    global,   // a class or function, by name
    dtype,    // numpy.dtype
    ndarray,  // numpy.ndarray
    csr,      // scipy.sparse.csr_matrix
  };

  /// Reads all of `input`. Throws Error that names the byte where something is wrong.
  explicit Pickle(const Input& input);

  /// What the pickle is of.
  Ref root() const { return root_; }
  Kind kind(Ref value) const { return nodes_[value].kind; }

  /// These throw Error, which `what` opens, when the value is of another kind.
  std::int64_t integer(Ref value, std::string_view what) const;
  std::string_view string(Ref value, std::string_view what) const;
  /// What is in a tuple or a list; of a dictionary, key, value, key, value, ...
  std::vector<Ref> items(Ref value, Kind kind, std::string_view what) const;

  /// An array of int32 or float32, in C order.
  struct Array {
    std::vector<std::uint64_t> shape;
    std::string_view bytes;  ///< 4 an entry, in the pickle's own memory
    std::vector<std::int32_t> ints() const;
    std::vector<float> floats() const;
  };
  /// Throws Error unless `value` is such an array of `letter` (i or f), with as many bytes as its
  /// shape takes.
  Array array(Ref value, char letter, std::string_view what) const;

  struct Sparse {
    Csr csr;
    std::vector<float> values;
  };
  /// Throws Error unless `value` is a csr_matrix of float32 that keeps the format's promises.
  Sparse sparse(Ref value, std::string_view what) const;

 private:
  friend class PickleMachine;

  // What the numbers mean depends on the kind:
  //   boolean, integer   a: the value
  //   string             a: where it begins in the file, b: its length
  //   tuple, list, dict  a: the first cell, b: the last
  //   global             a: which of those that are known
  //   dtype              a: the letter i or f; b: 1 once its byte order is known
  //   ndarray, csr       a: the state that BUILD gave it, 0 (which is None) while it has none
  struct Node {
    Kind kind = Kind::none;
    std::uint32_t a = 0;
    std::uint32_t b = 0;
  };
  // Containers are chains of cells; cell 0 is the end of all.
  struct Cell {
    Ref value;
    std::uint32_t next;
  };

  void need(Ref value, Kind kind, std::string_view what) const;
  Ref entry(const std::vector<Ref>& dict, std::string_view key, std::string_view what) const;

  std::string name_;
  std::string bytes_;
  std::vector<Node> nodes_;
  std::vector<Cell> cells_;
  Ref root_ = 0;
};

}  // namespace ngf::io
