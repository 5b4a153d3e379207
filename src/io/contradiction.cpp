#include "io/contradiction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/limits.hpp"

namespace ngf::io {

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
