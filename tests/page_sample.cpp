// Prints the page of results that were made up, for page_browser_test.py. With --stand-in those of
// a machine without the data sets.

#include "tests/page_sample.hpp"

#include <cstdio>
#include <string_view>

#include "ngf/report/page.hpp"

int main(int argc, char** argv) {
  const bool stand_in = argc > 1 && std::string_view(argv[1]) == "--stand-in";
  const std::string page = ngf::reproduction_page(ngf::test::sample_results(stand_in).dump(),
                                                  ngf::test::sample_provenance().dump());
  return std::fputs(page.c_str(), stdout) < 0 ? 1 : 0;
}
