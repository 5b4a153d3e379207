#include "io/input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "base/memory.hpp"

namespace ngf::io {

Input::Input(const std::filesystem::path& path, std::uint64_t memory) : name_(path.string()) {
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) fail("{}: cannot be opened: {}", name_, std::strerror(errno));
  try {
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail("{}: {}", name_, std::strerror(errno));
    if (S_ISDIR(status.st_mode)) fail("{}: is a folder; name a file in it", name_);
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (!S_ISREG(status.st_mode)) hold_pipe(memory);
  } catch (...) {
    ::close(file_);
    throw;
  }
}

void Input::hold_pipe(std::uint64_t memory) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (size_ = 0;;) {
    if (size_ + piece > held_.capacity()) {
      // While the content moves to a larger place, it is in both.
      const std::size_t larger = 2 * (size_ + piece);
      check_budget(larger, memory, name_ + ": what comes through the pipe");
      held_.reserve(larger);
    }
    held_.resize(size_ + piece);
    const ssize_t got = ::read(file_, held_.data() + size_, piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", name_, std::strerror(errno));
    if (got == 0) break;
    size_ += static_cast<std::uint64_t>(got);
  }
  held_.resize(size_);
  in_memory_ = held_;
  ::close(std::exchange(file_, -1));
}

Input::Input(std::string name, std::span<const char> bytes)
    : name_(std::move(name)), size_(bytes.size()), in_memory_(bytes) {}

Input::~Input() {
  if (file_ >= 0) ::close(file_);
}

void Input::read(std::uint64_t offset, std::span<char> into) const {
  if (offset > size_ || into.size() > size_ - offset) {
    fail("{}: ends at byte {}; expected {} bytes from byte {}", name_, size_, into.size(), offset);
  }
  if (file_ < 0) {
    std::copy_n(in_memory_.begin() + static_cast<std::ptrdiff_t>(offset), into.size(),
                into.begin());
    return;
  }
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(file_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", name_, std::strerror(errno));
    if (got == 0) fail("{}: became shorter while it was read", name_);
    done += static_cast<std::size_t>(got);
  }
}

std::string Input::read_at(std::uint64_t offset, std::uint64_t length) const {
  std::string bytes;
  if (offset >= size_) return bytes;
  bytes.resize(static_cast<std::size_t>(std::min(length, size_ - offset)));
  read(offset, bytes);
  return bytes;
}

}  // namespace ngf::io
