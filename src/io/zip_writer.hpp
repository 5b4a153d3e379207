#pragma once

#include <span>
#include <string>

#include "io/atomic_file.hpp"

namespace ngf::io {

/// A member to write: its bytes are `head` followed by `body`, which outlives the writing.
struct ZipMember {
  std::string name;
  std::string head;
  std::span<const char> body;
};

/// Fills `file`, which is the caller's to commit, with a ZIP archive: deflated, unless the result
/// would look like a zip bomb to whoever reads it. The same members give the same bytes.
void write_zip(const AtomicFile& file, std::span<const ZipMember> members);

}  // namespace ngf::io
