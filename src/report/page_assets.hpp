#pragma once

#include <string_view>

namespace ngf::report {

/// How the page of a report looks, and what it does when it is touched.
extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace ngf::report
