#include "common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/memory.hpp"
#include "io/atomic_file.hpp"
#include "io/text.hpp"
#include "ngf/error.hpp"
#include "ranks.hpp"
#include "standard_streams.hpp"

namespace ngf::cli {

namespace {

volatile std::sig_atomic_t signal_that_came = 0;
bool (*first_to_tell_of_signal)() = nullptr;  // where several processes work together

constexpr int signal_exit_base = 128;
constexpr unsigned patience_seconds = 3;

[[noreturn]] void leave_at_once() {
  io::remove_unfinished_files();
  ::_exit(signal_exit_base + signal_that_came);
}

// The first signal asks the work to stop, which keeps what is finished. A second one, or work that
// does not listen for a few seconds, ends the program here.
extern "C" void on_signal(int signal) {
  if (signal == SIGPIPE) {
    // Nobody reads our messages: the work goes on. Nobody reads the output: it ends.
    if (writes_stderr()) return;
    signal_that_came = signal;
    leave_at_once();
  }
  if (signal == SIGALRM || signal_that_came != 0) leave_at_once();
  signal_that_came = signal;
  if (first_to_tell_of_signal != nullptr) {
    constexpr std::string_view line =
        "ngf: interrupted: the job was stopped, or one of its processes has ended\n";
    if (first_to_tell_of_signal()) write_stderr(line);
    leave_at_once();
  }
  ::alarm(patience_seconds);
}

// CLI11 takes -1 and numbers past 2^64 for an unsigned number.
std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  throw CLI::ValidationError("--seed",
                             fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text));
}

/// Throws for anything that is no finite number.
double finite_number(const std::string& flag, const std::string& text) {
  double value = 0;
  if (io::parse_number(text.data(), text.data() + text.size(), value) && std::isfinite(value)) {
    return value;
  }
  throw CLI::ValidationError(flag, fmt::format("'{}' is not a finite number", one_line(text)));
}

std::string spell_flag(const Setting& setting) {
  const std::string flag = "--" + setting.field;
  if (const auto* const number = std::get_if<std::uint64_t>(&setting.value)) {
    return fmt::format("{} {}", flag, *number);
  }
  const auto* const word = std::get_if<std::string>(&setting.value);
  return word != nullptr ? flag + " " + *word : flag;
}

}  // namespace

void Common::add_to(CLI::App& verb) {
  threads = usual_threads();
  verb.add_flag("--json", json, "Print one JSON object and nothing else to stdout")
      ->group("Common");
  verb.add_flag("--quiet", quiet, "Print no progress and no warnings")->group("Common");
  verb.add_option("--threads", threads, "Number of threads [all]")
      ->check(CLI::Range(1, 4096))
      ->group("Common");
  verb.add_option_function<std::string>(
          "--memory",
          [this](const std::string& text) {
            memory = parse_bytes(text);
            detail::account_for_process();
          },
          "Memory limit of the process, such as 4G [the free memory]")
      ->group("Common");
  verb.add_option_function<std::string>(
          "--seed", [this](const std::string& text) { seed = parse_seed(text); },
          "Seed of the random numbers [1]")
      ->group("Common");
}

TerminalProgress::TerminalProgress(std::string what, bool quiet)
    : what_(std::move(what)), shown_(!quiet && on_terminal()) {}

TerminalProgress::~TerminalProgress() { clear(); }

void TerminalProgress::clear() {
  if (std::exchange(drawn_once_, false)) write_stderr("\r\x1b[K");
}

void TerminalProgress::report(std::uint64_t done, std::uint64_t total) {
  using namespace std::chrono_literals;
  if (!shown_ || total == 0) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  // Work that is over in a moment needs no bar.
  if (now - begun_ < 500ms || now - drawn_ < 100ms) return;
  drawn_ = now;
  drawn_once_ = true;
  constexpr int width = 30;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const double elapsed = std::chrono::duration<double>(now - begun_).count();
  const int filled = static_cast<int>(share * width);
  print_stderr("\r\x1b[K{} [{:#<{}}{:.<{}}] {:.0f} %{}{}{}", what_, "", filled, "", width - filled,
               share * 100,
               share > 0 ? fmt::format(", {} left", human_seconds(elapsed * (1 - share) / share))
                         : std::string(),
               note_.empty() ? "" : ", ", note_);
}

