#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace ngf {

/// Journal of the finished cells of a long job, which survives Ctrl-C, kill -9 and a power failure:
/// a text file with one line of JSON per cell, synced to disk before `add` returns. Each line has a
/// checksum. On resuming, a truncated last line and damaged lines are dropped; `damage` reports
/// them.
class Journal {
 public:
  /// Begins a journal, or with `resume` goes on with one whose `settings`, any text, are the same;
  /// without one it begins. Throws Error for a journal of other settings or of another format, for
  /// one whose first line is damaged or that another process is writing, and for a file that is no
  /// journal.
  Journal(std::filesystem::path path, const std::string& settings, bool resume);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  /// Leaves the file where it is.
  ~Journal();

  /// The piece's JSON text as it was added; null where it is not finished.
  const std::string* find(const std::string& key) const;
  /// Keeps a finished piece: JSON text in one line. Throws Error when the disk is full.
  void add(const std::string& key, const std::string& json);
  /// The job is done: removes the file.
  void remove();

  std::size_t size() const { return pieces_.size(); }
  /// A line that names the file and says how many of its pieces were damaged; empty for none.
  std::string damage() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  void open_and_lock();
  void load(const std::string& content, const std::string& settings);
  void check_header(std::string_view header, const std::string& settings) const;
  /// False for a damaged line.
  bool load_record(std::string_view line);
  /// Writes at the end of the lines that are loaded.
  void write(const std::string& text);
  void append(const std::string& line);

  std::filesystem::path path_;
  int file_ = -1;
  std::uint64_t bytes_ = 0;  // of whole lines
  std::map<std::string, std::string> pieces_;
  std::size_t damaged_ = 0;
};

}  // namespace ngf
