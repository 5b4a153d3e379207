#pragma once

#include <nlohmann/json.hpp>

#include "ngf/nn/model.hpp"

namespace ngf::nn {

/// Functions as one, for what calls them with arguments of several kinds.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// The settings by name, in their order.
inline nlohmann::ordered_json to_json(const ModelSettings& settings) {
  nlohmann::ordered_json result;
  visit_fields(settings,
               Overloaded{[&](const char* name, const auto& value) { result[name] = value; },
                          [&](const char* name, auto kind, auto name_of, auto) {
                            result[name] = name_of(kind);
                          }});
  return result;
}

}  // namespace ngf::nn
