#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ngf::cli {

/// One line for a mistyped verb or flag: "trian: no such verb; did you mean train?". Call it after
/// the program has thrown a parse error; `verb` is the innermost verb that was recognized. Empty
/// where nothing was mistyped or no known name is similar.
std::string suggest(const CLI::App& program, const CLI::App& verb);

}  // namespace ngf::cli
