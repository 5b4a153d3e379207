#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ngf {

/// Thrown by every public function if the input or the machine fails. The message is one line: the
/// place (file, line, offset, value) and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown before an allocation that would exceed the memory budget.
class MemoryExceeded : public Error {
 public:
  MemoryExceeded(const std::string& text, std::uint64_t needed) : Error(text), needed_(needed) {}

  std::uint64_t needed() const { return needed_; }  ///< bytes of a budget that would do

 private:
  std::uint64_t needed_;
};

/// Thrown by long computations after `Progress::stop_requested` has returned true.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

}  // namespace ngf
