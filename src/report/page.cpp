#include "ngf/report/page.hpp"

namespace ngf {

std::string reproduction_page(const std::string& results_json, const std::string&) {
  return "<!DOCTYPE html><meta charset=\"utf-8\"><pre>" + results_json + "</pre>";
}

}  // namespace ngf
