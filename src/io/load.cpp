#include "ngf/io/load.hpp"

#include "base/fail.hpp"
#include "io/checks.hpp"
#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"

namespace ngf::io {

namespace {

constexpr std::string_view planetoid_prefix = "planetoid:";

}  // namespace

ReadResult read_named_dataset(const std::string& name, const std::filesystem::path& folder,
                              const ReadOptions& options) {
  const auto wrong = find_wrong_file(name, folder, options.progress);
  if (wrong && !options.lenient) {
    Advice advice = read_anyway();
    advice.text =
        fmt::format("remove it and run: ngf data get {} (your own data are read by their path; {})",
                    name, advice.text);
    throw Error(
        fmt::format("{}: is not the file of {}: its SHA-256 differs", wrong->string(), name),
        std::move(advice));
  }
  ReadResult result = read_planetoid(folder, name.substr(planetoid_prefix.size()), options);
  if (wrong) {
    result.warnings.push_back(
        fmt::format("{}: is not the file of {}: its SHA-256 differs", wrong->string(), name));
  }
  return result;
}

ReadResult load(const std::string& name, const ReadOptions& options,
                std::span<const std::filesystem::path> folders, std::uint64_t seed) {
  if (auto made = generate_from_spec(
          name, seed,
          {.threads = options.threads, .memory = options.memory, .progress = options.progress})) {
    ReadResult result;
    result.dataset = std::move(*made);
    if (options.directed) result.dataset.graph = as_directed(std::move(result.dataset.graph));
    return result;
  }
  if (name.starts_with(planetoid_prefix)) {
    return read_named_dataset(name, find_dataset(name, folders), options);
  }
  return read_graph(name, options);
}

}  // namespace ngf::io
