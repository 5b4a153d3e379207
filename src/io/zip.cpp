#include "io/zip.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/fail.hpp"

namespace ngf::io {

namespace {

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

// ---- Writing ----

namespace {

// libzip, left alone, writes to a file of its own beside the target, which would stay behind if the
// process were interrupted. Here it writes into the passing file of an AtomicFile.
struct Sink {
  std::string name;
  int file;
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  zip_error_t error{};

  explicit Sink(const AtomicFile& target)
      : name(target.target().string()), file(target.descriptor()) {}

  zip_int64_t write(const void* data, zip_uint64_t length) {
    // libzip reports a write of fewer bytes as an interrupted system call.
    const int failure = write_all(file, {static_cast<const char*>(data), length}, position);
    if (failure != 0) {
      zip_error_set(&error, ZIP_ER_WRITE, failure);
      return -1;
    }
    position += length;
    size = std::max(size, position);
    return static_cast<zip_int64_t>(length);
  }

  static zip_int64_t serve(void* sink, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto& self = *static_cast<Sink*>(sink);
    switch (command) {
      case ZIP_SOURCE_WRITE:
        return self.write(data, length);
      case ZIP_SOURCE_SEEK_WRITE: {
        const zip_int64_t to =
            zip_source_seek_compute_offset(self.position, self.size, data, length, &self.error);
        if (to < 0) return -1;
        self.position = static_cast<std::uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL_WRITE:
        return static_cast<zip_int64_t>(self.position);
      case ZIP_SOURCE_STAT:
        zip_stat_init(static_cast<zip_stat_t*>(data));
        return sizeof(zip_stat_t);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&self.error, data, length);
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE;
      default:  // OPEN, CLOSE, FREE, and the begin and end of the one time that it is written
        return 0;
    }
  }
};

void add_member(zip_t* archive, const ZipMember& member, bool deflated, const std::string& file) {
  // libzip only reads what these point at.
  auto bytes_of = [](std::span<const char> bytes) {
    return zip_buffer_fragment_t{
        const_cast<zip_uint8_t*>(reinterpret_cast<const zip_uint8_t*>(bytes.data())), bytes.size()};
  };
  const std::array fragments{bytes_of(member.head), bytes_of(member.body)};
  zip_source_t* const source =
      zip_source_buffer_fragment(archive, fragments.data(), fragments.size(), 0);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, member.name.c_str(), source, 0);
  if (index < 0) {
    zip_source_free(source);
    fail("{}: member {} cannot be added: {}", file, member.name, zip_strerror(archive));
  }
  const auto i = static_cast<zip_uint64_t>(index);
  constexpr zip_uint16_t first_of_january_1980 = 0x21;
  zip_file_set_dostime(archive, i, 0, first_of_january_1980, 0);
  zip_set_file_compression(archive, i, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
}

std::uint64_t write_archive(const AtomicFile& file, std::span<const ZipMember> members,
                            bool deflated) {
  Sink sink(file);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const source = zip_source_function_create(&Sink::serve, &sink, &error);
  zip_t* const opened =
      source == nullptr ? nullptr : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (opened == nullptr) {
    zip_source_free(source);
    fail("{}: cannot be written: {}", sink.name, zip_error_strerror(&error));
  }
  std::unique_ptr<zip_t, void (*)(zip_t*)> archive(opened, &zip_discard);
  for (const ZipMember& member : members) add_member(opened, member, deflated, sink.name);
  if (zip_close(opened) != 0) fail("{}: cannot be written: {}", sink.name, zip_strerror(opened));
  static_cast<void>(archive.release());
  return sink.size;
}

}  // namespace

void write_zip(const AtomicFile& file, std::span<const ZipMember> members) {
  std::uint64_t total = 0;
  for (const ZipMember& member : members) total += member.head.size() + member.body.size();
  const std::uint64_t archive_bytes = write_archive(file, members, true);
  if (total > ZipArchive::largest_total(archive_bytes)) write_archive(file, members, false);
}

}  // namespace ngf::io
