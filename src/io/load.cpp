#include "ngf/io/load.hpp"

#include <string_view>
#include <utility>

#include "ngf/generate.hpp"
#include "ngf/io/catalog.hpp"

namespace ngf::io {

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
  constexpr std::string_view prefix = "planetoid:";
  if (name.starts_with(prefix)) {
    return read_planetoid(find_dataset(name, folders), name.substr(prefix.size()), options);
  }
  return read_graph(name, options);
}

}  // namespace ngf::io
