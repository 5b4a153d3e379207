#include "io/zip_archive.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

#include "base/fail.hpp"
#include "io/quote.hpp"

namespace ngf::io {

namespace {

using detail::fail;

// No deflate stream unpacks to more than 1032 times its bytes: a match of 258 bytes takes 2 bits.
constexpr std::uint64_t deflate_ratio = 1032;

/// Null, with the reason in `error`, when there is none.
zip_source_t* source_of(const Input& input, zip_error_t* error) {
  if (input.descriptor() < 0) {
    return zip_source_buffer_create(input.in_memory().data(), input.size(), 0, error);
  }
  // libzip closes the file, so it gets one of its own.
  const int copy = ::fcntl(input.descriptor(), F_DUPFD_CLOEXEC, 0);
  std::FILE* const file = copy < 0 ? nullptr : ::fdopen(copy, "rb");
  if (file != nullptr) return zip_source_filep_create(file, 0, -1, error);
  zip_error_set(error, ZIP_ER_OPEN, errno);
  return nullptr;
}

}  // namespace

ZipArchive::ZipArchive(const Input& input) : input_(input) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = source_of(input, &error);
  if (source != nullptr) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
  if (!archive_) {
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    zip_source_free(source);
    fail("{}: not a readable ZIP archive: {}", input.name(), reason);
  }
  std::uint64_t total = 0;
  const auto count = static_cast<std::uint64_t>(zip_get_num_entries(archive_.get(), 0));
  for (std::uint64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive_.get(), i, 0, &stat) != 0) {
      fail("{}: entry {} of the ZIP directory cannot be read: {}", input.name(), i,
           zip_strerror(archive_.get()));
    }
    const Member member{i, stat.size, stat.comp_size};
    check_sizes(stat.name, member, total);
    total += member.bytes;
    if (!members_.emplace(stat.name, member).second) {
      fail("{}: holds the member {} twice", input.name(), quoted(stat.name));
    }
  }
}

void ZipArchive::check_sizes(const std::string& name, const Member& member,
                             std::uint64_t total) const {
  if (member.compressed > input_.size()) {
    fail("{}: member {} claims {} bytes of an archive of {}", input_.name(), quoted(name),
         member.compressed, input_.size());
  }
  if (member.bytes / deflate_ratio > member.compressed) {
    fail(
        "{}: member {} claims to unpack from {} to {} bytes, which deflate cannot do: looks like "
        "a zip bomb",
        input_.name(), quoted(name), member.compressed, member.bytes);
  }
  if (member.bytes > largest_total(input_.size()) - total) {
    fail(
        "{}: unpacks to more than {} bytes at member {}, from an archive of {}: looks like a zip "
        "bomb; save it uncompressed if it is none",
        input_.name(), largest_total(input_.size()), quoted(name), input_.size());
  }
}

std::string ZipArchive::read(std::string_view name, std::uint64_t limit) const {
  const auto found = members_.find(name);
  const std::string place = input_.name() + ": " + std::string(name);
  if (found == members_.end()) fail("{}: is not in the archive", place);
  const Member& member = found->second;
  if (member.bytes > limit) {
    fail("{}: holds {} bytes; at most {} are expected", place, member.bytes, limit);
  }
  zip_stat_t stat;
  zip_stat_index(archive_.get(), member.index, 0, &stat);
  if (stat.encryption_method != ZIP_EM_NONE) fail("{}: is encrypted; save it without", place);
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    fail("{}: is compressed by method {}; only stored (0) and deflated (8) members are read", place,
         stat.comp_method);
  }
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen_index(archive_.get(), member.index, 0), &zip_fclose);
  if (!file) fail("{}: cannot be read: {}", place, zip_strerror(archive_.get()));
  // One byte more than declared: a member that is longer shows itself, and libzip compares the
  // checksum when it meets the end.
  std::string bytes(static_cast<std::size_t>(member.bytes) + 1, '\0');
  std::size_t got = 0;
  for (;;) {
    const zip_int64_t n = zip_fread(file.get(), bytes.data() + got, bytes.size() - got);
    if (n < 0) fail("{}: is damaged: {}", place, zip_file_strerror(file.get()));
    got += static_cast<std::size_t>(n);
    if (n == 0 || got > member.bytes) break;
  }
  if (got != member.bytes) {
    fail("{}: is {} than the {} bytes that the archive declares", place,
         got < member.bytes ? "shorter" : "longer", member.bytes);
  }
  bytes.pop_back();
  return bytes;
}

}  // namespace ngf::io
