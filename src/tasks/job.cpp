#include "ngf/tasks/job.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ngf {

using nlohmann::json;

Job::~Job() {
  if (journal_ && journal_->size() == 0) journal_->remove();
}

void Job::keep_in(const std::filesystem::path& path, const std::string& settings, bool resume) {
  journal_ = std::make_unique<Journal>(path, settings, resume);
  for (const std::string& key : keys_) {
    if (const std::string* const piece = journal_->find(key)) pieces_[key] = *piece;
  }
}

void Job::share(Communicator& ranks) {
  const std::string shared = ranks.of_first(json(pieces_).dump());
  pieces_ = json::parse(shared).get<std::map<std::string, std::string>>();
}

const std::string* Job::find(const std::string& key) const {
  const auto found = pieces_.find(key);
  return found == pieces_.end() ? nullptr : &found->second;
}

std::vector<std::string> Job::missing() const {
  std::vector<std::string> keys;
  std::ranges::copy_if(keys_, std::back_inserter(keys),
                       [&](const std::string& key) { return !pieces_.contains(key); });
  return keys;
}

void Job::add(const std::string& key, const std::string& piece) {
  if (journal_) journal_->add(key, piece);
  pieces_[key] = piece;
}

void Job::compute(std::span<const std::string> keys, Communicator* ranks,
                  const ComputePiece& compute) {
  if (ranks == nullptr) {
    add(keys[0], compute(keys[0]));
    return;
  }
  ranks->of_first(json(std::vector(keys.begin(), keys.end())).dump());
  const std::vector<std::string> pieces = ranks->gather(compute(keys[0]));
  for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], pieces[i]);
}

void Job::finish() {
  if (journal_) journal_->remove();
  journal_.reset();
}

void help_with_pieces(Communicator& ranks, const ComputePiece& compute) {
  const auto own = static_cast<std::size_t>(ranks.rank());
  for (;;) {
    const std::string round = ranks.of_first(std::string());
    if (round.empty()) return;
    const auto keys = json::parse(round).get<std::vector<std::string>>();
    ranks.gather(own < keys.size() ? compute(keys[own]) : std::string());
  }
}

void dismiss_helpers(Communicator& ranks) { ranks.of_first(std::string()); }

}  // namespace ngf