void TerminalProgress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

bool TerminalProgress::stop_requested() const { return signal_that_came != 0; }

void listen_for_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    ::sigaction(signal, &action, nullptr);
  }
  struct sigaction closed_pipe {};
  ::sigaction(SIGPIPE, nullptr, &closed_pipe);
  if (closed_pipe.sa_handler == SIG_DFL) {
    closed_pipe.sa_handler = on_signal;
    ::sigaction(SIGPIPE, &closed_pipe, nullptr);
  }
  // Writing past a limit on file sizes is then an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
}

void leave_at_first_signal(bool (*first_to_tell)()) { first_to_tell_of_signal = first_to_tell; }

int exit_code_of_signal() {
  return signal_that_came == 0 ? 0 : signal_exit_base + signal_that_came;
}

std::string human_seconds(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string message_of(const std::exception& error) {
  const auto* const own = dynamic_cast<const Error*>(&error);
  return own != nullptr ? own->text(spell_flag) : error.what();
}

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') c = '?';
  }
  return line;
}

void check_writable(const std::filesystem::path& path) {
  if (path.empty() || !speaks()) return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code absent;
  const auto status = std::filesystem::status(path, absent);
  if (std::filesystem::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder; name the file to write", path.string()));
  }
  // A pipe or a device is written to itself.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return;
  if (!std::filesystem::is_directory(folder, absent)) {
    throw Error(fmt::format("{}: cannot be written: no folder {} to write to", path.string(),
                            folder.string()));
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Error(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
}

void check_picture(const std::filesystem::path& path) {
  check_writable(path);
  const std::string ending = io::lower_case(path.extension().string());
  if (ending.empty() || ending == ".svg") return;
  throw Error(fmt::format("{}: pictures are written as .svg", path.string()));
}

void warn(const Common& common, std::string_view text) {
  if (!common.quiet && speaks()) print_stderr("ngf: warning: {}\n", one_line(text));
}

void note(const Common& common, std::string_view text) {
  if (!common.quiet && speaks()) print_stderr("ngf: {}\n", one_line(text));
}

void print_json(const Json& json) {
  // Names of files need not be UTF-8, which JSON must be.
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::uint64_t parse_bytes(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 9> units{{{"", 1.0},
                                                                      {"K", 1e3},
                                                                      {"M", 1e6},
                                                                      {"G", 1e9},
                                                                      {"T", 1e12},
                                                                      {"KI", 1024.0},
                                                                      {"MI", 1048576.0},
                                                                      {"GI", 1073741824.0},
                                                                      {"TI", 1099511627776.0}}};
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  std::string unit;
  for (const char letter : text.substr(used)) {
    unit += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  if (!unit.empty() && unit.back() == 'B') unit.pop_back();
  for (const auto& [name, factor] : units) {
    const double bytes = value * factor;
    if (used > 0 && unit == name && bytes >= 1 && bytes < 1e18) {
      return static_cast<std::uint64_t>(bytes);
    }
  }
  throw CLI::ValidationError("--memory", fmt::format("'{}' is no size, such as 500M or 4G", text));
}

CLI::Option* add_numbers(CLI::App& verb, const std::string& flag, std::vector<double>& values,
                         const std::string& text) {
  const auto parse = [flag, &values](const std::string& list) {
    values.clear();
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      values.push_back(finite_number(flag, list.substr(begin, end - begin)));
      begin = end + 1;
    }
  };
  return verb.add_option_function<std::string>(flag, parse, text)->type_name("NUMBER,...");
}

void refuse_infinite_numbers(CLI::App& program) {
  for (CLI::Option* const option : program.get_options()) {
    if (!option->get_type_name().starts_with(CLI::detail::type_name<double>())) continue;
    const auto check = [flag = option->get_name()](const std::string& text) {
      finite_number(flag, text);
      return std::string();
    };
    option->check(CLI::Validator(check, ""));
  }
  for (CLI::App* const verb : program.get_subcommands(nullptr)) refuse_infinite_numbers(*verb);
}

}  // namespace ngf::cli
