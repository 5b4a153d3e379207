#include "io/zip_archive.hpp"

#include <algorithm>
#include <cerrno>

#include "base/fail.hpp"
#include "io/quote.hpp"

namespace ngf::io {

namespace {

using detail::fail;

// No deflate stream unpacks to more than 1032 times its bytes: a match of 258 bytes takes 2 bits.
constexpr std::uint64_t deflate_ratio = 1032;

}  // namespace

zip_int64_t ZipArchive::serve(void* source, void* data, zip_uint64_t length,
                              zip_source_cmd_t command) {
  auto& [input, position, error] = *static_cast<Source*>(source);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      position = 0;
      return 0;
    case ZIP_SOURCE_READ: {
      const std::uint64_t got = std::min(length, input.size() - position);
      try {
        input.read(position, {static_cast<char*>(data), static_cast<std::size_t>(got)});
      } catch (const Error&) {  // no exception may pass through C
        zip_error_set(&error, ZIP_ER_READ, EIO);
        return -1;
      }
      position += got;
      return static_cast<zip_int64_t>(got);
    }
    case ZIP_SOURCE_SEEK: {
      const zip_int64_t to =
          zip_source_seek_compute_offset(position, input.size(), data, length, &error);
      if (to < 0) return -1;
      position = static_cast<std::uint64_t>(to);
      return 0;
    }
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(position);
    case ZIP_SOURCE_STAT:
      zip_stat_init(static_cast<zip_stat_t*>(data));
      static_cast<zip_stat_t*>(data)->size = input.size();
      static_cast<zip_stat_t*>(data)->valid = ZIP_STAT_SIZE;
      return sizeof(zip_stat_t);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&error, data, length);
    case ZIP_SOURCE_SUPPORTS:
      return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    default:  // CLOSE and FREE: the object outlives libzip's
      return 0;
  }
}

ZipArchive::ZipArchive(const Input& input) : source_{input} {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_function_create(&ZipArchive::serve, &source_, &error);
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
  const Input& input = source_.input;
  if (member.compressed > input.size()) {
    fail("{}: member {} claims {} bytes of an archive of {}", input.name(), quoted(name),
         member.compressed, input.size());
  }
  if (member.bytes / deflate_ratio > member.compressed) {
    fail(
        "{}: member {} claims to unpack from {} to {} bytes, which deflate cannot do: looks like "
        "a zip bomb",
        input.name(), quoted(name), member.compressed, member.bytes);
  }
  if (member.bytes > largest_total(input.size()) - total) {
    fail(
        "{}: unpacks to more than {} bytes at member {}, from an archive of {}: looks like a zip "
        "bomb; save it uncompressed if it is none",
        input.name(), largest_total(input.size()), quoted(name), input.size());
  }
}

std::string ZipArchive::read(std::string_view name, std::uint64_t limit) const {
  const auto found = members_.find(name);
  const std::string place = source_.input.name() + ": " + std::string(name);
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
