#include "ngf/report/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "detail/fail.hpp"
#include "io/input.hpp"

namespace ngf {

namespace {

using detail::fail;
using nlohmann::json;

// How every journal begins, whatever its job.
constexpr std::string_view mark = R"({"ngf-journal":1,"settings":)";

std::string header_line(const std::string& settings) {
  return std::string(mark) + json(settings).dump() + "}\n";
}

std::string piece_prefix(const std::string& key) {
  return R"({"key":)" + json(key).dump() + R"(,"piece":)";
}

/// After this a new name in a folder outlives a loss of power. Not every file system offers it.
void sync_folder(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  const int opened = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

bool same_file(int file, const std::filesystem::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

Journal::Journal(std::filesystem::path path, const std::string& settings, bool resume)
    : path_(std::move(path)) {
  open_and_lock();
  try {
    const std::string content = io::Input(path_).read_all();
    // Only a journal, or what one that was cut off left of its beginning, may be overwritten.
    const std::string_view begin = std::string_view(content).substr(0, mark.size());
    if (!mark.starts_with(begin)) {
      fail("{}: is there and is no journal; remove it or give another name", path_.string());
    }
    if (resume && content.find('\n') != std::string::npos) load(content, settings);
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) {
      fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    }
    if (bytes_ == 0) {
      append(header_line(settings));
      sync_folder(path_);
    }
  } catch (...) {
    ::close(file_);
    throw;
  }
}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

void Journal::open_and_lock() {
  for (;;) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file_ < 0) fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    struct stat status {};
    const bool regular = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
    const bool locked = regular && ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    // The job before us may have removed the file between our two calls.
    if (locked && same_file(file_, path_)) return;
    ::close(std::exchange(file_, -1));
    if (!regular) fail("{}: is no file that a journal can be kept in", path_.string());
    if (!locked) {
      fail("{}: another process is at this job; wait for it, or give another name", path_.string());
    }
  }
}

void Journal::load(const std::string& content, const std::string& settings) {
  const std::string header = header_line(settings);
  if (!content.starts_with(header)) {
    fail(
        "{}: its job has other settings than this one, so it cannot go on; remove the file, or "
        "give another name",
        path_.string());
  }
  bytes_ = header.size();
  for (;;) {
    const std::size_t end = content.find('\n', bytes_);
    if (end == std::string::npos) return;
    const std::string line = content.substr(bytes_, end - bytes_);
    const json parsed = json::parse(line, nullptr, false);
    // Whatever follows a broken line is done again.
    if (!parsed.is_object() || !parsed.contains("key") || !parsed["key"].is_string()) return;
    const auto key = parsed["key"].get<std::string>();
    const std::string prefix = piece_prefix(key);
    if (!line.starts_with(prefix)) return;
    pieces_[key] = line.substr(prefix.size(), line.size() - prefix.size() - 1);
    bytes_ = end + 1;
  }
}

void Journal::append(const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written =
        ::pwrite(file_, line.data() + done, line.size() - done, static_cast<off_t>(bytes_ + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    done += static_cast<std::size_t>(written);
  }
  if (::fsync(file_) != 0) fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  bytes_ += line.size();
}

const std::string* Journal::find(const std::string& key) const {
  const auto found = pieces_.find(key);
  return found == pieces_.end() ? nullptr : &found->second;
}

void Journal::add(const std::string& key, const std::string& json_text) {
  if (json_text.find('\n') != std::string::npos || !json::accept(json_text)) {
    fail("{}: piece '{}' is not JSON in one line", path_.string(), key);
  }
  append(piece_prefix(key) + json_text + "}\n");
  pieces_[key] = json_text;
}

void Journal::remove() {
  std::error_code gone_already;
  std::filesystem::remove(path_, gone_already);
  // The lock goes last, so that nobody takes up a job that is done.
  ::close(std::exchange(file_, -1));
}

}  // namespace ngf
