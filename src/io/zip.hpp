#pragma once

#include <zip.h>

#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "io/atomic_file.hpp"
#include "io/input.hpp"

namespace ngf::io {

/// A ZIP archive to read from, stored or deflated, ZIP64 included. It trusts no number of the file:
/// an archive whose members would unpack to more than 32 MB + 128 times its own bytes is refused
/// as a zip bomb, and so is a member that claims more than deflate can hold in its bytes.
class ZipArchive {
 public:
  struct Member {
    std::uint64_t index;
    std::uint64_t bytes;       ///< unpacked
    std::uint64_t compressed;  ///< as it lies in the archive
  };

  /// Reads the directory. `input` outlives this object. Throws Error for what is no ZIP archive.
  explicit ZipArchive(const Input& input);
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;
  ~ZipArchive() = default;

  const std::map<std::string, Member, std::less<>>& members() const { return members_; }
  bool contains(std::string_view name) const { return members_.contains(name); }

  /// The most bytes that the members of an archive of this size may unpack to, together.
  static std::uint64_t largest_total(std::uint64_t archive_bytes) {
    return (std::uint64_t{32} << 20U) + 128 * archive_bytes;
  }

  /// Unpacks the member `name`, which must be there. Throws Error, naming it, when it is larger
  /// than `limit`, when its data are not what the directory says, or when it is encrypted.
  std::string read(std::string_view name,
                   std::uint64_t limit = std::numeric_limits<std::uint64_t>::max()) const;

 private:
  struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
  };

  void check_sizes(const std::string& name, const Member& member, std::uint64_t total) const;

  const Input& input_;
  std::unique_ptr<zip_t, Discard> archive_;
  std::map<std::string, Member, std::less<>> members_;
};

/// A member to write: its bytes are `head` followed by `body`, which outlives the writing.
struct ZipMember {
  std::string name;
  std::string head;
  std::span<const char> body;
};

/// Fills `file`, which is the caller's to commit, with a ZIP archive: deflated, unless readers
/// would refuse the result as a zip bomb. The same members give an identical archive.
void write_zip(const AtomicFile& file, std::span<const ZipMember> members);

}  // namespace ngf::io
