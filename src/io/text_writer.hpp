#pragma once

#include <array>
#include <charconv>
#include <string>

#include "io/atomic_file.hpp"
#include "ngf/graph.hpp"
#include "ngf/progress.hpp"

namespace ngf::io {

/// Collects text for a file and hands it over in large pieces.
class TextWriter {
 public:
  explicit TextWriter(AtomicFile& file, Progress* progress = nullptr)
      : file_(file), progress_(progress) {}

  void text(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= piece_bytes) finish();
  }
  void character(char c) { buffer_ += c; }
  /// The fewest digits that read back as the same number.
  template <typename Number>
  void number(Number value) {
    std::array<char, 32> digits;  // NOLINT(*-member-init): to_chars fills what is used of it
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  /// "u v", or "u v weight" for the weight of the arc at `index` in row u, each line by itself.
  void arc_line(const Graph& graph, NodeId u, std::size_t index, char separator, NodeId first_id) {
    number(std::uint64_t{u} + first_id);
    character(separator);
    number(std::uint64_t{graph.neighbors(u)[index]} + first_id);
    if (graph.weighted()) {
      character(separator);
      number(graph.weights_of(u)[index]);
    }
    character('\n');
  }
  /// Hands over what is left. Throws Interrupted when the work should end.
  void finish() {
    throw_if_stopped(progress_);
    file_.write(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  AtomicFile& file_;
  Progress* progress_;
  std::string buffer_;
};

}  // namespace ngf::io
