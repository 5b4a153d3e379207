#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ngf {

/// An option of the library by its name, such as `memory`, and the value to give it.
struct Setting {
  std::string field;
  /// True for an option to switch on; none where the user has to choose.
  std::variant<std::monostate, bool, std::uint64_t, std::string> value = {};
};

/// What to do about an error: text in which each {} stands for the next of the settings.
struct Advice {
  std::string text;
  std::vector<Setting> settings;
};

/// Thrown by every public function if the input or the machine fails. The message is one line: the
/// place (file, line, offset, value) and the remedy.
class Error : public std::runtime_error {
 public:
  /// The advice, where there is any, follows the problem.
  explicit Error(const std::string& problem, Advice advice = {});

  const Advice& advice() const { return content_->advice; }
  /// The text with settings in the words of an interface, such as `--memory 4000`. what() has
  /// `memory=4000`.
  std::string text(std::string (*spell)(const Setting& setting)) const;
  /// Puts the name of a file or a data set in front of a text that does not begin with it.
  void add_place(std::string_view name);

 private:
  struct Content {
    std::string problem;
    Advice advice;
  };
  std::shared_ptr<const Content> content_;  // shared, so that copies cannot fail
};

/// Thrown before an allocation that would exceed the memory budget.
class MemoryExceeded : public Error {
 public:
  MemoryExceeded(const std::string& problem, std::uint64_t needed, Advice advice = {})
      : Error(problem, std::move(advice)), needed_(needed) {}

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
