#include "ngf/io/fetch.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>

#include "base/fail.hpp"
#include "io/atomic_file.hpp"
#include "io/input.hpp"
#include "io/sha256.hpp"

namespace ngf::io {

namespace {

std::string reason_of(int error) { return std::generic_category().message(error); }

/// What has come so far: the file `target`.part and the sum of its bytes.
class Part {
 public:
  Part(std::filesystem::path path, const Progress* progress) : path_(std::move(path)) {
    constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    file_ = open(path_.c_str(), flags, 0644);  // NOLINT(*-vararg)
    if (file_ < 0 && errno == ELOOP) refuse_link();
    if (file_ < 0) fail("{}: cannot be written: {}", path_.string(), reason_of(errno));
    try {
      check_kind();
      if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
        fail("{}: another program is downloading this file now", path_.string());
      }
      read_all(progress);
    } catch (...) {
      close(file_);
      throw;
    }
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  ~Part() {
    // A part of nothing helps nobody.
    if (length_ == 0) remove();
    close(file_);
  }

  std::uint64_t length() const { return length_; }
  std::string finish_sum() { return sum_.finish(); }

  void append(std::string_view bytes) {
    sum_.add(bytes);
    const int failure = write_all(file_, bytes);
    if (failure != 0) fail("{}: cannot be written: {}", path_.string(), reason_of(failure));
    length_ += bytes.size();
  }

  void empty() {
    if (ftruncate(file_, 0) != 0 || lseek(file_, 0, SEEK_SET) != 0) {
      fail("{}: cannot be emptied: {}", path_.string(), reason_of(errno));
    }
    sum_.restart();
    length_ = 0;
  }

  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void rename_to(const std::filesystem::path& target) const {
    std::error_code error;
    std::filesystem::rename(path_, target, error);
    if (error) fail("{}: cannot be renamed to: {}", target.string(), error.message());
  }

 private:
  [[noreturn]] void refuse_link() const {
    fail("{}: is a link or no regular file, which a download must not write to; remove it",
         path_.string());
  }

  /// A file with a second name is another's, too.
  void check_kind() const {
    struct stat status {};
    if (fstat(file_, &status) != 0) fail("{}: {}", path_.string(), reason_of(errno));
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1) refuse_link();
  }

  void read_all(const Progress* progress) {
    std::string buffer(1U << 16, '\0');
    for (;;) {
      throw_if_stopped(progress);
      const ssize_t count = read(file_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("{}: cannot be read: {}", path_.string(), reason_of(errno));
      if (count == 0) return;
      sum_.add({buffer.data(), static_cast<std::size_t>(count)});
      length_ += static_cast<std::uint64_t>(count);
    }
  }

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t length_ = 0;
  Sha256 sum_;
};

/// The state that libcurl's callbacks share. They are C functions' business, so exceptions are kept
/// in `failure` and thrown when libcurl has returned.
struct Transfer {
  const Download& download;
  Part& part;
  Progress* progress;
  CURL* handle;
  bool resuming;
  std::exception_ptr failure;
};

std::size_t on_bytes(char* bytes, std::size_t unit, std::size_t count, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  try {
    if (std::exchange(transfer.resuming, false)) {
      long status = 0;
      curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
      // A server that does not know ranges sends the whole file.
      if (status != 206) transfer.part.empty();
    }
    const std::string_view piece(bytes, unit * count);
    if (piece.size() > transfer.download.size - transfer.part.length()) {
      transfer.part.empty();
      fail("{}: the server sends more than the {} bytes that this file has; what came was removed",
           transfer.download.url, transfer.download.size);
    }
    transfer.part.append(piece);
    return piece.size();
  } catch (...) {
    transfer.failure = std::current_exception();
    return 0;
  }
}

int on_progress(void* data, curl_off_t /*expected*/, curl_off_t /*received*/,
                curl_off_t /*to_send*/, curl_off_t /*sent*/) {
  auto& transfer = *static_cast<Transfer*>(data);
  try {
    throw_if_stopped(transfer.progress);
    if (transfer.progress != nullptr) {
      transfer.progress->report(transfer.part.length(), transfer.download.size);
    }
    return 0;
  } catch (...) {
    transfer.failure = std::current_exception();
    return 1;
  }
}

bool is_https(std::string_view url) { return url.starts_with("https://"); }

bool is_this_machine(std::string_view url) {
  for (const std::string_view start : {"http://localhost", "http://127.0.0.1"}) {
    if (!url.starts_with(start)) continue;
    const std::string_view rest = url.substr(start.size());
    if (rest.empty() || rest.front() == ':' || rest.front() == '/') return true;
  }
  return false;
}

void check_address(const Download& download) {
  const std::string& url = download.url;
  if (std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    fail("{}: the address holds a blank or a character that no address may hold", quoted(url));
  }
  if (is_https(url) || is_this_machine(url)) return;
  if (!url.starts_with("http://")) fail("{}: the address must begin with https://", url);
  if (!download.allow_http) fail("{}: http is not safe; the address must be https://", url);
}

template <typename Value>
void set(CURL* handle, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(handle, option, value);  // NOLINT(*-vararg)
  if (code != CURLE_OK) fail("libcurl: {}", curl_easy_strerror(code));
}

std::string explain(CURLcode code, long status, const Transfer& transfer, const char* detail) {
  const auto so_far = [&] {
    return fmt::format("after {} of {} bytes; run it again to get the rest", transfer.part.length(),
                       transfer.download.size);
  };
  switch (code) {
    case CURLE_HTTP_RETURNED_ERROR:
      return status == 404 ? "the server has no such file (404)"
                           : fmt::format("the server answers with status {}", status);
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return fmt::format("the name cannot be resolved: is the network there? ({})", detail);
    case CURLE_COULDNT_CONNECT:
      return fmt::format("no connection ({})", detail);
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return fmt::format("no secure connection ({})", detail);
    case CURLE_TOO_MANY_REDIRECTS:
      return "the server redirects more than 5 times";
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "the server redirects to an address that is not https";
    case CURLE_OPERATION_TIMEDOUT:
      return fmt::format("the server is silent {}", so_far());
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
      return fmt::format("the connection was cut {}", so_far());
    default:
      return fmt::format("{} ({})", curl_easy_strerror(code), detail);
  }
}

/// One request, for what the part lacks.
void receive(const Download& download, Part& part, Progress* progress) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) fail("libcurl: {}", curl_easy_strerror(ready));
  const std::unique_ptr<CURL, void (*)(CURL*)> owner(curl_easy_init(), &curl_easy_cleanup);
  CURL* const handle = owner.get();
  if (handle == nullptr) fail("libcurl: no memory");
  const bool resuming = part.length() > 0;
  Transfer transfer{download, part, progress, handle, resuming, nullptr};
  std::array<char, CURL_ERROR_SIZE> detail{};
  const char* const protocols = is_https(download.url) ? "https" : "http,https";
  const std::string range = fmt::format("{}-", part.length());

