#include "ngf/tasks/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/sha256.hpp"

namespace ngf {

namespace {

using nlohmann::json;

// How journals of every format begin, those of this format, and the lines that follow.
constexpr std::string_view any_journal = R"({"ngf-journal":)";
constexpr std::string_view header_begin = R"({"ngf-journal":2,)";
constexpr std::string_view record_begin = "{";

/// A line of JSON: `begin`, the checksum of `content`, `content`.
std::string checked_line(std::string_view begin, std::string_view content) {
  constexpr std::size_t digits = 16;
  io::Sha256 sum;
  sum.add(content);
  return fmt::format(R"({}"sha256":"{}",{})", begin, sum.finish().substr(0, digits), content);
}

/// The content of such a line; nothing where any of its bytes is wrong.
std::optional<std::string_view> content_of(std::string_view line, std::string_view begin) {
  static const std::size_t checksum_bytes = checked_line("", "").size();
  if (line.size() < begin.size() + checksum_bytes) return {};
  const std::string_view content = line.substr(begin.size() + checksum_bytes);
  if (line != checked_line(begin, content)) return {};
  return content;
}

std::string header_content(const std::string& settings) {
  return R"("settings":)" + json(settings).dump() + "}";
}

std::string record_prefix(const std::string& key) {
  return R"("key":)" + json(key).dump() + R"(,"piece":)";
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
    const std::string_view begin = std::string_view(content).substr(0, any_journal.size());
    if (!any_journal.starts_with(begin)) {
      fail("{}: is there and is no journal; remove it or give another name", path_.string());
    }
    if (resume && content.find('\n') != std::string::npos) load(content, settings);
    if (::ftruncate(file_, static_cast<off_t>(bytes_)) != 0) {
      fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
    }
    if (bytes_ == 0) {
      append(checked_line(header_begin, header_content(settings)) + "\n");
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
  const std::size_t header_end = content.find('\n');
  check_header(std::string_view(content).substr(0, header_end), settings);
  bytes_ = header_end + 1;
  for (;;) {
    const std::size_t end = content.find('\n', bytes_);
    if (end == std::string::npos) return;
    const std::size_t size = end - bytes_;
    // An empty line stands for damage that an earlier process has told.
    if (size > 0 && !load_record(std::string_view(content).substr(bytes_, size))) {
      ++damaged_;
      write(std::string(size, '\n'));
    }
    bytes_ = end + 1;
  }
}

void Journal::check_header(std::string_view header, const std::string& settings) const {
  constexpr std::string_view remedy = "remove the file to start again, or give another name";
  if (!header.starts_with(header_begin)) {
    fail("{}: a journal of another version of ngf; {}", path_.string(), remedy);
  }
  const auto content = content_of(header, header_begin);
  if (!content) {
    fail("{}: its first line is damaged, so its job is unknown; {}", path_.string(), remedy);
  }
  if (*content != header_content(settings)) {
    fail("{}: its job has other settings than this one, so it cannot go on; {}", path_.string(),
         remedy);
  }
}

bool Journal::load_record(std::string_view line) {
  const auto content = content_of(line, record_begin);
  if (!content) return false;
  const json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("key") || !parsed["key"].is_string()) return false;
  const auto key = parsed["key"].get<std::string>();
  const std::string prefix = record_prefix(key);
  if (!content->starts_with(prefix)) return false;
  pieces_[key] = content->substr(prefix.size(), content->size() - prefix.size() - 1);
  return true;
}

void Journal::write(const std::string& text) {
  const int failure = io::write_all(file_, text, bytes_);
  if (failure != 0) fail("{}: cannot be written: {}", path_.string(), std::strerror(failure));
}

void Journal::append(const std::string& line) {
  write(line);
  if (::fsync(file_) != 0) fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  bytes_ += line.size();
}

std::string Journal::damage() const {
  if (damaged_ == 0) return {};
  return fmt::format("{}: {} damaged {}; what was lost is computed again", path_.string(), damaged_,
                     damaged_ == 1 ? "record" : "records");
}

const std::string* Journal::find(const std::string& key) const {
  const auto found = pieces_.find(key);
  return found == pieces_.end() ? nullptr : &found->second;
}

void Journal::add(const std::string& key, const std::string& json_text) {
  if (json_text.find('\n') != std::string::npos || !json::accept(json_text)) {
    fail("{}: piece '{}' is not JSON in one line", path_.string(), key);
  }
  append(checked_line(record_begin, record_prefix(key) + json_text + "}") + "\n");
  pieces_[key] = json_text;
}

void Journal::remove() {
  std::error_code gone_already;
  std::filesystem::remove(path_, gone_already);
  // The lock goes last, so that nobody takes up a job that is done.
  ::close(std::exchange(file_, -1));
}

}  // namespace ngf
