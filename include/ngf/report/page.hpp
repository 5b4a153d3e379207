#pragma once

#include <string>

namespace ngf {

/// The report of `ngf reproduce`: one HTML page with all that its results say, for a browser that
/// need not be connected to anything. The same results are the same text. The arguments are the
/// contents of results.json and provenance.json; throws Error where they are none.
std::string reproduction_page(const std::string& results_json, const std::string& provenance_json);

}  // namespace ngf
