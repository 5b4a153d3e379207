#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace ngf {

/// What every public function throws when the input or the machine fails it. The text is one line
/// for a person: it names the place (file, line, offset, value), and what to do about it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thrown before memory is taken that would pass the budget.
class MemoryExceeded : public Error {
 public:
  MemoryExceeded(const std::string& text, std::uint64_t needed) : Error(text), needed_(needed) {}

  std::uint64_t needed() const { return needed_; }  ///< bytes of a budget that would do

 private:
  std::uint64_t needed_;
};

/// Thrown by long work after `Progress::stop_requested` has answered true.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

}  // namespace ngf
