#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ngf::io {

/// Bytes of a file, fit for an error: in quotes, printable, at most 40 of them. An object rather
/// than a function, so that a call with a std::string does not find std::quoted.
inline constexpr auto quoted = [](std::string_view bytes) {
  std::string text = "'";
  for (const char byte : bytes.substr(0, 40)) text += byte >= ' ' && byte <= '~' ? byte : '?';
  text += bytes.size() > 40 ? "...'" : "'";
  return text;
};

/// The bytes of a file, at any offset, from any thread. A regular file is read in pieces, so that
/// a large one need not be in memory; what comes through a pipe is held.
class Input {
 public:
  /// Throws Error when `path` is missing, a folder or not readable, and MemoryExceeded when what
  /// comes through a pipe does not fit into the budget (0: what the machine has free).
  explicit Input(const std::filesystem::path& path, std::uint64_t memory = 0);
  /// Bytes that are already in memory and outlive this object; `name` stands for the path.
  Input(std::string name, std::span<const char> bytes);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  /// The path, as errors show it.
  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }

  /// Fills `into` from `offset`. Throws Error when the file ends before that.
  void read(std::uint64_t offset, std::span<char> into) const;
  /// `length` bytes from `offset`, fewer where the file ends.
  std::string read_at(std::uint64_t offset, std::uint64_t length) const;
  std::string read_all() const { return read_at(0, size_); }

  /// For those who read by themselves: the open file, or -1 and all bytes.
  int descriptor() const { return file_; }
  std::span<const char> in_memory() const { return in_memory_; }

 private:
  void hold_pipe(std::uint64_t memory);

  std::string name_;
  std::uint64_t size_ = 0;
  int file_ = -1;
  std::vector<char> held_;           // a pipe's content
  std::span<const char> in_memory_;  // held_, or the caller's bytes
};

}  // namespace ngf::io
