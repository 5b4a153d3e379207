#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ngf/io/read.hpp"
#include "ngf/progress.hpp"

namespace ngf::cli {

/// JSON whose keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

enum ExitCode { done = 0, failed = 1, wrong_usage = 2, interrupted = 130 };

/// Flags that every verb takes.
struct Common {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  std::uint64_t memory = 0;
  std::uint64_t seed = 1;

  /// `--json`, `--quiet`, `--threads`, `--memory`, `--seed`.
  void add_to(CLI::App& verb);
};

/// A bar on stderr with an estimate of the time left, on a terminal alone; and the ear for Ctrl-C.
class TerminalProgress : public Progress {
 public:
  TerminalProgress(std::string what, bool quiet);
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;
  ~TerminalProgress() override;

  void report(std::uint64_t done, std::uint64_t total) override;
  bool stop_requested() const override;
  /// What the bar says at its end from now on.
  void note(std::string text);
  /// Takes the bar off the terminal; the next report draws it again.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::string note_;
  bool shown_;
  std::mutex mutex_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point drawn_ = begun_;
  bool drawn_once_ = false;
};

/// Makes Ctrl-C and SIGTERM end the work cleanly: what is unfinished disappears, and the
/// program ends with code 130 (143 for SIGTERM). It ends silently, with code 141, when the reader
/// of its output has closed the pipe, unless the caller ignores SIGPIPE. A limit on file sizes is
/// an error of writing.
void listen_for_signals();
/// The same for one process of several: it leaves at once, since others may wait for it, and says
/// so where `first_to_tell` says that nobody has.
void leave_at_first_signal(bool (*first_to_tell)());
/// The exit code for the signal that came, 0 when none did.
int exit_code_of_signal();

/// "40 s", "12 min", "1.5 h".
std::string human_seconds(double seconds);

/// The text of an error, with settings as flags: "--memory 4000".
std::string message_of(const std::exception& error);

/// The text without control characters, which names of files may hold.
std::string one_line(std::string_view text);

/// Calls `body`. Errors that do not name this file or data set already, do so then.
template <typename Body>
void naming(const std::string& name, const Body& body) {
  try {
    body();
  } catch (const Interrupted&) {
    throw;
  } catch (Error& error) {
    error.add_place(name);
    throw;
  }
}

/// Throws Error where no file of this name can be written, so that a long job fails at its
/// beginning and not at its end. The empty name is no file.
void check_writable(const std::filesystem::path& path);
/// The same for a picture, which has to be one that is written.
void check_picture(const std::filesystem::path& path);

/// One line on stderr, unless --quiet.
void warn(const Common& common, std::string_view text);

/// The same for what is no warning.
void note(const Common& common, std::string_view text);

/// Prints the object as the program's whole output.
void print_json(const Json& json);

/// "1.5G" -> 1500000000: plain bytes or with a unit k, M, G, T (powers of 1000; Ki, Mi, ... of
/// 1024).
std::uint64_t parse_bytes(const std::string& text);

/// Adds a flag that takes a list of finite numbers, such as 1,.5,.25.
CLI::Option* add_numbers(CLI::App& verb, const std::string& flag, std::vector<double>& values,
                         const std::string& text);
/// Makes all flags of the program that take one number refuse those that are not finite.
void refuse_infinite_numbers(CLI::App& program);

}  // namespace ngf::cli