  set(handle, CURLOPT_URL, download.url.c_str());
  set(handle, CURLOPT_USERAGENT, "ngf");
  set(handle, CURLOPT_PROTOCOLS_STR, protocols);
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, protocols);
  set(handle, CURLOPT_FOLLOWLOCATION, 1L);
  set(handle, CURLOPT_MAXREDIRS, 5L);
  set(handle, CURLOPT_FAILONERROR, 1L);
  set(handle, CURLOPT_CONNECTTIMEOUT, 20L);
  set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(handle, CURLOPT_LOW_SPEED_TIME, 30L);
  set(handle, CURLOPT_ERRORBUFFER, detail.data());
  set(handle, CURLOPT_WRITEFUNCTION, &on_bytes);
  set(handle, CURLOPT_WRITEDATA, &transfer);
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(handle, CURLOPT_XFERINFODATA, &transfer);
  if (is_this_machine(download.url)) set(handle, CURLOPT_PROXY, "");
  if (resuming) set(handle, CURLOPT_RANGE, range.c_str());

  const CURLcode code = curl_easy_perform(handle);
  if (transfer.failure) std::rethrow_exception(transfer.failure);
  if (code == CURLE_OK) return;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (resuming && status == 416) {
    part.empty();
    fail("{}: the server has less of this file than what came before; that was removed",
         download.url);
  }
  fail("{}: {}", download.url, explain(code, status, transfer, detail.data()));
}

}  // namespace

void fetch(const Download& download, const std::filesystem::path& target, Progress* progress) {
  check_address(download);
  std::error_code error;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), error);
  if (error) fail("{}: cannot be made: {}", target.parent_path().string(), error.message());
  Part part(target.string() + ".part", progress);
  if (part.length() > download.size) {
    part.empty();
    fail("{}.part: longer than the {} bytes of the file; it was removed: run it again",
         target.string(), download.size);
  }
  throw_if_stopped(progress);
  if (part.length() < download.size) receive(download, part, progress);
  if (part.length() < download.size) {
    fail("{}: the server ended after {} of {} bytes; run it again to get the rest", download.url,
         part.length(), download.size);
  }
  const std::string sum = part.finish_sum();
  if (sum != download.sha256) {
    part.empty();
    fail("{}: wrong content: its SHA-256 is {}, not {}; what came was removed", download.url, sum,
         download.sha256);
  }
  part.rename_to(target);
}

}  // namespace ngf::io
