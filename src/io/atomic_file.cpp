#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/fail.hpp"

namespace ngf::io {

namespace {

// Names of temporary files, for a signal handler to remove. A thread takes a slot by changing its
// pointer from null; the text it points at lives as long as its AtomicFile.
std::array<std::atomic<const char*>, 64> unfinished{};

void remember(const char* path) {
  for (auto& slot : unfinished) {
    const char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, path)) return;
  }
}

void forget(const char* path) {
  for (auto& slot : unfinished) {
    const char* expected = path;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
  if (target_ == standard_output) {
    // Opened by its name, a file would be replaced instead of continued.
    file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (file_ < 0) fail("{}: cannot be written: {}", target_.string(), std::strerror(errno));
    return;
  }
  std::error_code absent;
  const auto status = std::filesystem::status(target_, absent);
  if (std::filesystem::is_directory(status)) {
    fail("{}: is a folder; name the file to write", target_.string());
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    file_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("{}: cannot be written: {}", target_.string(), std::strerror(errno));
    return;
  }
  // A link goes on pointing where it did.
  if (std::filesystem::is_symlink(target_, absent) && std::filesystem::exists(status)) {
    target_ = std::filesystem::canonical(target_);
  }
  std::string name = target_.parent_path() / fmt::format(".{}.XXXXXX", target_.filename().string());
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("{}: cannot be written: {}", target_.string(), std::strerror(errno));
  passing_path_ = name;
  remember(passing_path_.c_str());
  // mkostemp makes files for the owner alone; a result is as readable as any other file.
  ::fchmod(file_, default_mode());
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  if (passing_path_.empty()) return;
  ::unlink(passing_path_.c_str());
  forget(passing_path_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  const int failure = write_all(file_, bytes);
  if (failure != 0) fail("{}: cannot be written: {}", target_.string(), std::strerror(failure));
}

void AtomicFile::commit() {
  if (!passing_path_.empty()) {
    if (::fsync(file_) != 0 || ::rename(passing_path_.c_str(), target_.c_str()) != 0) {
      fail("{}: cannot be written: {}", target_.string(), std::strerror(errno));
    }
    forget(passing_path_.c_str());
  }
  ::close(std::exchange(file_, -1));
}

int write_all(int file, std::string_view bytes, std::optional<std::uint64_t> offset) {
  while (!bytes.empty()) {
    const ssize_t written =
        offset ? ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(*offset))
               : ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
    if (offset) *offset += static_cast<std::uint64_t>(written);
  }
  return 0;
}

void remove_unfinished_files() noexcept {
  for (auto& slot : unfinished) {
    const char* path = slot.exchange(nullptr);
    if (path != nullptr) ::unlink(path);
  }
}

}  // namespace ngf::io
