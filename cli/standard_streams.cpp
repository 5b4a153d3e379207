#include "standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "ngf/error.hpp"

namespace ngf::cli {

namespace {

thread_local volatile std::sig_atomic_t inside_write_stderr = 0;

}  // namespace

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // Input is opened for writing and output for reading, so that using them fails as before.
    // open() returns the lowest free number, which is this one.
    if (::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY) != stream) {
      throw Error("/dev/null cannot be opened in place of a closed standard stream");
    }
  }
}

void write_stderr(std::string_view text) noexcept {
  inside_write_stderr = 1;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  inside_write_stderr = 0;
}

bool writes_stderr() noexcept { return inside_write_stderr != 0; }

}  // namespace ngf::cli
