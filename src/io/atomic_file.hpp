#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ngf::io {

/// The target that stands for standard output of the process, also where that is a file.
inline constexpr const char* standard_output = "/dev/stdout";

/// A file that appears whole or not at all: it is written beside its target under a passing name
/// and renamed by `commit`. Without a commit (an exception, Ctrl-C) nothing of it remains. What is
/// no file (a pipe, a device) stays what it is and is written to directly.
class AtomicFile {
 public:
  /// Throws Error when the folder of `target` cannot be written to, or `target` is a folder.
  explicit AtomicFile(std::filesystem::path target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Appends. Throws Error when the disk is full.
  void write(std::string_view bytes);
  /// Makes the file appear under its own name.
  void commit();

  const std::filesystem::path& target() const { return target_; }
  /// The name until then; empty where the target is no file.
  const std::filesystem::path& passing_path() const { return passing_path_; }
  /// For those who write at any offset themselves.
  int descriptor() const { return file_; }

 private:
  std::filesystem::path target_;
  std::filesystem::path passing_path_;
  int file_ = -1;
};

/// Writes all of the bytes to a file: at the offset, or behind what was written before. Returns 0,
/// or the error number of the write that failed.
int write_all(int file, std::string_view bytes, std::optional<std::uint64_t> offset = {});

/// Removes what unfinished AtomicFiles of this process have on the disk. It does only what a signal
/// handler may do.
void remove_unfinished_files() noexcept;

}  // namespace ngf::io
