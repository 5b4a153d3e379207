#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ngf/communicator.hpp"
#include "ngf/tasks/journal.hpp"

namespace ngf {

/// Computes the piece of that key: JSON in one line.
using ComputePiece = std::function<std::string(const std::string& key)>;

/// Many pieces of work, each a function of its key and the job's settings alone. With a journal,
/// each is on the disk as soon as it is added, and a job that was cut off computes only the others.
class Job {
 public:
  explicit Job(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// A journal without a piece is removed.
  ~Job();

  /// Opens the journal, see Journal; with `resume` its pieces count as finished. `settings` is any
  /// text: the same for the same pieces.
  void keep_in(const std::filesystem::path& path, const std::string& settings, bool resume);
  /// All ranks get the finished pieces of the first.
  void share(Communicator& ranks);

  /// Null for a piece that is not finished.
  const std::string* find(const std::string& key) const;
  /// The keys of the pieces that are not finished, in their order.
  std::vector<std::string> missing() const;
  void add(const std::string& key, const std::string& piece);
  /// Computes and adds a piece, or, as the first of several ranks, one for each rank at most; the
  /// others call `help_with_pieces`.
  void compute(std::span<const std::string> keys, Communicator* ranks, const ComputePiece& compute);
  /// The job is done: its journal is removed.
  void finish();

  std::size_t size() const { return keys_.size(); }
  std::size_t finished() const { return pieces_.size(); }
  /// Null where none is kept.
  const Journal* journal() const { return journal_.get(); }
  /// What the journal says about damaged records; empty for none.
  std::string damage() const { return journal_ ? journal_->damage() : std::string(); }

 private:
  std::vector<std::string> keys_;
  std::unique_ptr<Journal> journal_;
  std::map<std::string, std::string> pieces_;
};

/// Computes the pieces that the first rank asks for, until `dismiss_helpers`.
void help_with_pieces(Communicator& ranks, const ComputePiece& compute);
void dismiss_helpers(Communicator& ranks);

}  // namespace ngf
