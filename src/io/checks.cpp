#include "io/checks.hpp"

#include <limits>

#include "base/fail.hpp"
#include "base/memory.hpp"

namespace ngf::io {

void check_node_count(std::uint64_t nodes, const Input& input, std::string_view place) {
  constexpr std::uint64_t always_fine = std::uint64_t{1} << 22;
  if (nodes > std::numeric_limits<NodeId>::max()) {
    fail("{}: {} nodes; at most {} are possible", place, nodes, std::numeric_limits<NodeId>::max());
  }
  if (nodes > std::max(always_fine, 64 * input.size())) {
    fail("{}: {} nodes in a file of {} bytes: the number is not credible", place, nodes,
         input.size());
  }
}

std::int64_t largest_label(std::uint64_t nodes) {
  constexpr std::uint64_t always_fine = 65535;
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int64_t>(std::clamp(nodes, always_fine + 1, most) - 1);
}

void check_matrix_budget(const Input& input, std::uint64_t rows, std::uint64_t cols,
                         const MatrixReadOptions& options, std::uint64_t more) {
  const auto copies = static_cast<std::uint64_t>(options.copies);
  check_budget(copies * rows * cols * sizeof(double) + more, options.memory,
               fmt::format("{}: work on {} x {} numbers", input.name(), rows, cols));
}

Advice read_anyway() { return {"the option {} reads it anyway", {{"lenient", true}}}; }

void report_contradiction(const Input& input, const ReadOptions& options, ReadResult& result,
                          const std::string& text, const Advice& remedy) {
  if (!options.lenient) throw Error(fmt::format("{}: {}", input.name(), text), remedy);
  result.warnings.push_back(text);
}

void check_promise(const Input& input, const ReadOptions& options, ReadResult& result,
                   std::uint64_t line, std::string_view what, std::uint64_t promised,
                   std::uint64_t found) {
  if (found == promised) return;
  report_contradiction(input, options, result,
                       fmt::format("line {}: promises {} {}, but {} follow{}", line, promised, what,
                                   found, found < promised ? " (is it cut off?)" : ""));
}

NodeId check_node_promise(const Input& input, const ReadOptions& options, ReadResult& result,
                          std::uint64_t line, std::uint64_t promised, std::uint64_t needed) {
  if (needed > promised) {
    report_contradiction(
        input, options, result,
        fmt::format("line {}: promises {} nodes, but there are {}", line, promised, needed));
    check_node_count(needed, input, fmt::format("{}: its largest node makes", input.name()));
  }
  return static_cast<NodeId>(std::max(promised, needed));
}

void check_last_newline(const Input& input, const ReadOptions& options, ReadResult& result) {
  if (input.size() == 0 || input.read_at(input.size() - 1, 1) == "\n") return;
  report_contradiction(input, options, result,
                       "the last line does not end in a newline (is it cut off?)");
}

}  // namespace ngf::io
