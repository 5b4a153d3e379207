#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

/// Standard input, output and error of the program. Everything that goes to standard error goes
/// through this file.
namespace ngf::cli {

/// Opens each of the descriptors 0, 1 and 2 that the caller has closed, so that no file of ours
/// takes its number. Reading from a closed standard input and writing to a closed standard output
/// still fail. Call it before any file is opened. Throws Error where /dev/null cannot be opened.
void open_standard_streams();

/// Writes to standard error. Text that cannot be written is dropped: this never throws and never
/// ends the program.
void write_stderr(std::string_view text) noexcept;

/// The same for a formatted text.
template <typename... Args>
void print_stderr(fmt::format_string<Args...> text, Args&&... args) {
  write_stderr(fmt::format(text, std::forward<Args>(args)...));
}

/// Whether this thread is inside `write_stderr`. For signal handlers.
bool writes_stderr() noexcept;

}  // namespace ngf::cli
