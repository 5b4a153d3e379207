#include "io/zip_writer.hpp"

#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/fail.hpp"
#include "io/zip_archive.hpp"

namespace ngf::io {

namespace {

using detail::fail;

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
  if (zip_close(opened) != 0) {
    fail("{}: cannot be written: {}", sink.name, zip_strerror(opened));
  }
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
