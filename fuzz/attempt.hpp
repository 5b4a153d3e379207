#pragma once

#include "ngf/error.hpp"

namespace ngf::fuzz {

/// Calls `body`. An Error is the answer that a broken file gets; anything else is a find.
template <typename Body>
void attempt(const Body& body) {
  try {
    body();
  } catch (const Error&) {
    return;
  }
}

}  // namespace ngf::fuzz
