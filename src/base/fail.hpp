#pragma once

#include <fmt/format.h>

#include "ngf/error.hpp"

namespace ngf::detail {

/// Throws Error with a formatted text.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace ngf::detail

namespace ngf {

using detail::fail;

}  // namespace ngf
